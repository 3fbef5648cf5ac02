/* Structure sorts: the layout of the structures, results in each form, and refusals. */

#include "expect.h"

enum { COUNT = 3000, WORDS = 3, SIZE = 4 * WORDS };

FIRST_VERSION(SubsweepStructureSortPlanCreateInfo, fields, 16, 112);
FIRST_VERSION(SubsweepStructureSortInfo, scratch, 72, 112);

/* A structure: a byte, whose order is descending, at offset 1, and a float at offset 8. */
static SubsweepStructureSortPlanCreateInfo plan_of(SubsweepStructureSortFlags flags) {
    SubsweepStructureSortPlanCreateInfo info = {
        .struct_size = sizeof info, .flags = flags, .structure_size = SIZE, .field_count = 2};
    info.fields[0].element_type = SUBSWEEP_ELEMENT_TYPE_U8;
    info.fields[0].offset = 1;
    info.fields[0].flags = SUBSWEEP_FIELD_DESCENDING_BIT;
    info.fields[1].element_type = SUBSWEEP_ELEMENT_TYPE_F32;
    info.fields[1].offset = 8;
    info.fields[1].flags = SUBSWEEP_FIELD_NUMPY_ORDER_BIT;
    return info;
}

/* Whether structure `a` comes before structure `b`, or is equal to it. */
static int is_in_order(const uint32_t *a, const uint32_t *b) {
    const uint32_t first = a[0] >> 8 & 0xff, second = b[0] >> 8 & 0xff;
    float x, y;
    if (first != second) {
        return first > second;
    }
    memcpy(&x, &a[2], sizeof x);
    memcpy(&y, &b[2], sizeof y);
    /* Equal ones keep their order: the order of their second words. */
    return x < y || (x == y && a[1] < b[1]);
}

static void sort(const Host *host, const SubsweepDevice *device, SubsweepStructureSortFlags flags) {
    const SubsweepStructureSortPlanCreateInfo of_plan = plan_of(flags);
    SubsweepStructureSortInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *structures = array(&arrays, SIZE * COUNT);
    Memory *sorted = array(&arrays, SIZE * COUNT);
    Memory *indices = array(&arrays, 4 * COUNT);
    Memory *count = array(&arrays, 4);
    const uint32_t *result = structures->words;
    uint32_t i;
    host_check(subsweep_structure_sort_plan_create(device, &of_plan, &plan), "subsweep_structure_sort_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "structure sort") != NULL);
    EXPECT(subsweep_plan_max_count(plan) > COUNT);
    for (i = 0; i < COUNT; i++) {
        const float number_of = (float)(number(i) % 50) / 4.0f - 6.0f;
        structures->words[WORDS * i] = number(i + COUNT) & 0x3ff;
        structures->words[WORDS * i + 1] = i;
        memcpy(&structures->words[WORDS * i + 2], &number_of, sizeof number_of);
    }
    count->words[0] = COUNT;
    info.structures = all(structures);
    if (flags & SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT) {
        info.sorted = all(sorted);
        result = sorted->words;
    }
    if (flags & SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT) {
        info.indices = all(indices);
    }
    if (flags & SUBSWEEP_STRUCTURE_SORT_INDIRECT_COUNT_BIT) {
        info.count.address = count->address;
    }
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_structure_sort, plan, &info);
    for (i = 1; i < COUNT; i++) {
        const uint32_t *a = result + WORDS * (i - 1), *b = result + WORDS * i;
        if (flags & SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT) {
            a = structures->words + WORDS * indices->words[i - 1];
            b = structures->words + WORDS * indices->words[i];
        }
        if (!is_in_order(a, b)) {
            break;
        }
    }
    EXPECT(i == COUNT);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void sorts(const Host *host, const SubsweepDevice *device) {
    sort(host, device, 0);
    sort(host, device, SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT | SUBSWEEP_STRUCTURE_SORT_INDIRECT_COUNT_BIT);
    sort(host, device, SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT);
}

static void refuse_sorts(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepStructureSortPlanCreateInfo of_plan = plan_of(8);
    SubsweepStructureSortInfo info = {.struct_size = sizeof info, .count = {.count = 5}};
    SubsweepPlan *plan = NULL;
#define REFUSE_PLAN(code, words) REFUSE(subsweep_structure_sort_plan_create(device, &of_plan, &plan), code, words)
    REFUSE_PLAN(SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepStructureSortFlags");
    of_plan.flags = SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT | SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNKNOWN_VALUE, "an argsort moves no structures");
    of_plan = plan_of(0);
    of_plan.field_count = 9;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNKNOWN_VALUE, "SUBSWEEP_MAX_FIELDS");
    of_plan.field_count = 0;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNSUPPORTED, "fields of a key");
    of_plan = plan_of(0);
    of_plan.fields[0].flags = 4;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepFieldFlags");
    of_plan.fields[0].flags = 0;
    of_plan.fields[0].element_type = 12;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    of_plan = plan_of(0);
    of_plan.fields[1].offset = 9;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNSUPPORTED, "a multiple of its size");
    of_plan.fields[1].offset = SIZE;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNSUPPORTED, "last byte of a field");
    of_plan = plan_of(0);
    of_plan.structure_size = 10;
    REFUSE_PLAN(SUBSWEEP_ERROR_UNSUPPORTED, "multiple of 4 bytes");
    of_plan = plan_of(0);
    host_check(subsweep_structure_sort_plan_create(device, &of_plan, &plan), "subsweep_structure_sort_plan_create");
    info.structures = part(memory, 0, 5 * SIZE - 4);
    REFUSE(subsweep_cmd_structure_sort(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "structures");
    info.structures = part(memory, 0, 5 * SIZE);
    info.sorted = part(memory, 5 * SIZE, 5 * SIZE);
    REFUSE(subsweep_cmd_structure_sort(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "out_of_place");
    subsweep_plan_destroy(plan);
}

int main(void) {
    return test(COUNT, sorts, refuse_sorts);
}
