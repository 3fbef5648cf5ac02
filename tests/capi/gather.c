/* Gathers: the layout of the structures, results after an argsort, and refusals. */

#include "expect.h"

enum { COUNT = 5000 };

FIRST_VERSION(SubsweepGatherPlanCreateInfo, words_per_element, 8, 12);
FIRST_VERSION(SubsweepGatherInfo, scratch, 72, 112);

/* Gathers by the indices of a descending argsort of floats. */
static void argsort_and_gather(const Host *host, const SubsweepDevice *device) {
    const SubsweepSortPlanCreateInfo of_sort = {.struct_size = sizeof of_sort,
                                                .flags = SUBSWEEP_SORT_DESCENDING_BIT,
                                                .key_type = SUBSWEEP_ELEMENT_TYPE_F32,
                                                .values = SUBSWEEP_SORT_VALUES_ARGSORT,
                                                .algorithm = "radix-8bit"};
    const SubsweepGatherPlanCreateInfo of_gather = {.struct_size = sizeof of_gather, .words_per_element = 2};
    SubsweepSortInfo sort_info = {.struct_size = sizeof sort_info, .count = {.count = COUNT}};
    SubsweepGatherInfo gather_info = {.struct_size = sizeof gather_info, .count = {.count = COUNT}};
    SubsweepPlan *sort = NULL;
    SubsweepPlan *gather = NULL;
    SubsweepAccess sorted, gathers;
    Arrays arrays = {.host = host};
    Memory *keys = array(&arrays, 4 * COUNT);
    Memory *indices = array(&arrays, 4 * COUNT);
    Memory *rows = array(&arrays, 8 * COUNT);
    Memory *gathered = array(&arrays, 8 * COUNT);
    VkCommandBuffer commands;
    float last = 0.0f;
    uint32_t i;
    host_check(subsweep_sort_plan_create(device, &of_sort, &sort), "subsweep_sort_plan_create");
    host_check(subsweep_gather_plan_create(device, &of_gather, &gather), "subsweep_gather_plan_create");
    EXPECT(strstr(subsweep_plan_policy(sort), "radix-8bit") != NULL);
    EXPECT(strlen(subsweep_plan_policy(gather)) > 0);
    for (i = 0; i < COUNT; i++) {
        const float key = (float)(number(i) % 2000) / 8.0f - 100.0f;
        memcpy(&keys->words[i], &key, sizeof key);
        memcpy(&rows->words[2 * i], &key, sizeof key);
        rows->words[2 * i + 1] = i;
    }
    sort_info.keys = all(keys);
    sort_info.values = all(indices);
    sort_info.scratch = scratch_of(&arrays, sort, COUNT, 0);
    gather_info.source = all(rows);
    gather_info.indices = sort_info.values;
    gather_info.destination = all(gathered);
    commands = host_begin(host);
    host_check(subsweep_cmd_sort(sort, commands, &sort_info), "subsweep_cmd_sort");
    sorted = subsweep_plan_last_access(sort);
    gathers = subsweep_plan_first_access(gather);
    EXPECT(sorted.stages == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT && sorted.access == VK_ACCESS_SHADER_WRITE_BIT);
    EXPECT((gathers.access & VK_ACCESS_SHADER_READ_BIT) != 0);
    host_barrier(commands, sorted.stages, sorted.access, gathers.stages, gathers.access);
    host_check(subsweep_cmd_gather(gather, commands, &gather_info), "subsweep_cmd_gather");
    run(host, commands);
    for (i = 0; i < COUNT; i++) {
        float key;
        memcpy(&key, &gathered->words[2 * i], sizeof key);
        if (gathered->words[2 * i + 1] != indices->words[i] || (i > 0 && key > last) ||
            (i > 0 && key == last && indices->words[i] < indices->words[i - 1])) {
            break;
        }
        last = key;
    }
    EXPECT(i == COUNT);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(gather);
    subsweep_plan_destroy(sort);
}

static void refuse_gathers(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepGatherPlanCreateInfo of_plan = {.struct_size = sizeof of_plan};
    SubsweepGatherInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepScratchRequirements needs = {.size = 1};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_gather_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "words per element");
    of_plan.flags = 2;
    REFUSE(subsweep_gather_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepGatherFlags");
    of_plan.flags = 0;
    of_plan.words_per_element = 1;
    host_check(subsweep_gather_plan_create(device, &of_plan, &plan), "subsweep_gather_plan_create");
    EXPECT(subsweep_plan_scratch_requirements(plan, 0, 0, &needs) == VK_SUCCESS && needs.size == 0);
    info.source = info.indices = part(memory, 0, 40);
    info.destination = part(memory, 20, 40);
    REFUSE(subsweep_cmd_gather(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "destination");
    info.destination.address = 0;
    REFUSE(subsweep_cmd_gather(plan, commands, &info), SUBSWEEP_ERROR_NULL, "destination has 40 bytes");
    info.destination = part(memory, 40, 40);
    info.indices.size = 36;
    REFUSE(subsweep_cmd_gather(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "indices");
    EXPECT(subsweep_plan_max_count(plan) == UINT64_MAX);
    subsweep_plan_destroy(plan);
}

int main(void) {
    return test(COUNT, argsort_and_gather, refuse_gathers);
}
