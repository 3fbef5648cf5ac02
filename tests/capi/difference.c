/* Adjacent differences: the layout of the structures, an indirect count, both axes, and refusals. */

#include "expect.h"

enum { COUNT = 5000, COLUMNS = 3 };

FIRST_VERSION(SubsweepDifferencePlanCreateInfo, column_count, 12, 16);
FIRST_VERSION(SubsweepDifferenceInfo, scratch, 56, 96);

/* The difference of `stored` rows, a count on the device, with options of the plan. */
static void subtract(const Host *host, const SubsweepDevice *device, uint32_t stored, SubsweepDifferenceFlags flags) {
    const SubsweepDifferencePlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_DIFFERENCE_INDIRECT_COUNT_BIT | flags,
        .element_type = SUBSWEEP_ELEMENT_TYPE_U32,
        .column_count = COLUMNS};
    const int is_along_rows = (flags & SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT) != 0;
    const int keeps_first = (flags & SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT) != 0;
    SubsweepDifferenceInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *count = array(&arrays, 4);
    Memory *rows = array(&arrays, 4 * COLUMNS * COUNT);
    Memory *destination = array(&arrays, 4 * COLUMNS * COUNT);
    uint32_t i, result = 0;
    int is_right = 1;
    host_check(subsweep_difference_plan_create(device, &of_plan, &plan), "subsweep_difference_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "difference") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT64_MAX);
    count->words[0] = stored;
    for (i = 0; i < COLUMNS * COUNT; i++) {
        rows->words[i] = number(i);
    }
    info.count.address = count->address;
    info.source = all(rows);
    info.destination = all(destination);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    EXPECT(info.scratch.size == 32);
    RUN(host, subsweep_cmd_difference, plan, &info);
    for (i = 0; i < COLUMNS * stored; i++) {
        const uint32_t stride = is_along_rows ? 1 : COLUMNS;
        const int is_first = is_along_rows ? i % COLUMNS == 0 : i < COLUMNS;
        if (!is_first) {
            is_right &= destination->words[result++] == rows->words[i] - rows->words[i - stride];
        } else if (keeps_first) {
            is_right &= destination->words[result++] == rows->words[i];
        }
    }
    for (; result < COLUMNS * COUNT; result++) {
        is_right &= destination->words[result] == UNWRITTEN;
    }
    EXPECT(is_right);
    arrays_destroy(&arrays, __LINE__);
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
    of_plan.element_type = 12;
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
