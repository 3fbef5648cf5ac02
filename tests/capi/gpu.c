/* A device of the library's own: arrays of the host are sorted, scanned and reduced, and what cannot be is refused. */

#define _POSIX_C_SOURCE 200112L

#include <pthread.h>
#include <stdlib.h>

#include "expect.h"

enum { COUNT = 20000 };

static uint32_t words[COUNT], indices[COUNT];
static uint64_t wide[COUNT], wide_values[COUNT], wide_sorted[COUNT];

static int compare(const void *a, const void *b) {
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static void fill(void) {
    uint32_t i;
    for (i = 0; i < COUNT; i++) {
        words[i] = number(i);
        indices[i] = i;
        wide[i] = wide_sorted[i] = (uint64_t)number(i) << 32 | number(i + COUNT);
        wide_values[i] = ~wide[i];
    }
    /* By their upper words, the words: they are all different. */
    qsort(wide_sorted, COUNT, sizeof *wide_sorted, compare);
}

static void sorts(const SubsweepGpu *gpu) {
    SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info, .algorithm = "radix-4bit"};
    uint32_t i;
    fill();
    EXPECT(subsweep_gpu_sort(gpu, &info, words, NULL, COUNT) == VK_SUCCESS);
    for (i = 0; i < COUNT && words[i] == wide_sorted[i] >> 32; i++) {
    }
    EXPECT(i == COUNT);

    fill();
    info.values = SUBSWEEP_SORT_VALUES_ARGSORT;
    info.flags = SUBSWEEP_SORT_DESCENDING_BIT;
    EXPECT(subsweep_gpu_sort(gpu, &info, words, indices, COUNT) == VK_SUCCESS);
    for (i = 0; i < COUNT && words[i] == number(i) && indices[i] < COUNT &&
                words[indices[i]] == wide_sorted[COUNT - 1 - i] >> 32;
         i++) {
    }
    EXPECT(i == COUNT);

    info.key_type = SUBSWEEP_ELEMENT_TYPE_U64;
    info.values = SUBSWEEP_SORT_VALUES_8_BYTES;
    /* Forms of memory are for recordings. */
    info.flags = SUBSWEEP_SORT_DOUBLE_BUFFER_BIT | SUBSWEEP_SORT_INDIRECT_COUNT_BIT;
    EXPECT(subsweep_gpu_sort(gpu, &info, wide, wide_values, COUNT) == VK_SUCCESS);
    for (i = 0; i < COUNT && wide[i] == wide_sorted[i] && wide_values[i] == ~wide[i]; i++) {
    }
    EXPECT(i == COUNT);
}

/* Values of any multiple of 4 bytes. */
static void sorts_of_wide_values(const SubsweepGpu *gpu) {
    SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info};
    static uint32_t values[COUNT][5];
    uint32_t i;
    fill();
    for (i = 0; i < COUNT; i++) {
        values[i][0] = words[i];
        values[i][4] = ~words[i];
    }
    info.values = SUBSWEEP_SORT_VALUES_PAIRS;
    info.value_size = sizeof values[0];
    EXPECT(subsweep_gpu_sort(gpu, &info, words, values, COUNT) == VK_SUCCESS);
    for (i = 0; i < COUNT && words[i] == wide_sorted[i] >> 32 && values[i][0] == words[i] && values[i][4] == ~words[i];
         i++) {
    }
    EXPECT(i == COUNT);
    info.value_size = 6;
    REFUSE(subsweep_gpu_sort(gpu, &info, words, values, COUNT), SUBSWEEP_ERROR_UNSUPPORTED, "a multiple of 4 bytes");
    info.values = SUBSWEEP_SORT_VALUES_4_BYTES;
    REFUSE(subsweep_gpu_sort(gpu, &info, words, values, COUNT), SUBSWEEP_ERROR_UNKNOWN_VALUE, "value_size");
}

/* Each row of a table by itself, with the indices in it. */
static void sorts_of_rows(const SubsweepGpu *gpu) {
    SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info, .row_length = 3};
    uint16_t table[] = {7, 9, 8, 2, 1, 1};
    uint32_t order[6];
    info.key_type = SUBSWEEP_ELEMENT_TYPE_U16;
    info.values = SUBSWEEP_SORT_VALUES_INDICES;
    EXPECT(subsweep_gpu_sort(gpu, &info, table, order, 6) == VK_SUCCESS);
    EXPECT(table[0] == 7 && table[1] == 8 && table[2] == 9 && table[3] == 1 && table[4] == 1 && table[5] == 2);
    EXPECT(order[0] == 0 && order[1] == 2 && order[2] == 1 && order[3] == 1 && order[4] == 2 && order[5] == 0);
    REFUSE(subsweep_gpu_sort(gpu, &info, table, order, 5), SUBSWEEP_ERROR_UNSUPPORTED, "5 values are not whole rows of 3");
}

static void scans(const SubsweepGpu *gpu) {
    SubsweepScanPlanCreateInfo info = {.struct_size = sizeof info};
    uint32_t sum = 0, i;
    fill();
    EXPECT(subsweep_gpu_scan(gpu, &info, words, COUNT) == VK_SUCCESS);
    for (i = 0; i < COUNT && words[i] == (sum += number(i)); i++) {
    }
    EXPECT(i == COUNT);

    fill();
    info.kind = SUBSWEEP_SCAN_KIND_EXCLUSIVE;
    info.column_count = 2;
    EXPECT(subsweep_gpu_scan(gpu, &info, words, COUNT / 2) == VK_SUCCESS);
    EXPECT(words[0] == 0 && words[1] == 0 && words[4] == number(0) + number(2) && words[5] == number(1) + number(3));

    fill();
    info.column_count = 1;
    info.row_length = 1000;
    info.direction = SUBSWEEP_SCAN_DIRECTION_REVERSE;
    EXPECT(subsweep_gpu_scan(gpu, &info, words, COUNT) == VK_SUCCESS);
    EXPECT(words[999] == 0 && words[998] == number(999) && words[1997] == number(1998) + number(1999));
}

static void reductions(const SubsweepGpu *gpu) {
    SubsweepReducePlanCreateInfo info = {.struct_size = sizeof info, .element_type = SUBSWEEP_ELEMENT_TYPE_U64};
    uint64_t sum = 0, reduced = 0;
    uint32_t rows[3] = {1, 2, 3}, greatest = 0, i;
    fill();
    for (i = 0; i < COUNT; i++) {
        sum += wide[i];
        greatest = words[i] > words[greatest] ? i : greatest;
    }
    EXPECT(subsweep_gpu_reduce(gpu, &info, wide, COUNT, &reduced) == VK_SUCCESS && reduced == sum);
    EXPECT(subsweep_gpu_reduce(gpu, &info, NULL, 0, &reduced) == VK_SUCCESS && reduced == 0);
    info.element_type = SUBSWEEP_ELEMENT_TYPE_U32;
    info.scan_operator = SUBSWEEP_SCAN_OPERATOR_MAX;
    info.flags = SUBSWEEP_REDUCE_INDEX_BIT;
    EXPECT(subsweep_gpu_reduce(gpu, &info, words, COUNT, rows) == VK_SUCCESS);
    EXPECT(rows[0] == greatest && rows[1] == 2);
    info.flags = 0;
    info.row_length = 12000;
    EXPECT(subsweep_gpu_reduce(gpu, &info, words, COUNT, rows) == VK_SUCCESS);
    EXPECT((rows[0] == words[greatest] || rows[1] == words[greatest]) && rows[0] != rows[1] && rows[2] == 3);
    EXPECT(subsweep_gpu_reduce(gpu, &info, NULL, 0, NULL) == VK_SUCCESS);
}

/* Everything is refused before an array is touched. */
static void refusals(const SubsweepGpu *gpu) {
    SubsweepSortPlanCreateInfo sort = {.struct_size = sizeof sort};
    SubsweepScanPlanCreateInfo scan = {.struct_size = sizeof scan};
    SubsweepReducePlanCreateInfo reduce = {.struct_size = sizeof reduce};
    char *const odd = (char *)words + 2;
    uint32_t sum = 0, i;
    fill();
    REFUSE(subsweep_gpu_sort(NULL, &sort, words, NULL, COUNT), SUBSWEEP_ERROR_NULL, "gpu is null");
    REFUSE(subsweep_gpu_sort(gpu, NULL, words, NULL, COUNT), SUBSWEEP_ERROR_NULL, "SubsweepSortPlanCreateInfo is null");
    REFUSE(subsweep_gpu_sort(gpu, &sort, NULL, NULL, COUNT), SUBSWEEP_ERROR_NULL, "keys is null");
    REFUSE(subsweep_gpu_sort(gpu, &sort, odd, NULL, 8), SUBSWEEP_ERROR_MISALIGNED, "keys");
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, NULL, UINT64_MAX), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "18446744073709551615");
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, indices, COUNT), SUBSWEEP_ERROR_UNSUPPORTED, "no values");
    sort.values = SUBSWEEP_SORT_VALUES_4_BYTES;
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, NULL, COUNT), SUBSWEEP_ERROR_NULL, "values is null");
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, words + 9, 10), SUBSWEEP_ERROR_OVERLAP, "keys and values");
    EXPECT(subsweep_gpu_sort(gpu, &sort, NULL, NULL, 0) == VK_SUCCESS);
    sort.values = 6;
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, NULL, COUNT), SUBSWEEP_ERROR_UNKNOWN_VALUE, "values");
    sort.values = 0;
    sort.algorithm = "bogo";
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, NULL, COUNT), SUBSWEEP_ERROR_UNKNOWN_VALUE, "'bogo'");
    sort.struct_size = 3;
    REFUSE(subsweep_gpu_sort(gpu, &sort, words, NULL, COUNT), SUBSWEEP_ERROR_STRUCT_SIZE, "struct_size");

    for (i = SUBSWEEP_SEGMENTS_BY_FLAGS; i <= SUBSWEEP_SEGMENTS_BY_OFFSETS; i++) {
        scan.segments_by = i;
        REFUSE(subsweep_gpu_scan(gpu, &scan, words, COUNT), SUBSWEEP_ERROR_UNKNOWN_VALUE, "segments_by");
    }
    scan.segments_by = SUBSWEEP_SEGMENTS_BY_NONE;
    scan.flags = SUBSWEEP_SCAN_INITIAL_VALUE_BIT;
    REFUSE(subsweep_gpu_scan(gpu, &scan, words, COUNT), SUBSWEEP_ERROR_UNSUPPORTED, "initial value");
    scan.flags = 0;
    scan.element_type = SUBSWEEP_ELEMENT_TYPE_F32;
    scan.scan_operator = SUBSWEEP_SCAN_OPERATOR_XOR;
    REFUSE(subsweep_gpu_scan(gpu, &scan, words, COUNT), SUBSWEEP_ERROR_UNSUPPORTED, "whole numbers");

    REFUSE(subsweep_gpu_reduce(gpu, &reduce, words, COUNT, NULL), SUBSWEEP_ERROR_NULL, "results is null");
    reduce.runs = SUBSWEEP_REDUCE_RUNS_OFFSETS;
    REFUSE(subsweep_gpu_reduce(gpu, &reduce, words, COUNT, &sum), SUBSWEEP_ERROR_UNKNOWN_VALUE, "runs");
    for (i = 0; i < COUNT && words[i] == number(i) && indices[i] == i; i++) {
    }
    EXPECT(i == COUNT && sum == 0);
}

static void openings(void) {
    SubsweepGpu *gpu = (SubsweepGpu *)words;
    REFUSE(subsweep_gpu_open(NULL, NULL), SUBSWEEP_ERROR_NULL, "gpu is null");
    REFUSE(subsweep_gpu_open("nowhere", &gpu), VK_ERROR_INITIALIZATION_FAILED, "'nowhere'");
    EXPECT(gpu == NULL);
    REFUSE(subsweep_gpu_open("", &gpu), VK_ERROR_INITIALIZATION_FAILED, "matches");
    setenv("SUBSWEEP_DEVICE", "elsewhere", 1);
    REFUSE(subsweep_gpu_open(NULL, &gpu), VK_ERROR_INITIALIZATION_FAILED, "'elsewhere'");
    EXPECT(subsweep_gpu_open("0", &gpu) == VK_SUCCESS);
    subsweep_gpu_close(gpu);
    setenv("SUBSWEEP_DEVICE", "", 1);
    EXPECT(subsweep_gpu_open(NULL, &gpu) == VK_SUCCESS);
    subsweep_gpu_close(gpu);
    subsweep_gpu_close(NULL);
    EXPECT(strcmp(subsweep_gpu_name(NULL), "") == 0);
}

static void *sum_repeatedly(void *gpu) {
    SubsweepReducePlanCreateInfo info = {.struct_size = sizeof info};
    uint32_t all[1000], sum = 0, i;
    int is_right = 1;
    for (i = 0; i < 1000; i++) {
        all[i] = i;
    }
    for (i = 0; i < 20; i++) {
        is_right &= subsweep_gpu_reduce(gpu, &info, all, 1000, &sum) == VK_SUCCESS && sum == 499500;
    }
    return is_right ? gpu : NULL;
}

/* Threads take turns. */
static void threads(SubsweepGpu *gpu) {
    pthread_t other;
    void *result = NULL;
    EXPECT(pthread_create(&other, NULL, sum_repeatedly, gpu) == 0);
    EXPECT(sum_repeatedly(gpu) == gpu);
    EXPECT(pthread_join(other, &result) == 0 && result == gpu);
}

int main(void) {
    SubsweepGpu *gpu = NULL;
    openings();
    host_check(subsweep_gpu_open(NULL, &gpu), "subsweep_gpu_open");
    EXPECT(strlen(subsweep_gpu_name(gpu)) > 0);
    sorts(gpu);
    sorts_of_wide_values(gpu);
    sorts_of_rows(gpu);
    scans(gpu);
    reductions(gpu);
    refusals(gpu);
    threads(gpu);
    subsweep_gpu_close(gpu);
    return failure_count > 0;
}
