/* Functions of the caller, which tools/custom has compiled: a selection, a partition, an argsort, a top-k, a histogram, scans and
   reductions; a sort, a merge and a search by a comparison; and refusals. */

#include <stdlib.h>

#include "expect.h"

#include "distance.h"
#include "even.h"
#include "matrix.h"
#include "moments.h"
#include "nesting.h"
#include "record.h"

enum { COUNT = 10007, MATRICES = 5, WORDS = 7, A_COUNT = 6000 };

/* Lanes of the driver; 0 for any. */
static uint32_t lanes;

FIRST_VERSION(SubsweepFunctionsCreateInfo, data_words, 28, 32);

static SubsweepFunctions made(const SubsweepFunctionsCreateInfo *info) {
    SubsweepFunctions functions = 0;
    host_check(subsweep_functions_create(info, &functions), "subsweep_functions_create");
    EXPECT(functions > 0);
    return functions;
}

/* The even numbers, or with 2 parts the odd ones after them, with their indices. */
static void select_even(const Host *host, const SubsweepDevice *device, uint32_t part_count) {
    const SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                  .flags = SUBSWEEP_SELECT_INDICES_BIT,
                                                  .by = SUBSWEEP_SELECT_BY_FUNCTION,
                                                  .part_count = part_count,
                                                  .functions = made(&even)};
    SubsweepSelectInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *numbers = array(&arrays, 4 * COUNT), *kept = array(&arrays, 4 * COUNT);
    Memory *indices = array(&arrays, 4 * COUNT), *count = array(&arrays, 4);
    uint32_t i, is_odd, even_count = 0, next = 0;
    for (i = 0; i < COUNT; i++) {
        numbers->words[i] = number(i);
        even_count += number(i) % 2 == 0;
    }
    host_check(subsweep_select_plan_create(device, &of_plan, &plan), "subsweep_select_plan_create");
    info.source = all(numbers);
    info.destination = all(kept);
    info.destination_indices = all(indices);
    info.result_counts = all(count);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_select, plan, &info);
    for (is_odd = 0; is_odd < (part_count == 2 ? 2 : 1); is_odd++) {
        for (i = 0; i < COUNT; i++) {
            if (number(i) % 2 == is_odd) {
                if (kept->words[next] != number(i) || indices->words[next] != i) {
                    break;
                }
                next++;
            }
        }
        EXPECT(i == COUNT);
    }
    EXPECT(next == (part_count == 2 ? COUNT : even_count) && count->words[0] == even_count);
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

/* Points of five words by their distance along the axis (1, 0, 0): by their first word. */
static void sort_points(const Host *host, const SubsweepDevice *device) {
    SubsweepSortPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .values = SUBSWEEP_SORT_VALUES_ARGSORT};
    SubsweepSortInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *points = array(&arrays, 20 * COUNT), *axis = array(&arrays, 12), *order = array(&arrays, 4 * COUNT);
    uint32_t i;
    for (i = 0; i < 5 * COUNT; i++) {
        points->words[i] = number(i) % 1000;
    }
    axis->words[0] = 1;
    axis->words[1] = axis->words[2] = 0;
    of_plan.functions = made(&distance);
    host_check(subsweep_sort_plan_create(device, &of_plan, &plan), "subsweep_sort_plan_create");
    info.keys = all(points);
    info.values = all(order);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    {
        const VkCommandBuffer commands = host_begin(host);
        REFUSE(subsweep_cmd_sort(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "functions_data");
        run(host, commands);
    }
    info.functions_data = all(axis);
    RUN(host, subsweep_cmd_sort, plan, &info);
    for (i = 1; i < COUNT; i++) {
        const uint32_t earlier = order->words[i - 1], later = order->words[i];
        const uint32_t a = points->words[5 * earlier], b = points->words[5 * later];
        if (a > b || (a == b && earlier >= later)) {
            break;
        }
    }
    EXPECT(i == COUNT);
    subsweep_plan_destroy(plan);
    of_plan.values = SUBSWEEP_SORT_VALUES_NONE;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "computed keys");
    arrays_destroy(&arrays, __LINE__);
}

/* The ten points of the least first words, which are all different, and the numbers of such words below 4,000, by thousands. */
static void rank_and_count_points(const Host *host, const SubsweepDevice *device) {
    const SubsweepFunctions functions = made(&distance);
    const SubsweepTopKPlanCreateInfo of_top = {.struct_size = sizeof of_top,
                                               .flags = SUBSWEEP_TOP_K_SMALLEST_BIT,
                                               .column_count = COUNT,
                                               .k = 10,
                                               .functions = functions};
    SubsweepHistogramPlanCreateInfo of_counts = {.struct_size = sizeof of_counts,
                                                 .bin_count = 4,
                                                 .column_count = 1,
                                                 .functions = functions};
    SubsweepTopKInfo top = {.struct_size = sizeof top, .count = {.count = 1}};
    SubsweepHistogramInfo count = {.struct_size = sizeof count, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *points = array(&arrays, 20 * COUNT), *axis = array(&arrays, 12);
    Memory *keys = array(&arrays, 40), *indices = array(&arrays, 40);
    Memory *edges = array(&arrays, 20), *counts = array(&arrays, 16);
    uint32_t i;
    for (i = 0; i < 5 * COUNT; i++) {
        /* A permutation: COUNT is a prime number. */
        points->words[i] = i % 5 == 0 ? 3 * (i / 5) % COUNT : 0;
    }
    axis->words[0] = 1;
    axis->words[1] = axis->words[2] = 0;
    host_check(subsweep_top_k_plan_create(device, &of_top, &plan), "subsweep_top_k_plan_create");
    top.source = all(points);
    top.destination = all(keys);
    top.destination_indices = all(indices);
    top.scratch = scratch_of(&arrays, plan, 1, 0);
    {
        const VkCommandBuffer commands = host_begin(host);
        REFUSE(subsweep_cmd_top_k(plan, commands, &top), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "functions_data");
        run(host, commands);
    }
    top.functions_data = all(axis);
    RUN(host, subsweep_cmd_top_k, plan, &top);
    for (i = 0; i < 10; i++) {
        EXPECT(keys->words[i] == i && 3 * indices->words[i] % COUNT == i);
    }
    subsweep_plan_destroy(plan);
    host_check(subsweep_histogram_plan_create(device, &of_counts, &plan), "subsweep_histogram_plan_create");
    for (i = 0; i <= 4; i++) {
        edges->words[i] = 1000 * i - (i == 4);
    }
    count.source = all(points);
    count.edges = all(edges);
    count.counts = all(counts);
    {
        const VkCommandBuffer commands = host_begin(host);
        REFUSE(subsweep_cmd_histogram(plan, commands, &count), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "functions_data");
        run(host, commands);
    }
    count.functions_data = all(axis);
    RUN(host, subsweep_cmd_histogram, plan, &count);
    for (i = 0; i < 4; i++) {
        EXPECT(counts->words[i] == 1000);
    }
    subsweep_plan_destroy(plan);
    of_counts.column_count = 2;
    REFUSE(subsweep_histogram_plan_create(device, &of_counts, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "one column");
    arrays_destroy(&arrays, __LINE__);
}

/* Powers of the matrix (1 1; 1 0): Fibonacci's numbers. */
static void multiply_matrices(const Host *host, const SubsweepDevice *device) {
    static const uint32_t fibonacci[MATRICES] = {1, 1, 2, 3, 5};
    const SubsweepFunctions functions = made(&matrix);
    const SubsweepScanPlanCreateInfo of_scan = {.struct_size = sizeof of_scan, .functions = functions};
    const SubsweepReducePlanCreateInfo of_reduce = {.struct_size = sizeof of_reduce, .functions = functions};
    SubsweepScanInfo scan = {.struct_size = sizeof scan, .count = {.count = MATRICES}};
    SubsweepReduceInfo reduce = {.struct_size = sizeof reduce, .count = {.count = MATRICES}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *powers = array(&arrays, 16 * MATRICES), *products = array(&arrays, 16 * MATRICES);
    Memory *product = array(&arrays, 16);
    uint32_t i;
    for (i = 0; i < 4 * MATRICES; i++) {
        powers->words[i] = i % 4 < 3;
    }
    host_check(subsweep_scan_plan_create(device, &of_scan, &plan), "subsweep_scan_plan_create");
    scan.source = all(powers);
    scan.destination = all(products);
    scan.scratch = scratch_of(&arrays, plan, MATRICES, 0);
    RUN(host, subsweep_cmd_scan, plan, &scan);
    for (i = 0; i < MATRICES; i++) {
        EXPECT(products->words[4 * i + 1] == fibonacci[i]);
    }
    subsweep_plan_destroy(plan);
    host_check(subsweep_reduce_plan_create(device, &of_reduce, &plan), "subsweep_reduce_plan_create");
    reduce.source = all(powers);
    reduce.destination = all(product);
    reduce.scratch = scratch_of(&arrays, plan, MATRICES, 0);
    RUN(host, subsweep_cmd_reduce, plan, &reduce);
    EXPECT(memcmp(product->words, &products->words[4 * (MATRICES - 1)], 16) == 0);
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

/* Records of positive floats, which are few, and of two bytes of a name; the last word is the index. */
static void make_records(Memory *records) {
    uint32_t i;
    memset(records->words, 0, (size_t)records->size);
    for (i = 0; i < COUNT; i++) {
        records->words[WORDS * i] = 0x3f800000u + number(i) % 5;
        records->words[WORDS * i + 1] = number(i + COUNT) % 3 | number(i) % 7 << 8;
        records->words[WORDS * i + 6] = i;
    }
}

/* Whether a record is less than another: bytes of names count from the first one on. */
static int is_less(const uint32_t *a, const uint32_t *b) {
    const uint32_t a_name = (a[1] & 0xff) << 8 | a[1] >> 8, b_name = (b[1] & 0xff) << 8 | b[1] >> 8;
    return a[0] != b[0] ? a[0] < b[0] : a_name < b_name;
}

/* Whether records are in order, and equal ones in the order of their indices. */
static int are_sorted(const uint32_t *records, uint32_t count) {
    uint32_t i;
    for (i = 1; i < count; i++) {
        const uint32_t *a = records + WORDS * (i - 1), *b = records + WORDS * i;
        if (is_less(b, a) || (!is_less(a, b) && a[6] >= b[6])) {
            return 0;
        }
    }
    return 1;
}

/* Sorts records, merges two parts of them that are sorted, and searches for each in all. */
static void compare_records(const Host *host, const SubsweepDevice *device) {
    const SubsweepFunctions functions = made(&record);
    SubsweepStructureSortPlanCreateInfo of_sort = {.struct_size = sizeof of_sort, .functions = functions};
    const SubsweepMergePlanCreateInfo of_merge = {.struct_size = sizeof of_merge, .functions = functions};
    const SubsweepSearchPlanCreateInfo of_search = {
        .struct_size = sizeof of_search, .flags = SUBSWEEP_SEARCH_UPPER_BOUND_BIT, .functions = functions};
    SubsweepStructureSortInfo sort = {.struct_size = sizeof sort, .count = {.count = COUNT}};
    SubsweepMergeInfo merge = {
        .struct_size = sizeof merge, .a_count = {.count = A_COUNT}, .b_count = {.count = COUNT - A_COUNT}};
    SubsweepSearchInfo search = {
        .struct_size = sizeof search, .sorted_count = {.count = COUNT}, .needle_count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *records = array(&arrays, 4 * WORDS * COUNT), *merged = array(&arrays, 4 * WORDS * COUNT);
    Memory *order = array(&arrays, 4 * COUNT), *positions = array(&arrays, 4 * COUNT), *zero = array(&arrays, 4);
    uint32_t i, part_index;
    zero->words[0] = 0;
    make_records(records);

    of_sort.flags = SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT;
    host_check(subsweep_structure_sort_plan_create(device, &of_sort, &plan), "subsweep_structure_sort_plan_create");
    sort.structures = all(records);
    sort.indices = all(order);
    sort.scratch = scratch_of(&arrays, plan, COUNT, 0);
    sort.functions_data = all(zero);
    RUN(host, subsweep_cmd_structure_sort, plan, &sort);
    for (i = 1; i < COUNT; i++) {
        const uint32_t *a = records->words + WORDS * order->words[i - 1], *b = records->words + WORDS * order->words[i];
        if (is_less(b, a) || (!is_less(a, b) && a[6] >= b[6])) {
            break;
        }
    }
    EXPECT(i == COUNT);
    subsweep_plan_destroy(plan);

    of_sort.flags = 0;
    host_check(subsweep_structure_sort_plan_create(device, &of_sort, &plan), "subsweep_structure_sort_plan_create");
    sort.indices = part(order, 0, 0);
    sort.scratch = scratch_of(&arrays, plan, COUNT, 0);
    for (part_index = 0; part_index < 2; part_index++) {
        const uint32_t begin = part_index * A_COUNT, count = part_index == 0 ? A_COUNT : COUNT - A_COUNT;
        sort.structures = part(records, 4 * WORDS * begin, 4 * WORDS * count);
        sort.count.count = count;
        RUN(host, subsweep_cmd_structure_sort, plan, &sort);
        EXPECT(are_sorted(records->words + WORDS * begin, count));
    }
    subsweep_plan_destroy(plan);

    host_check(subsweep_merge_plan_create(device, &of_merge, &plan), "subsweep_merge_plan_create");
    merge.a = part(records, 0, 4 * WORDS * A_COUNT);
    merge.b = part(records, 4 * WORDS * A_COUNT, 4 * WORDS * (COUNT - A_COUNT));
    merge.destination = all(merged);
    merge.functions_data = all(zero);
    RUN(host, subsweep_cmd_merge, plan, &merge);
    EXPECT(are_sorted(merged->words, COUNT));
    subsweep_plan_destroy(plan);

    host_check(subsweep_search_plan_create(device, &of_search, &plan), "subsweep_search_plan_create");
    search.sorted = all(merged);
    search.needles = all(records);
    search.positions = all(positions);
    search.functions_data = all(zero);
    RUN(host, subsweep_cmd_search, plan, &search);
    for (i = 0; i < COUNT; i++) {
        const uint32_t *needle = records->words + WORDS * i, position = positions->words[i];
        if (position == 0 || position > COUNT || is_less(needle, merged->words + WORDS * (position - 1)) ||
            (position < COUNT && !is_less(needle, merged->words + WORDS * position))) {
            break;
        }
    }
    EXPECT(i == COUNT);
    subsweep_plan_destroy(plan);

    of_sort.structure_size = 28;
    REFUSE(subsweep_structure_sort_plan_create(device, &of_sort, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "structure_size");
    arrays_destroy(&arrays, __LINE__);
}

/* Lines of 20 characters, of which each second ends with an opening bracket, and each third begins with a closing one. */
static void scan_lines(const Host *host, const SubsweepDevice *device) {
    const SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .functions = made(&nesting)};
    SubsweepScanInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *lines = array(&arrays, 20 * COUNT), *data = array(&arrays, 8), *results = array(&arrays, 12 * COUNT);
    uint32_t i, closing = 0, opening = 0;
    for (i = 0; i < COUNT; i++) {
        char line[20];
        memset(line, ' ', sizeof line);
        line[0] = i % 3 == 0 ? ')' : ' ';
        line[19] = i % 2 == 1 ? '(' : ' ';
        memcpy(&lines->words[5 * i], line, sizeof line);
    }
    memcpy(data->words, "()  ", 4);
    data->words[1] = 1;
    host_check(subsweep_scan_plan_create(device, &of_plan, &plan), "subsweep_scan_plan_create");
    info.source = all(lines);
    info.destination = all(results);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    {
        const VkCommandBuffer commands = host_begin(host);
        REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "functions_data");
        info.functions_data = all(data);
        info.destination = info.source;
        REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "another destination");
        info.destination = all(results);
        run(host, commands);
    }
    RUN(host, subsweep_cmd_scan, plan, &info);
    for (i = 0; i < COUNT; i++) {
        const uint32_t *result = &results->words[3 * i];
        if (i % 11 != 5) {
            if (i % 3 == 0) {
                opening > 0 ? opening-- : closing++;
            }
            opening += i % 2;
        }
        if (result[0] != closing || result[1] != opening || result[2] != i + 1) {
            break;
        }
    }
    EXPECT(i == COUNT);
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

/* Whole numbers from 0 on, as many as a power of two, have a mean and a variance without rounding. */
static void reduce_moments(const Host *host, const SubsweepDevice *device) {
    const SubsweepReducePlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .functions = made(&moments)};
    SubsweepReduceInfo info = {.struct_size = sizeof info, .count = {.count = 64}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *numbers = array(&arrays, 4 * 64), *results = array(&arrays, 8);
    float moment[2];
    uint32_t i;
    for (i = 0; i < 64; i++) {
        const float as_float = (float)i;
        memcpy(&numbers->words[i], &as_float, 4);
    }
    host_check(subsweep_reduce_plan_create(device, &of_plan, &plan), "subsweep_reduce_plan_create");
    info.source = all(numbers);
    info.destination = all(results);
    info.scratch = scratch_of(&arrays, plan, 64, 0);
    RUN(host, subsweep_cmd_reduce, plan, &info);
    memcpy(moment, results->words, sizeof moment);
    EXPECT(moment[0] == 31.5f && moment[1] == 341.25f);
    subsweep_plan_destroy(plan);
    arrays_destroy(&arrays, __LINE__);
}

static void all_functions(const Host *host, const SubsweepDevice *device) {
    VkPhysicalDeviceSubgroupProperties subgroups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &subgroups};
    vkGetPhysicalDeviceProperties2(host->physical_device, &properties);
    EXPECT(lanes == 0 || subgroups.subgroupSize == lanes);
    select_even(host, device, 0);
    select_even(host, device, 2);
    sort_points(host, device);
    rank_and_count_points(host, device);
    multiply_matrices(host, device);
    scan_lines(host, device);
    reduce_moments(host, device);
    compare_records(host, device);
}

static void refusals(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepFunctionModule module = even_modules[0];
    SubsweepFunctionsCreateInfo info = even;
    SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .by = SUBSWEEP_SELECT_BY_FUNCTION};
    SubsweepFunctions functions = 7;
    SubsweepPlan *plan = NULL;
    (void)commands;
    (void)memory;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "functions");
    of_plan.functions = 1000;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "functions");
    of_plan.functions = made(&matrix);
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "'matrix' have no module");
    info.modules = &module;
    info.module_count = 1;
    module.kernel = "select/counts";
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_UNKNOWN_VALUE, "select/count:key1");
    EXPECT(functions == 0);
    module = even_modules[0];
    module.words = NULL;
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_NULL, "words");
    module.words = even_modules[0].words;
    module.size = 6;
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_UNKNOWN_VALUE, "size");
    info.element_words = 0;
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_words");
    info = even;
    info.source_words = 1025;
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_UNKNOWN_VALUE, "source_words");
    info = even;
    info.modules = NULL;
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_NULL, "modules");
    REFUSE(subsweep_functions_create(&even, NULL), SUBSWEEP_ERROR_NULL, "functions");
}

/* Takes the lanes that the driver must have. */
int main(int argc, char **argv) {
    lanes = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    return test(COUNT, all_functions, refusals);
}
