/* Functions of the caller, which tools/custom has compiled: a selection, an argsort, a scan and a reduction; and refusals. */

#include "expect.h"

#include "distance.h"
#include "even.h"
#include "matrix.h"

enum { COUNT = 10007, MATRICES = 5 };

FIRST_VERSION(SubsweepFunctionsCreateInfo, data_words, 28, 32);

static SubsweepFunctions made(const SubsweepFunctionsCreateInfo *info) {
    SubsweepFunctions functions = 0;
    host_check(subsweep_functions_create(info, &functions), "subsweep_functions_create");
    EXPECT(functions > 0);
    return functions;
}

static void select_even(const Host *host, const SubsweepDevice *device) {
    const SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                  .flags = SUBSWEEP_SELECT_INDICES_BIT,
                                                  .by = SUBSWEEP_SELECT_BY_FUNCTION,
                                                  .functions = made(&even)};
    SubsweepSelectInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *numbers = array(&arrays, 4 * COUNT), *kept = array(&arrays, 4 * COUNT);
    Memory *indices = array(&arrays, 4 * COUNT), *count = array(&arrays, 4);
    uint32_t i, next = 0;
    for (i = 0; i < COUNT; i++) {
        numbers->words[i] = number(i);
    }
    host_check(subsweep_select_plan_create(device, &of_plan, &plan), "subsweep_select_plan_create");
    info.source = all(numbers);
    info.destination = all(kept);
    info.destination_indices = all(indices);
    info.result_counts = all(count);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_select, plan, &info);
    for (i = 0; i < COUNT; i++) {
        if (number(i) % 2 == 0) {
            if (kept->words[next] != number(i) || indices->words[next] != i) {
                break;
            }
            next++;
        }
    }
    EXPECT(i == COUNT && count->words[0] == next);
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

static void all_functions(const Host *host, const SubsweepDevice *device) {
    select_even(host, device);
    sort_points(host, device);
    multiply_matrices(host, device);
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
    info.modules = NULL;
    REFUSE(subsweep_functions_create(&info, &functions), SUBSWEEP_ERROR_NULL, "modules");
    REFUSE(subsweep_functions_create(&even, NULL), SUBSWEEP_ERROR_NULL, "functions");
}

int main(void) {
    return test(COUNT, all_functions, refusals);
}
