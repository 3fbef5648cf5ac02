/* Elements of 8 and 16 bits, at addresses that are not multiples of 4. */

#include "expect.h"

enum { COUNT = 6, ODD = 2 };

/* Writes elements of `size` bytes at byte `offset`. */
static void put(Memory *memory, size_t offset, const void *elements, size_t size) {
    memcpy((unsigned char *)memory->words + offset, elements, size);
}

static int holds(const Memory *memory, size_t offset, const void *elements, size_t size) {
    return memcmp((const unsigned char *)memory->words + offset, elements, size) == 0;
}

static void sorts(const Host *host, const SubsweepDevice *device) {
    /* 1, -0, NaN, 0, -2, -NaN as bfloat16, in the order of numpy. */
    static const uint16_t keys[COUNT] = {0x3f80, 0x8000, 0x7fc0, 0, 0xc000, 0xffc0};
    static const uint16_t sorted[COUNT] = {0xc000, 0x8000, 0, 0x3f80, 0x7fc0, 0xffc0};
    const SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info,
                                             .flags = SUBSWEEP_SORT_NUMPY_ORDER_BIT,
                                             .key_type = SUBSWEEP_ELEMENT_TYPE_BF16};
    Arrays arrays = {.host = host};
    Memory *memory = array(&arrays, 16);
    SubsweepPlan *plan = NULL;
    SubsweepSortInfo sort = {.struct_size = sizeof sort, .count = {.count = COUNT}, .keys = part(memory, ODD, 2 * COUNT)};
    put(memory, ODD, keys, sizeof keys);
    host_check(subsweep_sort_plan_create(device, &info, &plan), "subsweep_sort_plan_create");
    sort.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_sort, plan, &sort);
    EXPECT(holds(memory, ODD, sorted, sizeof sorted));
    /* What shares a word with the keys is as it was. */
    EXPECT(holds(memory, 0, "\xa5\xa5", 2) && holds(memory, 14, "\xa5\xa5", 2));
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

static void sums(const Host *host, const SubsweepDevice *device) {
    static const uint8_t bytes[COUNT] = {200, 100, 3, 0, 255, 1}, running[COUNT] = {200, 44, 47, 47, 46, 47};
    static const uint32_t whole[COUNT] = {200, 300, 303, 303, 558, 559}, begins[3] = {0, 2, 5};
    static const uint8_t of_segments[3] = {44, 2, 1};
    SubsweepScanPlanCreateInfo of_scan = {.struct_size = sizeof of_scan, .element_type = SUBSWEEP_ELEMENT_TYPE_U8};
    SubsweepReducePlanCreateInfo of_reduce = {.struct_size = sizeof of_reduce, .element_type = SUBSWEEP_ELEMENT_TYPE_U8};
    Arrays arrays = {.host = host};
    Memory *source = array(&arrays, 8), *results = array(&arrays, 4 * COUNT), *segments = array(&arrays, 12);
    SubsweepPlan *plan = NULL;
    SubsweepScanInfo scan = {.struct_size = sizeof scan,
                             .count = {.count = COUNT},
                             .source = part(source, 1, COUNT),
                             .destination = part(results, 3, COUNT)};
    SubsweepReduceInfo reduce = {.struct_size = sizeof reduce,
                                 .count = {.count = COUNT},
                                 .source = part(source, 1, COUNT),
                                 .destination = part(results, 1, 1)};
    put(source, 1, bytes, sizeof bytes);
    host_check(subsweep_scan_plan_create(device, &of_scan, &plan), "subsweep_scan_plan_create");
    scan.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_scan, plan, &scan);
    EXPECT(holds(results, 3, running, sizeof running));
    subsweep_plan_destroy(plan);

    of_scan.flags = SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT;
    scan.destination = all(results);
    host_check(subsweep_scan_plan_create(device, &of_scan, &plan), "subsweep_scan_plan_create");
    scan.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_scan, plan, &scan);
    EXPECT(holds(results, 0, whole, sizeof whole));
    subsweep_plan_destroy(plan);

    host_check(subsweep_reduce_plan_create(device, &of_reduce, &plan), "subsweep_reduce_plan_create");
    reduce.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_reduce, plan, &reduce);
    EXPECT(holds(results, 1, &running[COUNT - 1], 1));
    subsweep_plan_destroy(plan);

    of_reduce.flags = SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT;
    reduce.destination = part(results, 4, 4);
    host_check(subsweep_reduce_plan_create(device, &of_reduce, &plan), "subsweep_reduce_plan_create");
    reduce.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_reduce, plan, &reduce);
    EXPECT(results->words[1] == whole[COUNT - 1]);
    subsweep_plan_destroy(plan);

    /* Results of segments are written among bytes of others. */
    of_reduce.flags = 0;
    of_reduce.runs = SUBSWEEP_REDUCE_RUNS_OFFSETS;
    put(segments, 0, begins, sizeof begins);
    put(results, 0, "\x11\x22\x33\x44\x55", 5);
    reduce.segments = all(segments);
    reduce.destination = part(results, 1, 3);
    host_check(subsweep_reduce_plan_create(device, &of_reduce, &plan), "subsweep_reduce_plan_create");
    reduce.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_reduce, plan, &reduce);
    EXPECT(holds(results, 0, "\x11", 1) && holds(results, 1, of_segments, 3) && holds(results, 4, "\x55", 1));
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

static void moves(const Host *host, const SubsweepDevice *device) {
    static const uint8_t bytes[COUNT] = {10, 20, 30, 40, 50, 60}, flags[8] = {1, 0, 0, 7, 1, 0, 0, 0};
    static const uint32_t indices[4] = {5, 0, 9, 1};
    const SubsweepGatherPlanCreateInfo of_gather = {.struct_size = sizeof of_gather,
                                                    .element_type = SUBSWEEP_ELEMENT_TYPE_U8};
    const SubsweepSelectPlanCreateInfo of_select = {.struct_size = sizeof of_select,
                                                    .by = SUBSWEEP_SELECT_BY_FLAGS8,
                                                    .element_type = SUBSWEEP_ELEMENT_TYPE_I8};
    Arrays arrays = {.host = host};
    Memory *source = array(&arrays, 8), *words = array(&arrays, 16), *results = array(&arrays, 8);
    SubsweepPlan *plan = NULL;
    SubsweepGatherInfo gather = {.struct_size = sizeof gather,
                                 .count = {.count = 4},
                                 .source = part(source, 1, COUNT),
                                 .indices = all(words),
                                 .destination = part(results, 1, 4)};
    SubsweepSelectInfo select = {.struct_size = sizeof select,
                                 .count = {.count = COUNT},
                                 .source = part(source, 1, COUNT),
                                 .element_flags = part(words, 0, 8),
                                 .destination = part(results, 1, COUNT),
                                 .result_counts = part(words, 8, 4)};
    put(source, 1, bytes, sizeof bytes);
    put(words, 0, indices, sizeof indices);
    host_check(subsweep_gather_plan_create(device, &of_gather, &plan), "subsweep_gather_plan_create");
    RUN(host, subsweep_cmd_gather, plan, &gather);
    EXPECT(holds(results, 0, "\xa5\x3c\x0a\x00\x14\xa5", 6));
    subsweep_plan_destroy(plan);

    put(words, 0, flags, sizeof flags);
    host_check(subsweep_select_plan_create(device, &of_select, &plan), "subsweep_select_plan_create");
    select.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_select, plan, &select);
    /* No byte beyond those that are selected is written. */
    EXPECT(words->words[2] == 3 && holds(results, 0, "\xa5\x0a\x28\x32\x14", 5));
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

/* Plans of two counts; arrays of one and of five keys take more scratch than one of six. */
static void two_counts(const Host *host, const SubsweepDevice *device) {
    static const uint8_t sorted[COUNT] = {1, 3, 3, 7, 200, 255}, needles[5] = {3, 0, 255, 201, 7};
    static const uint32_t lower[5] = {1, 0, 5, 5, 3};
    static const uint16_t first[1] = {300}, second[5] = {2, 300, 301, 40000, 65535};
    static const uint16_t merged[COUNT] = {2, 300, 300, 301, 40000, 65535};
    const SubsweepSearchPlanCreateInfo of_search = {.struct_size = sizeof of_search,
                                                    .element_type = SUBSWEEP_ELEMENT_TYPE_U8};
    const SubsweepMergePlanCreateInfo of_merge = {.struct_size = sizeof of_merge,
                                                  .element_type = SUBSWEEP_ELEMENT_TYPE_U16};
    Arrays arrays = {.host = host};
    Memory *a = array(&arrays, 16), *b = array(&arrays, 16), *results = array(&arrays, 20);
    SubsweepPlan *plan = NULL;
    SubsweepSearchInfo search = {.struct_size = sizeof search,
                                 .sorted_count = {.count = COUNT},
                                 .needle_count = {.count = 5},
                                 .sorted = part(a, 1, COUNT),
                                 .needles = part(b, 3, 5),
                                 .positions = all(results)};
    SubsweepMergeInfo merge = {.struct_size = sizeof merge,
                               .a_count = {.count = 1},
                               .b_count = {.count = 5},
                               .a = part(a, ODD, 2),
                               .b = part(b, ODD, 10),
                               .destination = part(results, ODD, 2 * COUNT)};
    put(a, 1, sorted, sizeof sorted);
    put(b, 3, needles, sizeof needles);
    host_check(subsweep_search_plan_create(device, &of_search, &plan), "subsweep_search_plan_create");
    search.scratch = scratch_of(&arrays, plan, 5, COUNT);
    RUN(host, subsweep_cmd_search, plan, &search);
    EXPECT(holds(results, 0, lower, sizeof lower));
    subsweep_plan_destroy(plan);

    put(a, ODD, first, sizeof first);
    put(b, ODD, second, sizeof second);
    host_check(subsweep_merge_plan_create(device, &of_merge, &plan), "subsweep_merge_plan_create");
    merge.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_merge, plan, &merge);
    EXPECT(holds(results, ODD, merged, sizeof merged));
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

static void all_of_them(const Host *host, const SubsweepDevice *device) {
    sorts(host, device);
    sums(host, device);
    moves(host, device);
    two_counts(host, device);
}

static void refuse(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    const SubsweepReducePlanCreateInfo of_words = {.struct_size = sizeof of_words,
                                                   .flags = SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT};
    const SubsweepSortPlanCreateInfo of_sort = {.struct_size = sizeof of_sort, .key_type = SUBSWEEP_ELEMENT_TYPE_U16};
    SubsweepPlan *plan = NULL;
    SubsweepSortInfo sort = {.struct_size = sizeof sort, .count = {.count = 4}, .keys = part(memory, 1, 8)};
    REFUSE(subsweep_reduce_plan_create(device, &of_words, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "8 and 16 bits");
    host_check(subsweep_sort_plan_create(device, &of_sort, &plan), "subsweep_sort_plan_create");
    REFUSE(subsweep_cmd_sort(plan, commands, &sort), SUBSWEEP_ERROR_MISALIGNED, "keys");
    subsweep_plan_destroy(plan);
}

int main(void) {
    return test(COUNT, all_of_them, refuse);
}
