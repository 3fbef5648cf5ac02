// What an operator module does, as its specialization constants name it; `operator.rs` has the same numbers.

#ifndef SUBSWEEP_OPERATOR_NAMES
#define SUBSWEEP_OPERATOR_NAMES

const uint ADD = 0;
const uint MUL = 1;
const uint MIN = 2;
const uint MAX = 3;
const uint AND = 4;
const uint OR = 5;
const uint XOR = 6;

// How an element's words are read.
const uint UNSIGNED = 0;
const uint SIGNED = 1;
const uint FLOAT = 2;

#endif
