//! Opcodes of the instructions that are read.

pub const UNDEF: u32 = 1;
pub const NAME: u32 = 5;
pub const MEMBER_NAME: u32 = 6;
pub const LINE: u32 = 8;
pub const EXT_INST: u32 = 12;
pub const ENTRY_POINT: u32 = 15;
pub const EXECUTION_MODE: u32 = 16;
pub const CAPABILITY: u32 = 17;
pub const TYPE_VOID: u32 = 19;
pub const TYPE_BOOL: u32 = 20;
pub const TYPE_INT: u32 = 21;
pub const TYPE_FLOAT: u32 = 22;
pub const TYPE_VECTOR: u32 = 23;
pub const TYPE_MATRIX: u32 = 24;
pub const TYPE_IMAGE: u32 = 25;
pub const TYPE_SAMPLER: u32 = 26;
pub const TYPE_SAMPLED_IMAGE: u32 = 27;
pub const TYPE_ARRAY: u32 = 28;
pub const TYPE_RUNTIME_ARRAY: u32 = 29;
pub const TYPE_STRUCT: u32 = 30;
pub const TYPE_POINTER: u32 = 32;
pub const TYPE_FORWARD_POINTER: u32 = 39;
pub const CONSTANT_TRUE: u32 = 41;
pub const CONSTANT_FALSE: u32 = 42;
pub const CONSTANT: u32 = 43;
pub const CONSTANT_COMPOSITE: u32 = 44;
pub const CONSTANT_NULL: u32 = 46;
pub const SPEC_CONSTANT_TRUE: u32 = 48;
pub const SPEC_CONSTANT_FALSE: u32 = 49;
pub const SPEC_CONSTANT: u32 = 50;
pub const SPEC_CONSTANT_COMPOSITE: u32 = 51;
pub const SPEC_CONSTANT_OP: u32 = 52;
pub const FUNCTION: u32 = 54;
pub const FUNCTION_PARAMETER: u32 = 55;
pub const FUNCTION_END: u32 = 56;
pub const FUNCTION_CALL: u32 = 57;
pub const VARIABLE: u32 = 59;
pub const LOAD: u32 = 61;
pub const STORE: u32 = 62;
pub const COPY_MEMORY: u32 = 63;
pub const COPY_MEMORY_SIZED: u32 = 64;
pub const ACCESS_CHAIN: u32 = 65;
pub const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
pub const PTR_ACCESS_CHAIN: u32 = 67;
pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
pub const DECORATE: u32 = 71;
pub const MEMBER_DECORATE: u32 = 72;
pub const VECTOR_EXTRACT_DYNAMIC: u32 = 77;
pub const VECTOR_INSERT_DYNAMIC: u32 = 78;
pub const VECTOR_SHUFFLE: u32 = 79;
pub const COMPOSITE_CONSTRUCT: u32 = 80;
pub const COMPOSITE_EXTRACT: u32 = 81;
pub const COMPOSITE_INSERT: u32 = 82;
pub const COPY_OBJECT: u32 = 83;
pub const U_CONVERT: u32 = 113;
pub const S_CONVERT: u32 = 114;
pub const CONVERT_PTR_TO_U: u32 = 117;
pub const CONVERT_U_TO_PTR: u32 = 120;
pub const BITCAST: u32 = 124;
pub const S_NEGATE: u32 = 126;
pub const I_ADD: u32 = 128;
pub const I_SUB: u32 = 130;
pub const I_MUL: u32 = 132;
pub const U_DIV: u32 = 134;
pub const S_DIV: u32 = 135;
pub const U_MOD: u32 = 137;
pub const S_REM: u32 = 138;
#[cfg(test)]
pub const I_ADD_CARRY: u32 = 149;
#[cfg(test)]
pub const U_MUL_EXTENDED: u32 = 151;
pub const LOGICAL_EQUAL: u32 = 164;
pub const LOGICAL_NOT_EQUAL: u32 = 165;
pub const LOGICAL_OR: u32 = 166;
pub const LOGICAL_AND: u32 = 167;
pub const LOGICAL_NOT: u32 = 168;
pub const SELECT: u32 = 169;
pub const I_EQUAL: u32 = 170;
pub const I_NOT_EQUAL: u32 = 171;
pub const U_GREATER_THAN: u32 = 172;
pub const S_GREATER_THAN: u32 = 173;
pub const U_GREATER_THAN_EQUAL: u32 = 174;
pub const S_GREATER_THAN_EQUAL: u32 = 175;
pub const U_LESS_THAN: u32 = 176;
pub const S_LESS_THAN: u32 = 177;
pub const U_LESS_THAN_EQUAL: u32 = 178;
pub const S_LESS_THAN_EQUAL: u32 = 179;
pub const SHIFT_RIGHT_LOGICAL: u32 = 194;
pub const SHIFT_RIGHT_ARITHMETIC: u32 = 195;
pub const SHIFT_LEFT_LOGICAL: u32 = 196;
pub const BITWISE_OR: u32 = 197;
pub const BITWISE_XOR: u32 = 198;
pub const BITWISE_AND: u32 = 199;
pub const NOT: u32 = 200;
pub const CONTROL_BARRIER: u32 = 224;
pub const MEMORY_BARRIER: u32 = 225;
pub const ATOMIC_LOAD: u32 = 227;
pub const ATOMIC_STORE: u32 = 228;
pub const ATOMIC_EXCHANGE: u32 = 229;
pub const ATOMIC_COMPARE_EXCHANGE: u32 = 230;
pub const ATOMIC_COMPARE_EXCHANGE_WEAK: u32 = 231;
pub const ATOMIC_I_INCREMENT: u32 = 232;
pub const ATOMIC_I_DECREMENT: u32 = 233;
pub const ATOMIC_XOR: u32 = 242;
pub const PHI: u32 = 245;
pub const LOOP_MERGE: u32 = 246;
pub const SELECTION_MERGE: u32 = 247;
pub const LABEL: u32 = 248;
pub const BRANCH: u32 = 249;
pub const BRANCH_CONDITIONAL: u32 = 250;
pub const SWITCH: u32 = 251;
pub const RETURN_VALUE: u32 = 254;
pub const UNREACHABLE: u32 = 255;
pub const LIFETIME_STOP: u32 = 257;
pub const NO_LINE: u32 = 317;
pub const EXECUTION_MODE_ID: u32 = 331;
#[cfg(test)]
pub const GROUP_NON_UNIFORM_ELECT: u32 = 333;
#[cfg(test)]
pub const GROUP_NON_UNIFORM_BALLOT: u32 = 339;
pub const GROUP_NON_UNIFORM_BALLOT_BIT_COUNT: u32 = 342;
pub const GROUP_NON_UNIFORM_I_ADD: u32 = 349;
pub const GROUP_NON_UNIFORM_LOGICAL_XOR: u32 = 364;
#[cfg(test)]
pub const GROUP_NON_UNIFORM_QUAD_SWAP: u32 = 366;
pub const COPY_LOGICAL: u32 = 400;
pub const PTR_EQUAL: u32 = 401;
pub const PTR_NOT_EQUAL: u32 = 402;
pub const PTR_DIFF: u32 = 403;
pub const ATOMIC_F_MIN: u32 = 5614;
pub const ATOMIC_F_MAX: u32 = 5615;
pub const ATOMIC_F_ADD: u32 = 6035;

/// The name of an instruction in an error.
pub fn name(opcode: u32) -> String {
    match opcode {
        LOAD => "OpLoad".to_owned(),
        STORE => "OpStore".to_owned(),
        COPY_MEMORY | COPY_MEMORY_SIZED => "OpCopyMemory".to_owned(),
        ATOMIC_LOAD => "OpAtomicLoad".to_owned(),
        ATOMIC_STORE => "OpAtomicStore".to_owned(),
        ATOMIC_EXCHANGE..=ATOMIC_XOR | ATOMIC_F_MIN | ATOMIC_F_MAX | ATOMIC_F_ADD => {
            format!("an atomic instruction ({opcode})")
        }
        CONTROL_BARRIER => "OpControlBarrier".to_owned(),
        EXT_INST => "OpExtInst".to_owned(),
        _ => format!("instruction {opcode}"),
    }
}
