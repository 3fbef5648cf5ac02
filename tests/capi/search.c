/* Searches: the layout of the structures, indirect counts, both sides, and refusals. */

#include "expect.h"

enum { COUNT = 5000 };

FIRST_VERSION(SubsweepSearchPlanCreateInfo, element_type, 8, 12);
FIRST_VERSION(SubsweepSearchInfo, scratch, 88, 128);

/* Searches for `needle_count` needles in `sorted_count` keys, both counts on the device. */
static void search(const Host *host, const SubsweepDevice *device, uint32_t sorted_count, uint32_t needle_count,
                   int is_upper) {
    const SubsweepSearchPlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT | (is_upper ? SUBSWEEP_SEARCH_UPPER_BOUND_BIT : 0),
        .element_type = SUBSWEEP_ELEMENT_TYPE_I32};
    SubsweepSearchInfo info = {
        .struct_size = sizeof info, .sorted_count = {.count = COUNT}, .needle_count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *counts = array(&arrays, 8);
    Memory *sorted = array(&arrays, 4 * COUNT);
    Memory *needles = array(&arrays, 4 * COUNT);
    Memory *positions = array(&arrays, 4 * COUNT);
    uint32_t i;
    host_check(subsweep_search_plan_create(device, &of_plan, &plan), "subsweep_search_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "search") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT64_MAX);
    counts->words[0] = sorted_count;
    counts->words[1] = needle_count;
    for (i = 0; i < COUNT; i++) {
        /* Each third number from -1000 on, twice. */
        sorted->words[i] = (uint32_t)((int32_t)(i / 2) * 3 - 1000);
        needles->words[i] = number(i) % 9000 - 1500;
    }
    info.sorted_count.address = counts->address;
    info.needle_count.address = counts->address + 4;
    info.sorted = all(sorted);
    info.needles = all(needles);
    info.positions = all(positions);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    EXPECT(info.scratch.size == 32);
    RUN(host, subsweep_cmd_search, plan, &info);
    for (i = 0; i < COUNT; i++) {
        const int32_t needle = (int32_t)needles->words[i];
        uint32_t position = 0;
        while (position < sorted_count &&
               ((int32_t)sorted->words[position] < needle || (is_upper && (int32_t)sorted->words[position] == needle))) {
            position++;
        }
        if (positions->words[i] != (i < needle_count ? position : UNWRITTEN)) {
            break;
        }
    }
    EXPECT(i == COUNT);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void refuse_searches(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepSearchPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .flags = 2 * SUBSWEEP_SEARCH_LARGE_COUNTS_BIT};
    SubsweepSearchInfo info = {
        .struct_size = sizeof info, .sorted_count = {.count = 10}, .needle_count = {.count = 5}};
    SubsweepScratchRequirements needs = {.size = 1};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_search_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepSearchFlags");
    of_plan.flags = 0;
    of_plan.element_type = 12;
    REFUSE(subsweep_search_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    of_plan.element_type = SUBSWEEP_ELEMENT_TYPE_U32;
    of_plan.needle_length = 3;
    REFUSE(subsweep_search_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "sorted keys of a row");
    of_plan.needle_length = 0;
    host_check(subsweep_search_plan_create(device, &of_plan, &plan), "subsweep_search_plan_create");
    EXPECT(subsweep_plan_scratch_requirements(plan, 5, 0, &needs) == VK_SUCCESS && needs.size == 0);
    info.sorted = part(memory, 0, 40);
    info.needles = part(memory, 40, 20);
    info.positions = part(memory, 56, 20);
    REFUSE(subsweep_cmd_search(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "positions");
    info.positions.address = 0;
    REFUSE(subsweep_cmd_search(plan, commands, &info), SUBSWEEP_ERROR_NULL, "positions has 20 bytes");
    info.positions = part(memory, 64, 20);
    info.sorted.size = 36;
    REFUSE(subsweep_cmd_search(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "sorted");
    info.sorted.size = 40;
    info.needle_count.address = memory->address + 128;
    REFUSE(subsweep_cmd_search(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "indirect_count");
    info.needle_count.address = 0;
    info.flags = 1;
    REFUSE(subsweep_cmd_search(plan, commands, &info), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepSearchInfo.flags");
    info.flags = 0;
    info.sorted_count.count = (uint64_t)1 << 32;
    REFUSE(subsweep_cmd_search(plan, commands, &info), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "4294967295");
    subsweep_plan_destroy(plan);
}

static void search_all(const Host *host, const SubsweepDevice *device) {
    search(host, device, COUNT, COUNT, 0);
    search(host, device, 1234, 777, 1);
    search(host, device, 0, COUNT, 0);
    search(host, device, COUNT, 0, 1);
}

int main(void) {
    return test(COUNT, search_all, refuse_searches);
}
