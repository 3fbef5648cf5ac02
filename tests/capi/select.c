/* Selections: the layout of the structures, results, and refusals. */

#include <stddef.h>

#include "expect.h"

enum { COUNT = 10007 };

/* Fields of the first version of the header keep their places. */
#if UINTPTR_MAX == UINT64_MAX
typedef char CreateInfoOffset[offsetof(SubsweepSelectPlanCreateInfo, second_comparison) == 32 ? 1 : -1];
typedef char CreateInfoSize[sizeof(SubsweepSelectPlanCreateInfo) >= 36 ? 1 : -1];
typedef char InfoOffset[offsetof(SubsweepSelectInfo, scratch) == 184 ? 1 : -1];
typedef char InfoSize[sizeof(SubsweepSelectInfo) >= 224 ? 1 : -1];
#endif

/* Partitions floats in three, and selects the second part's indices of them. */
static void partition_in_three(const Host *host, const SubsweepDevice *device) {
    const SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                  .flags = SUBSWEEP_SELECT_INDICES_BIT,
                                                  .by = SUBSWEEP_SELECT_BY_COMPARISON,
                                                  .element_type = SUBSWEEP_ELEMENT_TYPE_F32,
                                                  .words_per_value = 2,
                                                  .part_count = 3,
                                                  .comparison = SUBSWEEP_COMPARISON_LESS,
                                                  .second_comparison = SUBSWEEP_COMPARISON_RANGE};
    const float operands[3] = {-50.0f, 0.0f, 25.0f};
    SubsweepSelectInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}, .operand_count = 3};
    SubsweepScratchRequirements needs;
    SubsweepPlan *plan = NULL;
    Memory keys, values, moved, parted, indices, counts, scratch;
    VkCommandBuffer commands;
    uint32_t sizes[3] = {0, 0, 0};
    uint32_t next[3];
    uint32_t i;
    host_check(subsweep_select_plan_create(device, &of_plan, &plan), "subsweep_select_plan_create");
    EXPECT(subsweep_plan_max_count(plan) == UINT32_MAX);
    EXPECT(strstr(subsweep_plan_policy(plan), "reduce-then-scan") != NULL);
    host_check(subsweep_plan_scratch_requirements(plan, COUNT, 0, &needs), "subsweep_plan_scratch_requirements");
    guarded_create(&keys, host, 4 * COUNT, 0);
    guarded_create(&values, host, 8 * COUNT, 0);
    guarded_create(&moved, host, 8 * COUNT, 0);
    guarded_create(&parted, host, 4 * COUNT, 0);
    guarded_create(&indices, host, 4 * COUNT, 0);
    guarded_create(&counts, host, 8, 0);
    guarded_create(&scratch, host, needs.size, needs.usage);
    for (i = 0; i < COUNT; i++) {
        const float key = (float)(number(i) % 2000) / 8.0f - 100.0f;
        memcpy(&keys.words[i], &key, sizeof key);
        values.words[2 * i] = number(i);
        values.words[2 * i + 1] = i;
        sizes[key < operands[0] ? 0 : key >= operands[1] && key < operands[2] ? 1 : 2]++;
    }
    for (i = 0; i < 3; i++) {
        memcpy(&info.operands[i], &operands[i], sizeof operands[i]);
    }
    info.source = part(&keys, 0, 4 * COUNT);
    info.values = part(&values, 0, 8 * COUNT);
    info.destination = part(&parted, 0, 4 * COUNT);
    info.destination_values = part(&moved, 0, 8 * COUNT);
    info.destination_indices = part(&indices, 0, 4 * COUNT);
    info.result_counts = part(&counts, 0, 8);
    info.scratch = guarded_scratch(&scratch, 0, needs.size);
    commands = host_begin(host);
    host_check(subsweep_cmd_select(plan, commands, &info), "subsweep_cmd_select");
    run(host, commands);
    EXPECT(counts.words[0] == sizes[0] && counts.words[1] == sizes[1]);
    next[0] = 0;
    next[1] = sizes[0];
    next[2] = sizes[0] + sizes[1];
    for (i = 0; i < COUNT; i++) {
        float key;
        uint32_t to;
        memcpy(&key, &keys.words[i], sizeof key);
        to = next[key < operands[0] ? 0 : key >= operands[1] && key < operands[2] ? 1 : 2]++;
        if (parted.words[to] != keys.words[i] || indices.words[to] != i || moved.words[2 * to] != number(i) ||
            moved.words[2 * to + 1] != i) {
            break;
        }
    }
    EXPECT(i == COUNT);
    guarded_destroy(&scratch, host, __LINE__);
    guarded_destroy(&counts, host, __LINE__);
    guarded_destroy(&indices, host, __LINE__);
    guarded_destroy(&parted, host, __LINE__);
    guarded_destroy(&moved, host, __LINE__);
    guarded_destroy(&values, host, __LINE__);
    guarded_destroy(&keys, host, __LINE__);
    subsweep_plan_destroy(plan);
}

static void refuse_selections(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan};
    SubsweepSelectInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "words per element");
    of_plan.words_per_element = 1;
    of_plan.by = 4;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "by");
    of_plan.by = SUBSWEEP_SELECT_BY_FLAGS8;
    of_plan.flags = 8;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepSelectFlags");
    of_plan.flags = 0;
    of_plan.part_count = 4;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "part_count");
    of_plan.part_count = 3;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "partition in three");
    of_plan.part_count = 0;
    host_check(subsweep_select_plan_create(device, &of_plan, &plan), "subsweep_select_plan_create");
    info.source = part(memory, 0, 40);
    info.element_flags = part(memory, 40, 12);
    info.destination = part(memory, 20, 40);
    info.result_counts = part(memory, 100, 4);
    REFUSE(subsweep_cmd_select(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "destination");
    info.destination = part(memory, 200, 40);
    info.operand_count = 5;
    REFUSE(subsweep_cmd_select(plan, commands, &info), SUBSWEEP_ERROR_UNKNOWN_VALUE, "operand_count");
    info.operand_count = 1;
    REFUSE(subsweep_cmd_select(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "operands");
    info.operand_count = 0;
    info.element_flags.size = 10;
    REFUSE(subsweep_cmd_select(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "flags");
    info.element_flags.size = 12;
    info.result_counts.address = 0;
    REFUSE(subsweep_cmd_select(plan, commands, &info), SUBSWEEP_ERROR_NULL, "result_counts");
    subsweep_plan_destroy(plan);
}

int main(void) {
    return test(COUNT, partition_in_three, refuse_selections);
}
