/* Merges: the layout of the structures, indirect counts, values, and refusals. */

#include "expect.h"

enum { COUNT = 5000, VALUE_WORDS = 3 };

FIRST_VERSION(SubsweepMergePlanCreateInfo, words_per_value, 12, 16);
FIRST_VERSION(SubsweepMergeInfo, scratch, 136, 176);

/* Merges pairs of `a_count` and `b_count` keys, both counts on the device. */
static void merge(const Host *host, const SubsweepDevice *device, uint32_t a_count, uint32_t b_count,
                  int is_descending) {
    const SubsweepMergePlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_MERGE_INDIRECT_COUNT_BIT | (is_descending ? SUBSWEEP_MERGE_DESCENDING_BIT : 0),
        .element_type = SUBSWEEP_ELEMENT_TYPE_U32,
        .words_per_value = VALUE_WORDS};
    SubsweepMergeInfo info = {.struct_size = sizeof info, .a_count = {.count = COUNT}, .b_count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *counts = array(&arrays, 8);
    Memory *keys = array(&arrays, 2 * 4 * COUNT);
    Memory *values = array(&arrays, 2 * 4 * VALUE_WORDS * COUNT);
    Memory *destination = array(&arrays, 2 * 4 * COUNT);
    Memory *destination_values = array(&arrays, 2 * 4 * VALUE_WORDS * COUNT);
    uint32_t i, a = 0, b = 0;
    host_check(subsweep_merge_plan_create(device, &of_plan, &plan), "subsweep_merge_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "merge") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT32_MAX);
    counts->words[0] = a_count;
    counts->words[1] = b_count;
    for (i = 0; i < COUNT; i++) {
        keys->words[i] = is_descending ? ~(i / 3 * 5) : i / 3 * 5;
        keys->words[COUNT + i] = is_descending ? ~(i / 2 * 4) : i / 2 * 4;
    }
    for (i = 0; i < 2 * COUNT * VALUE_WORDS; i++) {
        values->words[i] = number(i);
    }
    info.a_count.address = counts->address;
    info.b_count.address = counts->address + 4;
    info.a = part(keys, 0, 4 * COUNT);
    info.b = part(keys, 4 * COUNT, 4 * COUNT);
    info.destination = all(destination);
    info.a_values = part(values, 0, 4 * VALUE_WORDS * COUNT);
    info.b_values = part(values, 4 * VALUE_WORDS * COUNT, 4 * VALUE_WORDS * COUNT);
    info.destination_values = all(destination_values);
    info.scratch = scratch_of(&arrays, plan, 2 * COUNT, 0);
    EXPECT(info.scratch.size == 32);
    RUN(host, subsweep_cmd_merge, plan, &info);
    for (i = 0; i < a_count + b_count; i++) {
        const uint32_t of_a = keys->words[a], of_b = keys->words[COUNT + b];
        const int is_before = is_descending ? of_a >= of_b : of_a <= of_b;
        const uint32_t from = b == b_count || (a < a_count && is_before) ? a++ : COUNT + b++;
        if (destination->words[i] != keys->words[from] ||
            memcmp(&destination_values->words[VALUE_WORDS * i], &values->words[VALUE_WORDS * from], 4 * VALUE_WORDS) != 0) {
            break;
        }
    }
    EXPECT(i == a_count + b_count);
    EXPECT(i == 2 * COUNT || destination->words[i] == UNWRITTEN);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void refuse_merges(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepMergePlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .flags = 2 * SUBSWEEP_MERGE_LARGE_COUNTS_BIT};
    SubsweepMergeInfo info = {.struct_size = sizeof info, .a_count = {.count = 10}, .b_count = {.count = 5}};
    SubsweepScratchRequirements needs = {.size = 1};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_merge_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepMergeFlags");
    of_plan.flags = 0;
    of_plan.words_per_value = 4097;
    REFUSE(subsweep_merge_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "words per value");
    of_plan.words_per_value = 0;
    of_plan.element_type = 12;
    REFUSE(subsweep_merge_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    of_plan.element_type = SUBSWEEP_ELEMENT_TYPE_U32;
    host_check(subsweep_merge_plan_create(device, &of_plan, &plan), "subsweep_merge_plan_create");
    EXPECT(subsweep_plan_scratch_requirements(plan, 5, 0, &needs) == VK_SUCCESS && needs.size == 0);
    info.a = part(memory, 0, 40);
    info.b = part(memory, 40, 20);
    info.destination = part(memory, 56, 60);
    REFUSE(subsweep_cmd_merge(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "destination");
    info.destination.address = 0;
    REFUSE(subsweep_cmd_merge(plan, commands, &info), SUBSWEEP_ERROR_NULL, "destination has 60 bytes");
    info.destination = part(memory, 64, 60);
    info.b.size = 16;
    REFUSE(subsweep_cmd_merge(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "b");
    info.b.size = 20;
    info.b_count.address = memory->address + 128;
    REFUSE(subsweep_cmd_merge(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "indirect_count");
    info.b_count.address = 0;
    info.flags = 1;
    REFUSE(subsweep_cmd_merge(plan, commands, &info), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepMergeInfo.flags");
    info.flags = 0;
    info.a_count.count = UINT32_MAX;
    REFUSE(subsweep_cmd_merge(plan, commands, &info), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "4294967295");
    subsweep_plan_destroy(plan);
}

static void merge_all(const Host *host, const SubsweepDevice *device) {
    merge(host, device, COUNT, COUNT, 0);
    merge(host, device, 1234, 777, 1);
    merge(host, device, 0, COUNT, 0);
    merge(host, device, 0, 0, 1);
}

int main(void) {
    return test(COUNT, merge_all, refuse_merges);
}
