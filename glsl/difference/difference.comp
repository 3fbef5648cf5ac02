// Difference of adjacent rows of a table, or of adjacent columns, ALONG_ROWS: a number less the one before it.
//
// With KEEPS_FIRST the first row, or column, has no difference and is copied, so that the result is as large as the source.
// Without, the result has one less.
//
// With QUAD_ACCESS a number is loaded once, 16 bytes at a time, if the numbers of a difference are adjacent in memory and
// the result is where one of the two is: in one column, and ALONG_ROWS with KEEPS_FIRST. A subgroup has consecutive packs
// of 16 bytes, PACKS_PER_INVOCATION in flight for each lane:
//
//   subgroup s   | round 0: lane 0, lane 1, … | round 1: lane 0, lane 1, … | …
//
// With PACKED numbers are elements of 8 or 16 bits, four to a pack, and the ranges begin with a word.
//
// The number beside a pack is in the neighbouring lane; beside a round, in the next round, or the last one, of the
// subgroup; and one lane loads that beside the last round, or the first one. What is left of a tile, and every other table,
// is loaded by words, each number twice, the second time from a cache.
//
// Dispatch: tile_count workgroups, each for a tile of TILE_ROWS rows and the row after them, or with KEEPS_FIRST the one
//           before them.
// Reads:    source, rows of COLUMN_COUNT numbers; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   destination, the differences, a row or a column less than the source, unless KEEPS_FIRST.
// Shared:   nothing.
// Limits:   less than 2^28 numbers in a tile. With QUAD_ACCESS source, destination and tiles are whole packs, and so are
//           the workgroup's subgroups.
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
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = false;
// Packs that an invocation has in flight, with QUAD_ACCESS.
layout(constant_id = ID_PACKS_PER_INVOCATION) const uint PACKS_PER_INVOCATION = 1;

const uint TILE_NUMBERS = TILE_ROWS * COLUMN_COUNT;
// Numbers from one to the next.
const uint STRIDE = ALONG_ROWS ? 1 : COLUMN_COUNT;
// Numbers in a row of the result.
const uint RESULT_COLUMNS = ALONG_ROWS && !KEEPS_FIRST ? COLUMN_COUNT - 1 : COLUMN_COUNT;
// Differences that an invocation has in flight by words.
const uint WORDS_IN_FLIGHT = 4;

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

#ifdef PACKED
#include "common/packed.glsl"
const uint NUMBER_SIZE = PACKED_BITS / 8;
#define Number uint

Number load(Words numbers, uint index) {
    return unpacked(packed_at(numbers, index));
}

void store(Words numbers, uint index, Number number) {
    store_packed_at(numbers, index, number);
}

#define load_pack unpacked_quad
#define store_pack store_packed_quad
#else
const uint NUMBER_SIZE = 4 * NUMBER_WORDS;

uvec4 load_pack(Words numbers, uint pack) {
    return Quads(uvec2(numbers)).quad[pack];
}

void store_pack(Words numbers, uint pack, uvec4 words) {
    Quads(uvec2(numbers)).quad[pack] = words;
}

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

// Packs of 16 bytes: the numbers at their ends, those after each or before each, and which a condition takes.
#if NUMBER_WORDS == 2
const uint PACK_NUMBERS = 2;
#define first_in(pack) (pack).xy
#define last_in(pack) (pack).zw
#define after_each(pack, next) uvec4((pack).zw, next)
#define before_each(pack, previous) uvec4(previous, (pack).xy)
#define subtract_each(later, earlier) uvec4(subtract(later.xy, earlier.xy), subtract(later.zw, earlier.zw))
#define each_where(condition, i) bvec4(condition(i), condition(i), condition(i + 1), condition(i + 1))
#else
const uint PACK_NUMBERS = 4;
#define first_in(pack) (pack).x
#define last_in(pack) (pack).w
#define after_each(pack, next) uvec4((pack).yzw, next)
#define before_each(pack, previous) uvec4(previous, (pack).xyz)
#define subtract_each(later, earlier) \
    uvec4(subtract(later.x, earlier.x), subtract(later.y, earlier.y), subtract(later.z, earlier.z), \
        subtract(later.w, earlier.w))
#define each_where(condition, i) bvec4(condition(i), condition(i + 1), condition(i + 2), condition(i + 3))
#endif

// The tile of the workgroup.
struct Tile {
    uint index;
    // A pointer to the tile in the source; with KEEPS_FIRST to the tile before it, if there is one. The tile's own first
    // number is `shift` numbers further on.
    Words source;
    uint shift;
    Words destination;
    uint result_count;
} tile;

// Whether result `i` is a number of the first row, or column, itself.
bool is_kept(uint i) {
    return KEEPS_FIRST && (ALONG_ROWS ? i % COLUMN_COUNT == 0 : tile.index == 0 && i < COLUMN_COUNT);
}

// Subtracts whole rounds of packs; returns the number of results. Every invocation of the workgroup must call it.
uint subtract_packs() {
    const uint batch = WORKGROUP_SIZE * PACKS_PER_INVOCATION * PACK_NUMBERS;
    uint lane = gl_SubgroupInvocationID;
    bool is_last_lane = lane == gl_SubgroupSize - 1;
    uint neighbour = KEEPS_FIRST ? (lane == 0 ? gl_SubgroupSize : lane) - 1 : is_last_lane ? 0 : lane + 1;
    uint begin = 0;
    [[dont_unroll]] for (; begin + batch <= tile.result_count; begin += batch) {
        uint part = begin / PACK_NUMBERS + gl_SubgroupID * gl_SubgroupSize * PACKS_PER_INVOCATION;
        uvec4 packs[PACKS_PER_INVOCATION];
        [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
            packs[round] = load_pack(tile.source, tile.shift / PACK_NUMBERS + part + round * gl_SubgroupSize + lane);
        }
        // The number beside the part, which the lane at the other end hands over.
        Number beside = Number(0);
        if (KEEPS_FIRST ? is_last_lane : lane == 0) {
            uint first = tile.shift + part * PACK_NUMBERS;
            uint following = first + gl_SubgroupSize * PACKS_PER_INVOCATION * PACK_NUMBERS;
            beside = load(tile.source, KEEPS_FIRST ? max(first, 1) - 1 : following);
        }
        [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
            uvec4 pack = packs[round];
            uvec4 later = pack;
            uvec4 earlier = pack;
            if (KEEPS_FIRST) {
                Number last = round == 0 ? beside : last_in(packs[max(round, 1) - 1]);
                last = is_last_lane ? last : last_in(pack);
                earlier = before_each(pack, subgroupShuffle(last, neighbour));
            } else {
                bool is_last = round + 1 == PACKS_PER_INVOCATION;
                Number first = is_last ? beside : first_in(packs[min(round + 1, PACKS_PER_INVOCATION - 1)]);
                first = lane == 0 ? first : first_in(pack);
                later = after_each(pack, subgroupShuffle(first, neighbour));
            }
            uint result = part + round * gl_SubgroupSize + lane;
            uvec4 difference = subtract_each(later, earlier);
            // Where it is false, the branch is pruned; the selections by it would stay.
            if (KEEPS_FIRST) {
                difference = mix(difference, pack, each_where(is_kept, result * PACK_NUMBERS));
            }
            store_pack(tile.destination, result, difference);
        }
    }
    return begin;
}

// Subtracts the results from `begin` on, by words.
void subtract_words(uint begin) {
    [[dont_unroll]] for (; begin < tile.result_count; begin += WORDS_IN_FLIGHT * WORKGROUP_SIZE) {
        Number later[WORDS_IN_FLIGHT];
        Number earlier[WORDS_IN_FLIGHT];
        // All loads precede their use, so that they are in flight together: the last result in place of those that do not
        // exist.
        [[unroll]] for (uint k = 0; k < WORDS_IN_FLIGHT; k++) {
            uint i = min(begin + k * WORKGROUP_SIZE + gl_LocalInvocationIndex, tile.result_count - 1);
            // One less in each row before.
            uint number = tile.shift + (ALONG_ROWS && !KEEPS_FIRST ? i + i / max(RESULT_COLUMNS, 1) : i);
            uint first = KEEPS_FIRST && !is_kept(i) ? number - STRIDE : number;
            earlier[k] = load(tile.source, first);
            later[k] = load(tile.source, KEEPS_FIRST ? number : number + STRIDE);
        }
        [[unroll]] for (uint k = 0; k < WORDS_IN_FLIGHT; k++) {
            uint i = begin + k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
            if (i < tile.result_count) {
                store(tile.destination, i, is_kept(i) ? later[k] : subtract(later[k], earlier[k]));
            }
        }
    }
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    tile.index = workgroup_index();
    if (tile.index >= tiles.count) {
        return;
    }
    bool is_last = tile.index + 1 == tiles.count;
    uint row_count = is_last ? tiles.last_extent : TILE_ROWS;
    // The last row has no next one.
    tile.result_count = (ALONG_ROWS || KEEPS_FIRST || !is_last ? row_count : row_count - 1) * RESULT_COLUMNS;
    bool has_before = KEEPS_FIRST && tile.index > 0;
    tile.shift = has_before ? TILE_NUMBERS : 0;
    tile.source =
        Words(advance(uvec2(push.source), tile.index - (has_before ? 1 : 0), TILE_NUMBERS * NUMBER_SIZE));
    tile.destination = Words(advance(uvec2(push.destination), tile.index, TILE_ROWS * RESULT_COLUMNS * NUMBER_SIZE));
    subtract_words(QUAD_ACCESS ? subtract_packs() : 0);
}
