// Histograms of offsets: RADIX low words, and with WIDE_OFFSETS then RADIX high words.

#include "common/counts.glsl"
#include "sort/pass.glsl"

const uint HISTOGRAM_WORDS = OFFSET_WORDS * RADIX;

uvec2 load_offset(Words histogram, uint bin) {
    return uvec2(histogram.word[bin], WIDE_OFFSETS ? histogram.word[RADIX + bin] : 0);
}

void store_offset(Words histogram, uint bin, uvec2 offset) {
    histogram.word[bin] = offset.x;
    if (WIDE_OFFSETS) {
        histogram.word[RADIX + bin] = offset.y;
    }
}
