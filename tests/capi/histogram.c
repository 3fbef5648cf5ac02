/* Histograms: the layout of the structures, counts for an indirect count, edges, and refusals. */

#include "expect.h"

enum { COUNT = 5000, BINS = 10, COLUMNS = 2 };

FIRST_VERSION(SubsweepHistogramPlanCreateInfo, column_count, 16, 20);
FIRST_VERSION(SubsweepHistogramInfo, scratch, 88, 128);

/* Counts two columns of floats, for a count on the device of `stored` rows. */
static void count_columns(const Host *host, const SubsweepDevice *device, uint32_t stored) {
    SubsweepHistogramPlanCreateInfo of_plan = {
        .struct_size = sizeof of_plan,
        .flags = SUBSWEEP_HISTOGRAM_INDIRECT_COUNT_BIT | SUBSWEEP_HISTOGRAM_EVEN_BIT,
        .element_type = SUBSWEEP_ELEMENT_TYPE_F32,
        .bin_count = BINS,
        .column_count = COLUMNS};
    SubsweepHistogramInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    uint32_t expected[COLUMNS * BINS] = {0};
    Arrays arrays = {.host = host};
    Memory *count = array(&arrays, 4);
    Memory *rows = array(&arrays, 4 * COLUMNS * COUNT);
    Memory *weights = array(&arrays, 4 * COLUMNS * COUNT);
    Memory *edges = array(&arrays, 4 * (BINS + 1));
    Memory *counts = array(&arrays, sizeof expected);
    uint32_t i, bin;
    host_check(subsweep_histogram_plan_create(device, &of_plan, &plan), "subsweep_histogram_plan_create");
    EXPECT(strstr(subsweep_plan_policy(plan), "histogram") != NULL);
    EXPECT(subsweep_plan_max_count(plan) == UINT32_MAX);
    host_check(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_F32, BINS, -1.0, 0.5, edges->words),
               "subsweep_histogram_even_edges");
    count->words[0] = stored;
    for (i = 0; i < COLUMNS * COUNT; i++) {
        const float value = (float)(number(i) % 2000) / 1000.0f - 1.25f;
        memcpy(&rows->words[i], &value, sizeof value);
        for (bin = 0; bin < BINS && i / COLUMNS < stored; bin++) {
            float low, high;
            memcpy(&low, &edges->words[bin], sizeof low);
            memcpy(&high, &edges->words[bin + 1], sizeof high);
            if (value >= low && (value < high || (bin + 1 == BINS && value == high))) {
                expected[i % COLUMNS * BINS + bin]++;
            }
        }
    }
    info.count.address = count->address;
    info.source = all(rows);
    info.edges = all(edges);
    info.counts = all(counts);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_histogram, plan, &info);
    EXPECT(memcmp(counts->words, expected, sizeof expected) == 0);
    subsweep_plan_destroy(plan);

    /* Each value with the weight 3. */
    of_plan.flags |= SUBSWEEP_HISTOGRAM_WEIGHTED_BIT;
    host_check(subsweep_histogram_plan_create(device, &of_plan, &plan), "subsweep_histogram_plan_create");
    for (i = 0; i < COLUMNS * COUNT; i++) {
        weights->words[i] = 3;
    }
    info.weights = all(weights);
    RUN(host, subsweep_cmd_histogram, plan, &info);
    for (i = 0; i < COLUMNS * BINS; i++) {
        EXPECT(counts->words[i] == 3 * expected[i]);
    }
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

static void refuse_histograms(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    SubsweepHistogramPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .column_count = 1};
    SubsweepHistogramInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepScratchRequirements needs = {.size = 1};
    SubsweepPlan *plan = NULL;
    uint32_t edges[3] = {7, 7, 7};
    double wide[3];
    REFUSE(subsweep_histogram_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "bins of a histogram");
    of_plan.bin_count = 2;
    of_plan.flags = 8;
    REFUSE(subsweep_histogram_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE,
           "SubsweepHistogramFlags");
    of_plan.flags = 0;
    of_plan.element_type = SUBSWEEP_ELEMENT_TYPE_I32;
    of_plan.column_count = 65537;
    REFUSE(subsweep_histogram_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED,
           "columns of a histogram");
    of_plan.column_count = 1;
    host_check(subsweep_histogram_plan_create(device, &of_plan, &plan), "subsweep_histogram_plan_create");
    EXPECT(subsweep_plan_scratch_requirements(plan, 0, 0, &needs) == VK_SUCCESS && needs.size == 0);
    info.source = part(memory, 0, 40);
    info.edges = part(memory, 40, 12);
    info.counts = part(memory, 48, 8);
    REFUSE(subsweep_cmd_histogram(plan, commands, &info), SUBSWEEP_ERROR_OVERLAP, "counts");
    info.counts.address = 0;
    REFUSE(subsweep_cmd_histogram(plan, commands, &info), SUBSWEEP_ERROR_NULL, "counts has 8 bytes");
    info.counts = part(memory, 64, 8);
    info.edges.size = 8;
    REFUSE(subsweep_cmd_histogram(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "edges");
    info.count.count = (uint64_t)1 << 32;
    REFUSE(subsweep_cmd_histogram(plan, commands, &info), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "4294967295");
    subsweep_plan_destroy(plan);

    REFUSE(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_U32, 2, 0.0, 1.0, NULL), SUBSWEEP_ERROR_NULL, "edges");
    REFUSE(subsweep_histogram_even_edges(12, 2, 0.0, 1.0, edges), SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    REFUSE(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_U32, 0, 0.0, 1.0, edges), SUBSWEEP_ERROR_UNSUPPORTED,
           "bins of a histogram");
    REFUSE(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_U32, 2, 1.0, 1.0, edges), SUBSWEEP_ERROR_UNSUPPORTED,
           "the range of a histogram");
    REFUSE(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_I32, 2, 0.0, 1e10, edges), SUBSWEEP_ERROR_UNSUPPORTED,
           "has no numbers of the type");
    EXPECT(edges[0] == 7 && edges[2] == 7);
    host_check(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_I32, 2, -3.0, 2.5, edges),
               "subsweep_histogram_even_edges");
    EXPECT(edges[0] == (uint32_t)-3 && edges[1] == 0 && edges[2] == 2);
    host_check(subsweep_histogram_even_edges(SUBSWEEP_ELEMENT_TYPE_F64, 2, -3.0, 2.0, wide), "subsweep_histogram_even_edges");
    EXPECT(wide[0] == -3.0 && wide[1] == -0.5 && wide[2] == 2.0);
}

static void count_all(const Host *host, const SubsweepDevice *device) {
    count_columns(host, device, COUNT);
    count_columns(host, device, 1234);
    count_columns(host, device, 0);
}

int main(void) {
    return test(COUNT, count_all, refuse_histograms);
}
