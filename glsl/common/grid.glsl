// How an indirect dispatch is written: rows of workgroups where one is too short for all.

#ifndef SUBSWEEP_GRID
#define SUBSWEEP_GRID

#include "common/address.glsl"

uint ceil_div(uint dividend, uint divisor) {
    return dividend / divisor + (dividend % divisor == 0 ? 0 : 1);
}

// Writes the first three words: workgroups in each dimension, up to `max_row` of them in a row. Every device allows 65,535
// rows of as many; whoever dispatches more workgroups than that is refused by the host.
void store_grid(Words words, uint workgroup_count, uint max_row) {
    uint grid_rows = max(ceil_div(workgroup_count, max_row), 1);
    words.word[0] = ceil_div(workgroup_count, grid_rows);
    words.word[1] = grid_rows;
    words.word[2] = 1;
}

#endif
