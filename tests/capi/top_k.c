/* Top-k: the layout of the structures, rows for an indirect count, and refusals. */

#include "expect.h"

enum { COUNT = 50, COLUMNS = 100, K = 7, VALUE_WORDS = 3 };

FIRST_VERSION(SubsweepTopKPlanCreateInfo, words_per_value, 20, 24);
FIRST_VERSION(SubsweepTopKInfo, scratch, 104, 144);

/* Whether key `a` of a row comes before key `b`. */
static int is_before(const uint32_t *row, uint32_t a, uint32_t b, int is_smallest) {
    if (row[a] == row[b]) {
        return a < b;
    }
    return (row[a] < row[b]) == is_smallest;
}

/* Selects of rows, for a count on the device of `stored` rows. */
static void select_of_rows(const Host *host, const SubsweepDevice *device, uint32_t stored, int is_smallest) {
    const SubsweepTopKPlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_TOP_K_INDIRECT_COUNT_BIT | (is_smallest ? SUBSWEEP_TOP_K_SMALLEST_BIT : 0u),
        .element_type = SUBSWEEP_ELEMENT_TYPE_U32,
        .column_count = COLUMNS,
        .k = K,
        .words_per_value = VALUE_WORDS};
    SubsweepTopKInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *count = array(&arrays, 4);
    Memory *rows = array(&arrays, 4 * COLUMNS * COUNT);
    Memory *row_values = array(&arrays, 4 * VALUE_WORDS * COLUMNS * COUNT);
    Memory *keys = array(&arrays, 4 * K * COUNT);
    Memory *indices = array(&arrays, 4 * K * COUNT);
    Memory *values = array(&arrays, 4 * VALUE_WORDS * K * COUNT);
    uint32_t i, column, other, rank;
    host_check(subsweep_top_k_plan_create(device, &of_plan, &plan), "subsweep_top_k_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "top-k") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT32_MAX);
    count->words[0] = stored;
    for (i = 0; i < COLUMNS * COUNT; i++) {
        rows->words[i] = number(i) % 60;
    }
    for (i = 0; i < VALUE_WORDS * COLUMNS * COUNT; i++) {
        row_values->words[i] = number(i + 1);
    }
    info.count.address = count->address;
    info.source = all(rows);
    info.destination = all(keys);
    info.destination_indices = all(indices);
    info.source_values = all(row_values);
    info.destination_values = all(values);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_top_k, plan, &info);
    for (i = 0; i < COUNT; i++) {
        const uint32_t *row = rows->words + COLUMNS * i;
        for (column = 0; column < COLUMNS && i < stored; column++) {
            rank = 0;
            for (other = 0; other < COLUMNS; other++) {
                rank += is_before(row, other, column, is_smallest) ? 1u : 0u;
            }
            if (rank < K) {
                EXPECT(indices->words[K * i + rank] == column && keys->words[K * i + rank] == row[column]);
                EXPECT(memcmp(&values->words[VALUE_WORDS * (K * i + rank)],
                              &row_values->words[VALUE_WORDS * (COLUMNS * i + column)], 4 * VALUE_WORDS) == 0);
            }
        }
        for (rank = 0; rank < K && i >= stored; rank++) {
            EXPECT(indices->words[K * i + rank] == UNWRITTEN && keys->words[K * i + rank] == UNWRITTEN);
            EXPECT(values->words[VALUE_WORDS * (K * i + rank)] == UNWRITTEN);
        }
    }
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

/* Rows of 0 to 6 keys, each with a k of its own, of which the slots that are not used are known. */
static void select_of_segments(const Host *host, const SubsweepDevice *device) {
    const SubsweepTopKPlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_TOP_K_SEGMENTS_BIT | SUBSWEEP_TOP_K_OWN_K_BIT,
        .element_type = SUBSWEEP_ELEMENT_TYPE_U32,
        .column_count = 6,
        .k = 3};
    static const uint32_t begins[] = {1, 3, 3, 9}, ks_of_rows[] = {3, 1, 2, 0};
    static const uint32_t expected[] = {20, 10, 0, 0, 0, 0, 80, 70, 0, 0, 0, 0};
    static const uint32_t columns[] = {1, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                       5, 4, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    SubsweepTopKInfo info = {.struct_size = sizeof info, .count = {.count = 4}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *keys = array(&arrays, 40), *segments = array(&arrays, 16), *ks = array(&arrays, 16);
    Memory *top = array(&arrays, 48), *indices = array(&arrays, 48);
    uint32_t i;
    host_check(subsweep_top_k_plan_create(device, &of_plan, &plan), "subsweep_top_k_plan_create");
    for (i = 0; i < 10; i++) {
        keys->words[i] = 10 * i;
    }
    memcpy(segments->words, begins, sizeof begins);
    memcpy(ks->words, ks_of_rows, sizeof ks_of_rows);
    info.source = all(keys);
    info.segments = all(segments);
    info.ks = all(ks);
    info.destination = all(top);
    info.destination_indices = all(indices);
    info.scratch = scratch_of(&arrays, plan, 4, 0);
    RUN(host, subsweep_cmd_top_k, plan, &info);
    EXPECT(memcmp(top->words, expected, sizeof expected) == 0);
    EXPECT(memcmp(indices->words, columns, sizeof columns) == 0);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void refuse(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepTopKPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .column_count = 4, .k = 5};
    SubsweepTopKInfo info = {.struct_size = sizeof info, .count = {.count = 2}};
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "k of a top-k");
    of_plan.k = 0;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "k of a top-k");
    of_plan.k = 2;
    of_plan.flags = 2 * SUBSWEEP_TOP_K_OWN_K_BIT;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepTopKFlags");
    of_plan.flags = SUBSWEEP_TOP_K_NO_KEYS_BIT | SUBSWEEP_TOP_K_NO_INDICES_BIT;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "keys, indices or values");
    of_plan.words_per_value = 4097;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "words per value");
    of_plan.words_per_value = 0;
    of_plan.flags = SUBSWEEP_TOP_K_NO_INDICES_BIT | SUBSWEEP_TOP_K_UNSORTED_BIT;
    of_plan.element_type = 12;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    of_plan.element_type = SUBSWEEP_ELEMENT_TYPE_F32;
    of_plan.column_count = 0;
    REFUSE(subsweep_top_k_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "columns of a top-k");
    of_plan.column_count = 4;
    host_check(subsweep_top_k_plan_create(device, &of_plan, &plan), "subsweep_top_k_plan_create");
    info.source = part(memory, 0, 32);
    info.destination = part(memory, 16, 16);
    REFUSE(subsweep_cmd_top_k(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "destination");
    info.destination.size = 12;
    REFUSE(subsweep_cmd_top_k(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "destination");
    info.destination.address = 0;
    info.destination.size = 16;
    REFUSE(subsweep_cmd_top_k(plan, commands, &info), SUBSWEEP_ERROR_NULL, "destination has 16 bytes");
    info.destination = part(memory, 40, 16);
    info.count.count = (uint64_t)1 << 32;
    REFUSE(subsweep_cmd_top_k(plan, commands, &info), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "4294967295");
    subsweep_plan_destroy(plan);
}

static void select_all(const Host *host, const SubsweepDevice *device) {
    select_of_rows(host, device, COUNT, 0);
    select_of_rows(host, device, 17, 1);
    select_of_rows(host, device, 0, 0);
    select_of_segments(host, device);
}

int main(void) {
    return test(COUNT * COLUMNS, select_all, refuse);
}
