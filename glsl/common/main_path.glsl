// A kernel's main path, of which instructions an element are counted.

#ifndef SUBSWEEP_MAIN_PATH
#define SUBSWEEP_MAIN_PATH

// Whether the kernel is its main path alone: every tile is full, and no workgroup that is waited for has stalled. No plan sets
// it, since the kernel is wrong then for every other tile.
layout(constant_id = 17) const bool MAIN_PATH = false;

#endif
