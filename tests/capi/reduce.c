/* Reductions: the layout of the structures, sums of all rows, of segments and by key, and refusals. */

#include "expect.h"

enum { COUNT = 5000 };

FIRST_VERSION(SubsweepReducePlanCreateInfo, runs, 20, 24);
FIRST_VERSION(SubsweepReduceInfo, run_count, 144, 160);

/* A plan, its scratch and one recording of all rows of `values`. */
static void reduce(const Host *host, const SubsweepDevice *device, SubsweepReducePlanCreateInfo of_plan,
                   SubsweepReduceInfo info) {
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    of_plan.struct_size = sizeof of_plan;
    info.struct_size = sizeof info;
    host_check(subsweep_reduce_plan_create(device, &of_plan, &plan), "subsweep_reduce_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "reduce") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT64_MAX);
    EXPECT(subsweep_plan_last_access(plan).access == VK_ACCESS_SHADER_WRITE_BIT);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_reduce, plan, &info);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void sums(const Host *host, const SubsweepDevice *device) {
    SubsweepReducePlanCreateInfo of_plan = {.element_type = SUBSWEEP_ELEMENT_TYPE_U32,
                                            .scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD};
    SubsweepReduceInfo info = {.count = {.count = COUNT}};
    Arrays arrays = {.host = host};
    Memory *values = array(&arrays, 4 * COUNT);
    Memory *results = array(&arrays, 4 * COUNT);
    uint32_t sum = 0, even = 0, least = 0, greatest = 0, i;
    for (i = 0; i < COUNT; i++) {
        values->words[i] = number(i) % 3000;
        sum += values->words[i];
        even += i % 2 == 0 ? values->words[i] : 0;
        least = values->words[i] < values->words[least] ? i : least;
        greatest = values->words[i] > values->words[greatest] ? i : greatest;
    }
    info.source = all(values);
    info.destination = part(results, 0, 4);
    reduce(host, device, of_plan, info);
    EXPECT(results->words[0] == sum);

    of_plan.column_count = 2;
    info.count.count = COUNT / 2;
    info.destination = part(results, 0, 8);
    reduce(host, device, of_plan, info);
    EXPECT(results->words[0] == even && results->words[1] == sum - even);

    of_plan.column_count = 1;
    of_plan.scan_operator = SUBSWEEP_SCAN_OPERATOR_MIN;
    of_plan.flags = SUBSWEEP_REDUCE_INDEX_BIT;
    info.count.count = COUNT;
    info.destination = part(results, 0, 4);
    reduce(host, device, of_plan, info);
    EXPECT(results->words[0] == least);

    of_plan.flags = SUBSWEEP_REDUCE_BOTH_INDICES_BIT;
    of_plan.scan_operator = 0;
    info.destination = part(results, 0, 8);
    reduce(host, device, of_plan, info);
    EXPECT(results->words[0] == least && results->words[1] == greatest);
    of_plan.flags = SUBSWEEP_REDUCE_INDEX_BIT;
    of_plan.scan_operator = SUBSWEEP_SCAN_OPERATOR_MIN;

    of_plan.row_length = 7;
    info.destination = part(results, 0, 4 * ((COUNT + 6) / 7));
    reduce(host, device, of_plan, info);
    for (i = 0; i < COUNT; i += 7) {
        uint32_t j, first = i;
        for (j = i; j < COUNT && j < i + 7; j++) {
            first = values->words[j] < values->words[first] ? j : first;
        }
        if (results->words[i / 7] != first - i) {
            break;
        }
    }
    EXPECT(i >= COUNT);
    arrays_destroy(&arrays, __LINE__);
}

/* Of runs of keys, and of segments. */
static void sums_of_runs(const Host *host, const SubsweepDevice *device) {
    SubsweepReducePlanCreateInfo of_plan = {.element_type = SUBSWEEP_ELEMENT_TYPE_U32,
                                            .scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD,
                                            .column_count = 1};
    SubsweepReduceInfo info = {.count = {.count = COUNT}};
    Arrays arrays = {.host = host};
    Memory *values = array(&arrays, 4 * COUNT);
    Memory *keys = array(&arrays, 4 * COUNT);
    Memory *results = array(&arrays, 4 * COUNT + 4);
    Memory *unique = array(&arrays, 4 * COUNT);
    uint32_t run_sum = 0, runs = 0, i;
    for (i = 0; i < COUNT; i++) {
        values->words[i] = number(i) % 3000;
        keys->words[i] = i / 7 % 5;
    }
    info.source = all(values);
    of_plan.runs = SUBSWEEP_REDUCE_RUNS_KEYS32;
    info.destination = part(results, 4, 4 * COUNT);
    info.segments = all(keys);
    info.unique_keys = all(unique);
    info.run_count = part(results, 0, 4);
    reduce(host, device, of_plan, info);
    for (i = 0; i < COUNT; i++) {
        run_sum += values->words[i];
        if (i + 1 == COUNT || keys->words[i + 1] != keys->words[i]) {
            EXPECT(unique->words[runs] == keys->words[i] && results->words[1 + runs] == run_sum);
            run_sum = 0;
            runs++;
        }
    }
    EXPECT(results->words[0] == runs);
    /* As floats, zeros of both signs are one run. */
    of_plan.runs = SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32;
    for (i = 0; i < COUNT; i++) {
        keys->words[i] = i << 31;
    }
    reduce(host, device, of_plan, info);
    EXPECT(results->words[0] == 1 && unique->words[0] == 0);

    of_plan.runs = SUBSWEEP_REDUCE_RUNS_OFFSETS;
    keys->words[0] = keys->words[1] = 10;
    keys->words[2] = COUNT - 1;
    info.segments = part(keys, 0, 12);
    info.destination = part(results, 0, 12);
    info.unique_keys.address = info.run_count.address = 0;
    info.unique_keys.size = info.run_count.size = 0;
    reduce(host, device, of_plan, info);
    for (i = 10, run_sum = 0; i < COUNT - 1; i++) {
        run_sum += values->words[i];
    }
    EXPECT(results->words[0] == 0 && results->words[1] == run_sum && results->words[2] == values->words[COUNT - 1]);

    /* In descending order, and overlapping. */
    of_plan.runs = SUBSWEEP_REDUCE_RUNS_RANGES;
    unique->words[0] = COUNT - 1;
    unique->words[1] = 12;
    unique->words[2] = COUNT;
    keys->words[1] = 9;
    info.segment_ends = part(unique, 0, 12);
    reduce(host, device, of_plan, info);
    EXPECT(results->words[0] == run_sum);
    EXPECT(results->words[1] == values->words[9] + values->words[10] + values->words[11]);
    EXPECT(results->words[2] == values->words[COUNT - 1]);
    arrays_destroy(&arrays, __LINE__);
}

static void refuse_reductions(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepReducePlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                            .element_type = SUBSWEEP_ELEMENT_TYPE_F32,
                                            .scan_operator = SUBSWEEP_SCAN_OPERATOR_XOR};
    SubsweepReduceInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_reduce_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "whole numbers");
    of_plan.scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD;
    of_plan.flags = SUBSWEEP_REDUCE_INDEX_BIT;
    REFUSE(subsweep_reduce_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "only minima and maxima");
    of_plan.flags = 16;
    REFUSE(subsweep_reduce_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepReduceFlags");
    of_plan.flags = 0;
    of_plan.runs = 11;
    REFUSE(subsweep_reduce_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepReduceRuns");
    of_plan.runs = SUBSWEEP_REDUCE_RUNS_OFFSETS;
    of_plan.row_length = 3;
    REFUSE(subsweep_reduce_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "row_length");
    of_plan.runs = 0;
    of_plan.column_count = 2;
    REFUSE(subsweep_reduce_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "in one column");
    of_plan.column_count = 1;
    of_plan.row_length = 0;
    host_check(subsweep_reduce_plan_create(device, &of_plan, &plan), "subsweep_reduce_plan_create");
    info.source = part(memory, 0, 40);
    info.destination = part(memory, 36, 4);
    REFUSE(subsweep_cmd_reduce(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "destination");
    info.destination = part(memory, 40, 4);
    info.source.size = 36;
    REFUSE(subsweep_cmd_reduce(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "source");
    info.source.size = 40;
    info.segments = part(memory, 80, 8);
    REFUSE(subsweep_cmd_reduce(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "takes no segments");
    subsweep_plan_destroy(plan);
}

static void all_sums(const Host *host, const SubsweepDevice *device) {
    sums(host, device);
    sums_of_runs(host, device);
}

int main(void) {
    return test(COUNT, all_sums, refuse_reductions);
}
