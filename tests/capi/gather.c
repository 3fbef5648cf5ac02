/* Gathers: the layout of the structures, results behind an argsort, and refusals. */

#include <stddef.h>

#include "expect.h"

enum { COUNT = 5000 };

/* Fields of the first version of the header keep their places. */
#if UINTPTR_MAX == UINT64_MAX
typedef char CreateInfoOffset[offsetof(SubsweepGatherPlanCreateInfo, words_per_element) == 8 ? 1 : -1];
typedef char CreateInfoSize[sizeof(SubsweepGatherPlanCreateInfo) >= 12 ? 1 : -1];
typedef char InfoOffset[offsetof(SubsweepGatherInfo, scratch) == 72 ? 1 : -1];
typedef char InfoSize[sizeof(SubsweepGatherInfo) >= 112 ? 1 : -1];
#endif

/* Gathers by the indices of a descending argsort of floats. */
static void argsort_and_gather(const Host *host, const SubsweepDevice *device) {
    const SubsweepSortPlanCreateInfo of_sort = {.struct_size = sizeof of_sort,
                                                .flags = SUBSWEEP_SORT_DESCENDING_BIT,
                                                .key_type = SUBSWEEP_ELEMENT_TYPE_F32,
                                                .values = SUBSWEEP_SORT_VALUES_ARGSORT,
                                                .algorithm = "radix-8bit"};
    const SubsweepGatherPlanCreateInfo of_gather = {.struct_size = sizeof of_gather, .words_per_element = 2};
    SubsweepScratchRequirements needs;
    SubsweepSortInfo sort_info = {.struct_size = sizeof sort_info, .count = {.count = COUNT}};
    SubsweepGatherInfo gather_info = {.struct_size = sizeof gather_info, .count = {.count = COUNT}};
    SubsweepPlan *sort = NULL;
    SubsweepPlan *gather = NULL;
    SubsweepAccess sorted, gathers;
    Memory keys, indices, rows, gathered, scratch;
    VkCommandBuffer commands;
    float last = 0.0f;
    uint32_t i;
    host_check(subsweep_sort_plan_create(device, &of_sort, &sort), "subsweep_sort_plan_create");
    host_check(subsweep_gather_plan_create(device, &of_gather, &gather), "subsweep_gather_plan_create");
    EXPECT(strstr(subsweep_plan_policy(sort), "radix-8bit") != NULL);
    EXPECT(strlen(subsweep_plan_policy(gather)) > 0);
    host_check(subsweep_plan_scratch_requirements(sort, COUNT, 0, &needs), "subsweep_plan_scratch_requirements");
    guarded_create(&keys, host, 4 * COUNT, 0);
    guarded_create(&indices, host, 4 * COUNT, 0);
    guarded_create(&rows, host, 8 * COUNT, 0);
    guarded_create(&gathered, host, 8 * COUNT, 0);
    guarded_create(&scratch, host, needs.size, needs.usage);
    for (i = 0; i < COUNT; i++) {
        const float key = (float)(number(i) % 2000) / 8.0f - 100.0f;
        memcpy(&keys.words[i], &key, sizeof key);
        memcpy(&rows.words[2 * i], &key, sizeof key);
        rows.words[2 * i + 1] = i;
    }
    sort_info.keys = part(&keys, 0, 4 * COUNT);
    sort_info.values = part(&indices, 0, 4 * COUNT);
    sort_info.scratch = guarded_scratch(&scratch, 0, needs.size);
    gather_info.source = part(&rows, 0, 8 * COUNT);
    gather_info.indices = sort_info.values;
    gather_info.destination = part(&gathered, 0, 8 * COUNT);
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
        memcpy(&key, &gathered.words[2 * i], sizeof key);
        if (gathered.words[2 * i + 1] != indices.words[i] || (i > 0 && key > last) ||
            (i > 0 && key == last && indices.words[i] < indices.words[i - 1])) {
            break;
        }
        last = key;
    }
    EXPECT(i == COUNT);
    guarded_destroy(&scratch, host, __LINE__);
    guarded_destroy(&gathered, host, __LINE__);
    guarded_destroy(&rows, host, __LINE__);
    guarded_destroy(&indices, host, __LINE__);
    guarded_destroy(&keys, host, __LINE__);
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
