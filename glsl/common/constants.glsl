// Ids of specialization constants: a name has one id in all kernels, and an id one name. Kernels declare the constants
// that they use. Reports list constants in the order of their ids: units of work come first.

#ifndef SUBSWEEP_CONSTANTS
#define SUBSWEEP_CONSTANTS

#define ID_WORKGROUP_SIZE 0
#define ID_RUNS_PER_INVOCATION 1
#define ID_PACKS_PER_RUN 2
#define ID_RADIX_BITS 3
#define ID_CLUSTER_LANES 4
#define ID_ITEMS_PER_INVOCATION 5
#define ID_BATCHES_PER_CHUNK 6
#define ID_QUADS_PER_INVOCATION 7
#define ID_UNIT_WORDS 8
#define ID_UNITS_PER_ELEMENT 9
#define ID_TILE_ELEMENTS 10
#define ID_PARTS_PER_ELEMENT 11
#define ID_UNITS_PER_INVOCATION 12
#define ID_QUAD_ACCESS 13
#define ID_EXCLUSIVE 14
#define ID_HAS_SUMS 15
#define ID_KEEPS_SUMS 16
#define ID_FROM_SOURCE 17
#define ID_SUFFIX 18
#define ID_OPERATOR 19
#define ID_NUMBERS 20
#define ID_KEY_NUMBERS 21
#define ID_DESCENDING 22
#define ID_MAX_SUBGROUPS 23
#define ID_PASS_COUNT 24
#define ID_STALL_EVERY 25
#define ID_REVERSE 26
#define ID_HEADS 27
#define ID_WIDE_OFFSETS 28
#define ID_EARLY_COUNTS 29
#define ID_SHARED_MASKS 30
#define ID_EXCHANGE 31
#define ID_MIXED_ACCESS 32
#define ID_FIXED_TREE 33
#define ID_MIN_EXTENT 34
#define ID_MAX_SHORT 35
#define ID_MAX_SMALL 36
#define ID_MAX_LARGE 37
#define ID_SHORT_PER_WORKGROUP 38
#define ID_TILE_ITEMS 39
#define ID_RADIX 40
#define ID_MAIN_PATH 41
#define ID_OTHER_SUBGROUPS 42
#define ID_NO_LAST_KEYS 43
#define ID_PREDICATE 44
#define ID_COMPARISON 45
#define ID_SECOND_COMPARISON 46
#define ID_PARTS 47
#define ID_KEPT_WORDS 48
#define ID_KEPT_VALUE_WORDS 49
#define ID_KEPT_INDICES 50
#define ID_MIN_TILES 51
#define ID_PACKS_PER_INVOCATION 52
#define ID_INTERLEAVE 53
#define ID_FLAT_COLUMNS 54
#define ID_BY_COLUMN 55
#define ID_FROM_PARTIALS 56
#define ID_STORES_HEADS 57
#define ID_BIN_COUNT 58
#define ID_COLUMN_COUNT 59
#define ID_TILE_ROWS 60
#define ID_COPIES 61
#define ID_SHARED_EDGES 62
#define ID_EVEN 63
#define ID_UPPER 64
#define ID_SHARED_STEPS 65
#define ID_WORDS_PER_KEY 66
#define ID_WORDS_PER_VALUE 67
#define ID_KEEPS_FIRST 68
#define ID_ALONG_ROWS 69
#define ID_TOP_ITEMS 70
#define ID_SORTED 71
#define ID_SEGMENT_STEP 74
#define ID_GROUP_TILES 75
#define ID_SEGMENT_ROWS 76
#define ID_BY_ROW 77

#endif
