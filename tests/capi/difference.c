/* Adjacent differences: the layout of the structures, an indirect count, both axes, and refusals. */

#include <stddef.h>

#include "expect.h"

enum { COUNT = 5000, COLUMNS = 3 };

/* Fields of the first version of the header keep their places. */
#if UINTPTR_MAX == UINT64_MAX
typedef char CreateInfoOffset[offsetof(SubsweepDifferencePlanCreateInfo, column_count) == 12 ? 1 : -1];
typedef char CreateInfoSize[sizeof(SubsweepDifferencePlanCreateInfo) >= 16 ? 1 : -1];
typedef char InfoOffset[offsetof(SubsweepDifferenceInfo, scratch) == 56 ? 1 : -1];
typedef char InfoSize[sizeof(SubsweepDifferenceInfo) >= 96 ? 1 : -1];
#endif

/* The difference of `stored` rows, a count on the device, with options of the plan. */
static void subtract(const Host *host, const SubsweepDevice *device, uint32_t stored, SubsweepDifferenceFlags flags) {
    const SubsweepDifferencePlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_DIFFERENCE_INDIRECT_COUNT_BIT | flags,
        .element_type = SUBSWEEP_ELEMENT_TYPE_U32,
        .column_count = COLUMNS};
    const int is_along_rows = (flags & SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT) != 0;
    const int keeps_first = (flags & SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT) != 0;
    SubsweepScratchRequirements needs;
    SubsweepDifferenceInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Memory count, rows, destination, scratch;
    VkCommandBuffer commands;
    uint32_t i, result = 0;
    int is_right = 1;
    host_check(subsweep_difference_plan_create(device, &of_plan, &plan), "subsweep_difference_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "difference") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT64_MAX);
    host_check(subsweep_plan_scratch_requirements(plan, COUNT, 0, &needs), "subsweep_plan_scratch_requirements");
    EXPECT(needs.size == 32);
    guarded_create(&count, host, 4, 0);
    guarded_create(&rows, host, 4 * COLUMNS * COUNT, 0);
    guarded_create(&destination, host, 4 * COLUMNS * COUNT, 0);
    guarded_create(&scratch, host, needs.size, needs.usage);
    count.words[0] = stored;
    for (i = 0; i < COLUMNS * COUNT; i++) {
        rows.words[i] = number(i);
    }
    memset(destination.words, 0xff, 4 * COLUMNS * COUNT);
    info.count.address = count.address;
    info.source = part(&rows, 0, 4 * COLUMNS * COUNT);
    info.destination = part(&destination, 0, 4 * COLUMNS * COUNT);
    info.scratch = guarded_scratch(&scratch, 0, needs.size);
    commands = host_begin(host);
    host_check(subsweep_cmd_difference(plan, commands, &info), "subsweep_cmd_difference");
    run(host, commands);
    for (i = 0; i < COLUMNS * stored; i++) {
        const uint32_t stride = is_along_rows ? 1 : COLUMNS;
        const int is_first = is_along_rows ? i % COLUMNS == 0 : i < COLUMNS;
        if (!is_first) {
            is_right &= destination.words[result++] == rows.words[i] - rows.words[i - stride];
        } else if (keeps_first) {
            is_right &= destination.words[result++] == rows.words[i];
        }
    }
    for (; result < COLUMNS * COUNT; result++) {
        is_right &= destination.words[result] == UINT32_MAX;
    }
    EXPECT(is_right);
    guarded_destroy(&scratch, host, __LINE__);
    guarded_destroy(&destination, host, __LINE__);
    guarded_destroy(&rows, host, __LINE__);
    guarded_destroy(&count, host, __LINE__);
    subsweep_plan_destroy(plan);
}

static void refuse_differences(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepDifferencePlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .flags = 8, .column_count = 1};
    SubsweepDifferenceInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepScratchRequirements needs = {.size = 1};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_difference_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE,
           "SubsweepDifferenceFlags");
    of_plan.flags = 0;
    of_plan.element_type = 6;
    REFUSE(subsweep_difference_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    of_plan.element_type = SUBSWEEP_ELEMENT_TYPE_U32;
    of_plan.column_count = 65537;
    REFUSE(subsweep_difference_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED,
           "columns of a difference");
    of_plan.column_count = 1;
    host_check(subsweep_difference_plan_create(device, &of_plan, &plan), "subsweep_difference_plan_create");
    EXPECT(subsweep_plan_scratch_requirements(plan, 5, 0, &needs) == VK_SUCCESS && needs.size == 0);
    info.source = part(memory, 0, 40);
    info.destination = part(memory, 36, 36);
    REFUSE(subsweep_cmd_difference(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "destination");
    info.destination.address = 0;
    REFUSE(subsweep_cmd_difference(plan, commands, &info), SUBSWEEP_ERROR_NULL, "destination has 36 bytes");
    info.destination = part(memory, 64, 32);
    REFUSE(subsweep_cmd_difference(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "destination");
    info.destination.size = 36;
    info.count.address = memory->address + 128;
    REFUSE(subsweep_cmd_difference(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "indirect_count");
    info.count.address = 0;
    info.flags = 1;
    REFUSE(subsweep_cmd_difference(plan, commands, &info), SUBSWEEP_ERROR_UNKNOWN_VALUE,
           "SubsweepDifferenceInfo.flags");
    subsweep_plan_destroy(plan);
}

static void subtract_all(const Host *host, const SubsweepDevice *device) {
    subtract(host, device, COUNT, 0);
    subtract(host, device, 1234, SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT);
    subtract(host, device, 777, SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT);
    subtract(host, device, 1, 0);
    subtract(host, device, 0, SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT);
}

int main(void) {
    return test(COUNT, subtract_all, refuse_differences);
}
