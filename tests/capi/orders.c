/* Both orders of floats, by the flags of every plan that has them. */

#include "expect.h"

enum { COUNT = 6, NAN_BITS = 0x7fc00000 };

/* -NaN, 0, -0, 1, NaN, -1, and what a sort makes of them in the order of numpy, and in the order of their bits. */
static const uint32_t KEYS[COUNT] = {0xffc00000, 0, 0x80000000, 0x3f800000, NAN_BITS, 0xbf800000};
static const uint32_t AS_NUMPY[COUNT] = {0xbf800000, 0, 0x80000000, 0x3f800000, 0xffc00000, NAN_BITS};
static const uint32_t BY_BITS[COUNT] = {0xffc00000, 0xbf800000, 0x80000000, 0, 0x3f800000, NAN_BITS};

static Memory *filled(Arrays *arrays, const uint32_t *words) {
    Memory *memory = array(arrays, 4 * COUNT);
    memcpy(memory->words, words, 4 * COUNT);
    return memory;
}

static int equals(const Memory *memory, const uint32_t *words, uint32_t count) {
    return memcmp(memory->words, words, 4 * count) == 0;
}

/* Sorts, merges, searches and selects; `is_numpy` chooses the order. */
static void order(const Host *host, const SubsweepDevice *device, int is_numpy) {
    const uint32_t *sorted = is_numpy ? AS_NUMPY : BY_BITS;
    const SubsweepSortPlanCreateInfo of_sort = {.struct_size = sizeof of_sort,
                                                .flags = is_numpy ? SUBSWEEP_SORT_NUMPY_ORDER_BIT : 0,
                                                .key_type = SUBSWEEP_ELEMENT_TYPE_F32};
    const SubsweepMergePlanCreateInfo of_merge = {.struct_size = sizeof of_merge,
                                                  .flags = is_numpy ? SUBSWEEP_MERGE_NUMPY_ORDER_BIT : 0,
                                                  .element_type = SUBSWEEP_ELEMENT_TYPE_F32};
    const SubsweepSearchPlanCreateInfo of_search = {.struct_size = sizeof of_search,
                                                    .flags = is_numpy ? 0 : SUBSWEEP_SEARCH_TOTAL_ORDER_BIT,
                                                    .element_type = SUBSWEEP_ELEMENT_TYPE_F32};
    const SubsweepTopKPlanCreateInfo of_top_k = {
        .struct_size = sizeof of_top_k,
        .flags = SUBSWEEP_TOP_K_SMALLEST_BIT | (is_numpy ? 0 : SUBSWEEP_TOP_K_TOTAL_ORDER_BIT),
        .element_type = SUBSWEEP_ELEMENT_TYPE_F32,
        .column_count = COUNT,
        .k = COUNT};
    const SubsweepSelectPlanCreateInfo of_select = {.struct_size = sizeof of_select,
                                                    .flags = is_numpy ? 0 : SUBSWEEP_SELECT_TOTAL_ORDER_BIT,
                                                    .by = SUBSWEEP_SELECT_BY_UNIQUE,
                                                    .element_type = SUBSWEEP_ELEMENT_TYPE_F32};
    const SubsweepRunLengthPlanCreateInfo of_runs = {.struct_size = sizeof of_runs,
                                                     .flags = is_numpy ? 0 : SUBSWEEP_RUN_LENGTH_TOTAL_ORDER_BIT,
                                                     .coding = SUBSWEEP_RUN_LENGTH_ENCODE,
                                                     .element_type = SUBSWEEP_ELEMENT_TYPE_F32};
    Arrays arrays = {.host = host};
    SubsweepPlan *plan = NULL;
    Memory *keys = filled(&arrays, KEYS);
    Memory *numbers = array(&arrays, 4 * COUNT);
    Memory *counts = array(&arrays, 4 * COUNT);
    Memory *results = array(&arrays, 4 * COUNT);
    const SubsweepCount half = {.count = COUNT / 2}, whole = {.count = COUNT};

    SubsweepSortInfo sort = {.struct_size = sizeof sort, .count = whole, .keys = all(keys)};
    host_check(subsweep_sort_plan_create(device, &of_sort, &plan), "subsweep_sort_plan_create");
    sort.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_sort, plan, &sort);
    EXPECT(equals(keys, sorted, COUNT));
    subsweep_plan_destroy(plan);

    SubsweepMergeInfo merge = {.struct_size = sizeof merge,
                               .a_count = half,
                               .b_count = half,
                               .a = part(keys, 0, 2 * COUNT),
                               .b = part(keys, 2 * COUNT, 2 * COUNT),
                               .destination = all(results)};
    host_check(subsweep_merge_plan_create(device, &of_merge, &plan), "subsweep_merge_plan_create");
    RUN(host, subsweep_cmd_merge, plan, &merge);
    EXPECT(equals(results, sorted, COUNT));
    subsweep_plan_destroy(plan);

    SubsweepSearchInfo search = {.struct_size = sizeof search,
                                 .sorted_count = whole,
                                 .needle_count = whole,
                                 .sorted = all(keys),
                                 .needles = all(keys),
                                 .positions = all(numbers)};
    host_check(subsweep_search_plan_create(device, &of_search, &plan), "subsweep_search_plan_create");
    RUN(host, subsweep_cmd_search, plan, &search);
    {
        const uint32_t as_numpy[COUNT] = {0, 1, 1, 3, 4, 4}, by_bits[COUNT] = {0, 1, 2, 3, 4, 5};
        EXPECT(equals(numbers, is_numpy ? as_numpy : by_bits, COUNT));
    }
    subsweep_plan_destroy(plan);

    SubsweepTopKInfo top_k = {.struct_size = sizeof top_k,
                              .count = {.count = 1},
                              .source = all(keys),
                              .destination = all(results),
                              .destination_indices = all(numbers)};
    host_check(subsweep_top_k_plan_create(device, &of_top_k, &plan), "subsweep_top_k_plan_create");
    top_k.scratch = scratch_of(&arrays, plan, 1, 0);
    RUN(host, subsweep_cmd_top_k, plan, &top_k);
    EXPECT(equals(results, sorted, COUNT));
    subsweep_plan_destroy(plan);

    SubsweepSelectInfo select = {.struct_size = sizeof select,
                                 .count = whole,
                                 .source = all(keys),
                                 .destination = all(results),
                                 .result_counts = part(counts, 0, 4)};
    host_check(subsweep_select_plan_create(device, &of_select, &plan), "subsweep_select_plan_create");
    select.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_select, plan, &select);
    EXPECT(counts->words[0] == (is_numpy ? 4 : COUNT) && results->words[1] == sorted[1]);
    subsweep_plan_destroy(plan);

    SubsweepRunLengthInfo runs = {.struct_size = sizeof runs,
                                  .count = whole,
                                  .elements = all(keys),
                                  .values = all(results),
                                  .counts = all(numbers),
                                  .result_count = part(counts, 0, 4)};
    host_check(subsweep_run_length_plan_create(device, &of_runs, &plan), "subsweep_run_length_plan_create");
    runs.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_run_length, plan, &runs);
    EXPECT(counts->words[0] == (is_numpy ? 4 : COUNT) && numbers->words[1] == (is_numpy ? 2 : 1));
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

static void order_all(const Host *host, const SubsweepDevice *device) {
    order(host, device, 0);
    order(host, device, 1);
}

static void refuse_orders(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    const SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info, .flags = 2 * SUBSWEEP_SORT_NUMPY_ORDER_BIT};
    SubsweepPlan *plan = NULL;
    (void)commands, (void)memory;
    REFUSE(subsweep_sort_plan_create(device, &info, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepSortFlags");
}

int main(void) {
    return test(COUNT, order_all, refuse_orders);
}
