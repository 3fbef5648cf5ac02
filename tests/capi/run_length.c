/* Run lengths: the layout of the structures, results, and refusals. */

#include "expect.h"

enum { COUNT = 10007 };

FIRST_VERSION(SubsweepRunLengthPlanCreateInfo, element_type, 12, 16);
FIRST_VERSION(SubsweepRunLengthInfo, scratch, 104, 144);

static SubsweepPlan *plan_of(const SubsweepDevice *device, SubsweepRunLengthCoding coding, uint32_t flags) {
    const SubsweepRunLengthPlanCreateInfo info = {.struct_size = sizeof info,
                                                  .flags = flags,
                                                  .coding = coding,
                                                  .element_type = SUBSWEEP_ELEMENT_TYPE_I64};
    SubsweepPlan *plan = NULL;
    host_check(subsweep_run_length_plan_create(device, &info, &plan), "subsweep_run_length_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "run length") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == (coding == SUBSWEEP_RUN_LENGTH_DECODE ? INT32_MAX : UINT32_MAX));
    return plan;
}

/* Records a plan with scratch of its own, runs it, and waits. */
static void code(const Host *host, const SubsweepPlan *plan, SubsweepRunLengthInfo *info) {
    Arrays arrays = {.host = host};
    info->scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_run_length, plan, info);
    arrays_destroy(&arrays, __LINE__);
}

/* Encodes 64-bit elements, which differ in their high words, and compares the runs. Decodes them where they are all. */
static void encode(const Host *host, const SubsweepDevice *device, SubsweepRunLengthCoding coding, uint32_t flags) {
    const int has_offsets = coding != SUBSWEEP_RUN_LENGTH_ENCODE || (flags & SUBSWEEP_RUN_LENGTH_OFFSETS_BIT) != 0;
    SubsweepRunLengthInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = plan_of(device, coding, flags);
    Arrays arrays = {.host = host};
    Memory *elements = array(&arrays, 8 * COUNT);
    Memory *values = array(&arrays, 8 * COUNT);
    Memory *counts = array(&arrays, 4 * COUNT);
    Memory *offsets = array(&arrays, 4 * COUNT);
    Memory *result_count = array(&arrays, 4);
    uint32_t i, length, written = 0;
    elements->words[0] = 5;
    elements->words[1] = 0;
    for (i = 1; i < COUNT; i++) {
        elements->words[2 * i] = 5;
        elements->words[2 * i + 1] = elements->words[2 * i - 1] + (number(i) % 2);
    }
    info.elements = all(elements);
    info.values = all(values);
    info.counts = all(counts);
    info.offsets = all(offsets);
    info.result_count = all(result_count);
    code(host, plan, &info);
    for (i = 0; i < COUNT; i += length) {
        for (length = 1; i + length < COUNT && elements->words[2 * (i + length) + 1] == elements->words[2 * i + 1];) {
            length++;
        }
        if (length == 1 && coding != SUBSWEEP_RUN_LENGTH_ENCODE) {
            continue;
        }
        if (values->words[2 * written] != 5 || values->words[2 * written + 1] != elements->words[2 * i + 1] ||
            counts->words[written] != length || (has_offsets && offsets->words[written] != i)) {
            break;
        }
        written++;
    }
    EXPECT(i == COUNT && written > COUNT / 10 && result_count->words[0] == written);
    subsweep_plan_destroy(plan);

    if (coding == SUBSWEEP_RUN_LENGTH_ENCODE) {
        Memory *decoded = array(&arrays, 8 * COUNT);
        Memory *element_count = array(&arrays, 4);
        plan = plan_of(device, SUBSWEEP_RUN_LENGTH_DECODE, SUBSWEEP_RUN_LENGTH_INDIRECT_COUNT_BIT);
        info.count.address = result_count->address;
        info.elements = all(decoded);
        info.result_count = all(element_count);
        code(host, plan, &info);
        EXPECT(element_count->words[0] == COUNT && memcmp(decoded->words, elements->words, 8 * COUNT) == 0);
        subsweep_plan_destroy(plan);
    }
    arrays_destroy(&arrays, __LINE__);
}

static void encode_all(const Host *host, const SubsweepDevice *device) {
    encode(host, device, SUBSWEEP_RUN_LENGTH_ENCODE, 0);
    encode(host, device, SUBSWEEP_RUN_LENGTH_ENCODE, SUBSWEEP_RUN_LENGTH_OFFSETS_BIT);
    encode(host, device, SUBSWEEP_RUN_LENGTH_ENCODE_NON_TRIVIAL, 0);
}

static void refuse_runs(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepRunLengthPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .coding = 3};
    SubsweepRunLengthInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_run_length_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "coding");
    of_plan.coding = SUBSWEEP_RUN_LENGTH_DECODE;
    of_plan.flags = 2 * SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT;
    REFUSE(subsweep_run_length_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE,
           "SubsweepRunLengthFlags");
    of_plan.flags = SUBSWEEP_RUN_LENGTH_OFFSETS_BIT;
    REFUSE(subsweep_run_length_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "no offsets");
    of_plan.flags = SUBSWEEP_RUN_LENGTH_WITHOUT_VALUES_BIT;
    of_plan.element_type = 12;
    REFUSE(subsweep_run_length_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    of_plan.element_type = SUBSWEEP_ELEMENT_TYPE_F32;
    of_plan.coding = SUBSWEEP_RUN_LENGTH_ENCODE;
    host_check(subsweep_run_length_plan_create(device, &of_plan, &plan), "subsweep_run_length_plan_create");
    info.elements = part(memory, 0, 40);
    info.counts = part(memory, 200, 36);
    info.result_count = part(memory, 100, 4);
    REFUSE(subsweep_cmd_run_length(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "counts");
    info.counts = part(memory, 200, 40);
    REFUSE(subsweep_cmd_run_length(plan, commands, &info), SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, "scratch");
    info.flags = 1;
    REFUSE(subsweep_cmd_run_length(plan, commands, &info), SUBSWEEP_ERROR_UNKNOWN_VALUE, "flags");
    info.flags = 0;
    info.result_count.address = 0;
    REFUSE(subsweep_cmd_run_length(plan, commands, &info), SUBSWEEP_ERROR_NULL, "result_count");
    subsweep_plan_destroy(plan);
}

int main(void) {
    return test(COUNT, encode_all, refuse_runs);
}
