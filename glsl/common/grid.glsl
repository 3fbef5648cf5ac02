// Workgroup counts of an indirect dispatch: several rows where one row is too short.
//
// Needs:    nothing
// Gives:    ceil_div, store_grid
// Shared:   none
// Barriers: none

#ifndef SUBSWEEP_GRID
#define SUBSWEEP_GRID

#include "common/address.glsl"

uint ceil_div(uint dividend, uint divisor) {
    return dividend / divisor + (dividend % divisor == 0 ? 0 : 1);
}

// Writes the three workgroup counts, with at most `max_row` workgroups in a row. Every device allows 65,535 rows of
// as many; the host rejects larger dispatches.
void store_grid(Words words, uint workgroup_count, uint max_row) {
    uint grid_rows = max(ceil_div(workgroup_count, max_row), 1);
    words.word[0] = ceil_div(workgroup_count, grid_rows);
    words.word[1] = grid_rows;
    words.word[2] = 1;
}

#endif
