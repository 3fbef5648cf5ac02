// Main path of a kernel: the part whose instructions per element are counted.

#ifndef SUBSWEEP_MAIN_PATH
#define SUBSWEEP_MAIN_PATH

#include "common/constants.glsl"

// Compiles the main path alone: every tile is full, and no workgroup stalls. No plan sets it, since the kernel is
// then wrong for all other tiles.
layout(constant_id = ID_MAIN_PATH) const bool MAIN_PATH = false;

#endif
