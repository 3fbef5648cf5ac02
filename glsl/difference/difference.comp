// Difference of adjacent rows of a table, or of adjacent columns, ALONG_ROWS: a number less the one before it.
//
// With KEEPS_FIRST the first row, or column, has no difference and is copied, so that the result is as large as the source.
// Without, the result has one less.
//
// Dispatch: tile_count workgroups, each for a tile of TILE_ROWS rows and the row behind them.
// Reads:    source, rows of COLUMN_COUNT numbers; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   destination, the differences, a row or a column less than the source, unless KEEPS_FIRST.
// Shared:   nothing.
// Limits:   less than 2^28 numbers in a tile.
// Pass model: none; the first line says the result.
// Source:   CUB, DeviceAdjacentDifference::SubtractLeft; numpy.diff.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/tiles.glsl"
#include "operator/names.glsl"

layout(constant_id = ID_NUMBERS) const uint NUMBERS = UNSIGNED;
// A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_COLUMN_COUNT) const uint COLUMN_COUNT = 1;
layout(constant_id = ID_TILE_ROWS) const uint TILE_ROWS = 1;
layout(constant_id = ID_KEEPS_FIRST) const bool KEEPS_FIRST = false;
layout(constant_id = ID_ALONG_ROWS) const bool ALONG_ROWS = false;

// Numbers from one to the next.
const uint STRIDE = ALONG_ROWS ? 1 : COLUMN_COUNT;
// Numbers in a row of the result.
const uint RESULT_COLUMNS = ALONG_ROWS && !KEEPS_FIRST ? COLUMN_COUNT - 1 : COLUMN_COUNT;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
} push;

#if defined FLOAT64
#define NUMBER_WORDS 2
#elif defined WORDS64
#define NUMBER_WORDS 2
#else
#define NUMBER_WORDS 1
#endif

#if NUMBER_WORDS == 2
#define Number uvec2

Number load(Words words, uint index) {
    return Number(words.word[2 * index], words.word[2 * index + 1]);
}

void store(Words words, uint index, Number number) {
    words.word[2 * index] = number.x;
    words.word[2 * index + 1] = number.y;
}
#else
#define Number uint

Number load(Words words, uint index) {
    return words.word[index];
}

void store(Words words, uint index, Number number) {
    words.word[index] = number;
}
#endif

Number subtract(Number later, Number earlier) {
#if defined FLOAT64
    precise double difference = packDouble2x32(later) - packDouble2x32(earlier);
    return unpackDouble2x32(difference);
#elif defined WORDS64
    uint borrow;
    uint low = usubBorrow(later.x, earlier.x, borrow);
    return uvec2(low, later.y - earlier.y - borrow);
#else
    if (NUMBERS == FLOAT) {
        precise float difference = uintBitsToFloat(later) - uintBitsToFloat(earlier);
        return floatBitsToUint(difference);
    }
    return later - earlier;
#endif
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint tile = workgroup_index();
    if (tile >= tiles.count) {
        return;
    }
    bool is_last = tile + 1 == tiles.count;
    uint row_count = is_last ? tiles.last_extent : TILE_ROWS;
    // The last row has no next one.
    uint end = (ALONG_ROWS || !is_last ? row_count : row_count - 1) * COLUMN_COUNT;
    Words source = advance_words(push.source, tile, TILE_ROWS * COLUMN_COUNT * NUMBER_WORDS);
    Words destination = advance_words(push.destination, tile, TILE_ROWS * RESULT_COLUMNS * NUMBER_WORDS);
    [[dont_unroll]] for (uint i = gl_LocalInvocationIndex; i < row_count * COLUMN_COUNT; i += WORKGROUP_SIZE) {
        uint column = i % COLUMN_COUNT;
        Number number = load(source, i);
        if (KEEPS_FIRST && (ALONG_ROWS ? column == 0 : tile == 0 && i < COLUMN_COUNT)) {
            store(destination, i, number);
        }
        if (i < end && (!ALONG_ROWS || column + 1 < COLUMN_COUNT)) {
            // One less in each row before.
            uint result = KEEPS_FIRST ? i + STRIDE : ALONG_ROWS ? i - i / COLUMN_COUNT : i;
            store(destination, result, subtract(load(source, i + STRIDE), number));
        }
    }
}
