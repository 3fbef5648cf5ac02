/* Selections: the layout of the structures, results, and refusals. */

#include "expect.h"

enum { COUNT = 10007 };

FIRST_VERSION(SubsweepSelectPlanCreateInfo, second_comparison, 32, 36);
FIRST_VERSION(SubsweepSelectInfo, scratch, 184, 224);

/* Partitions floats in three, and selects the second part's indices of them. */
static void partition_by(const Host *host, const SubsweepDevice *device, SubsweepSelectFlags flags) {
    const uint32_t index_words = flags & SUBSWEEP_SELECT_LARGE_COUNTS_BIT ? 2 : 1;
    const SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                  .flags = flags | SUBSWEEP_SELECT_INDICES_BIT,
                                                  .by = SUBSWEEP_SELECT_BY_COMPARISON,
                                                  .element_type = SUBSWEEP_ELEMENT_TYPE_F32,
                                                  .words_per_value = 2,
                                                  .part_count = 3,
                                                  .comparison = SUBSWEEP_COMPARISON_LESS,
                                                  .second_comparison = SUBSWEEP_COMPARISON_RANGE};
    const float operands[3] = {-50.0f, 0.0f, 25.0f};
    SubsweepSelectInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}, .operand_count = 3};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *keys = array(&arrays, 4 * COUNT);
    Memory *values = array(&arrays, 8 * COUNT);
    Memory *moved = array(&arrays, 8 * COUNT);
    Memory *parted = array(&arrays, 4 * COUNT);
    Memory *indices = array(&arrays, 4 * index_words * COUNT);
    Memory *counts = array(&arrays, 8 * index_words);
    uint32_t sizes[3] = {0, 0, 0};
    uint32_t next[3];
    uint32_t i;
    host_check(subsweep_select_plan_create(device, &of_plan, &plan), "subsweep_select_plan_create");
    EXPECT((subsweep_plan_max_count(plan) == UINT32_MAX) == (index_words == 1));
    EXPECT(strstr(subsweep_plan_policy(plan), "reduce-then-scan") != NULL);
    for (i = 0; i < COUNT; i++) {
        const float key = (float)(number(i) % 2000) / 8.0f - 100.0f;
        memcpy(&keys->words[i], &key, sizeof key);
        values->words[2 * i] = number(i);
        values->words[2 * i + 1] = i;
        sizes[key < operands[0] ? 0 : key >= operands[1] && key < operands[2] ? 1 : 2]++;
    }
    for (i = 0; i < 3; i++) {
        memcpy(&info.operands[i], &operands[i], sizeof operands[i]);
    }
    info.source = all(keys);
    info.values = all(values);
    info.destination = all(parted);
    info.destination_values = all(moved);
    info.destination_indices = all(indices);
    info.result_counts = all(counts);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_select, plan, &info);
    EXPECT(counts->words[0] == sizes[0] && counts->words[index_words] == sizes[1]);
    next[0] = 0;
    next[1] = sizes[0];
    next[2] = sizes[0] + sizes[1];
    for (i = 0; i < COUNT; i++) {
        float key;
        uint32_t to;
        memcpy(&key, &keys->words[i], sizeof key);
        to = next[key < operands[0] ? 0 : key >= operands[1] && key < operands[2] ? 1 : 2]++;
        if (parted->words[to] != keys->words[i] || indices->words[index_words * to] != i || moved->words[2 * to] != number(i) ||
            moved->words[2 * to + 1] != i) {
            break;
        }
    }
    EXPECT(i == COUNT);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void partition_in_three(const Host *host, const SubsweepDevice *device) {
    partition_by(host, device, 0);
    partition_by(host, device, SUBSWEEP_SELECT_LARGE_COUNTS_BIT);
}

static void refuse_selections(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepSelectPlanCreateInfo of_plan = {.struct_size = sizeof of_plan};
    SubsweepSelectInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "words per element");
    of_plan.words_per_element = 1;
    of_plan.by = 5;
    REFUSE(subsweep_select_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "by");
    of_plan.by = SUBSWEEP_SELECT_BY_FLAGS8;
    of_plan.flags = 2 * SUBSWEEP_SELECT_LARGE_COUNTS_BIT;
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
