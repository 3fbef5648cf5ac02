// Values of the specialization constants OPERATOR and NUMBERS; `operator.rs` has the same numbers.

#ifndef SUBSWEEP_OPERATOR_NAMES
#define SUBSWEEP_OPERATOR_NAMES

#include "common/constants.glsl"

const uint ADD = 0;
const uint MUL = 1;
const uint MIN = 2;
const uint MAX = 3;
const uint AND = 4;
const uint OR = 5;
const uint XOR = 6;

// The number type of an element's words.
const uint UNSIGNED = 0;
const uint SIGNED = 1;
const uint FLOAT = 2;
// Of keys alone: floats in numpy's order, and the high half of an f32 in it.
const uint NUMPY_FLOAT = 3;
const uint NUMPY_BRAIN_FLOAT = 4;

#endif
