// Top-k of each tile of each row: the first k keys in order, and of equal keys, the ones with the lowest indices. Rows of more
// than one tile take another dispatch, whose rows are the results of this one's tiles.
//
//   row:       | tile 0 | tile 1 | … | of equal extents, but for one key
//   results:   | k keys | k keys | …   in the order of their indices; of the last dispatch also in the order of the keys
//
// Radix select: the histogram of a digit, from the highest on, of the keys that agree with the digits found so far. The
// digit of key k is found in its prefix sums. The search ends early where the keys of a bin are all selected.
//
// With UNEQUAL, the first dispatch takes the rows of row.glsl, of up to value_columns keys. A row has as many tiles as its keys
// take.
//
// Dispatch: row_count * tile_count workgroups.
// Reads:    keys, row_count rows of column_count keys, or with FUNCTIONS in the first dispatch elements that keys are computed
//           from, and data; indices, as many words, unless null; indirect_rows, a word, unless null; if WORDS_PER_VALUE > 0, values, row_count rows of value_columns values of as many words. With
//           UNEQUAL segments and ks, a word for each row, unless null; with segments rows of key_count keys and values.
// Writes:   top_keys and top_indices, unless null: k keys and words for each tile; if WORDS_PER_VALUE > 0, top_values,
//           k values for each tile.
// Limits:   k is at most the extent of the smallest tile; RADIX at most WORKGROUP_SIZE; less than 2^16 keys a tile; 2^15
//           words of values in a result for each invocation, since LOOPS_END_AT_65535.
// Shared:   the workgroup scan's, RADIX + 3 words, and a word for each of TOP_ITEMS; a key more, and if SORTED one for
//           each of TOP_ITEMS, since no array is empty.
// Pass model: reference::passes::top_k::select.
// Source:   Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units", ACM
//           Journal of Experimental Algorithmics 17, 2012: radix select. Batcher, "Sorting networks and their
//           applications", AFIPS 1968: the sort of the selected keys. llama.cpp: a tournament of tiles.

#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef FUNCTIONS
#define USES_KEY_OF
#include "common/called.glsl"
#endif
#include "common/dispatch.glsl"
#include "common/grid.glsl"
#include "common/key.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;
// A divisor of 8.
layout(constant_id = ID_RADIX_BITS) const uint RADIX_BITS = 4;
// At least k; a power of two if SORTED.
layout(constant_id = ID_TOP_ITEMS) const uint TOP_ITEMS = 1;
// Whether the result is in the order of the keys, and not of the indices.
layout(constant_id = ID_SORTED) const bool SORTED = false;

// Bits of an order.
#ifdef KEY_BITS
const uint ORDER_BITS = KEY_BITS;
#else
const uint ORDER_BITS = 32 * KEY_WORDS;
#endif
const uint RADIX = 1 << RADIX_BITS;
const uint SORTED_ITEMS = SORTED ? TOP_ITEMS : 0;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words indices;
    Words top_keys;
    Words top_indices;
    // The number of rows, at most row_count.
    Words indirect_rows;
    uint row_count;
    uint column_count;
    // Tiles of a row.
    uint tile_count;
    uint k;
    // After the others: AMD's driver passes the first constants in registers.
    Words values;
    Words top_values;
    // Columns of the first dispatch, to which indices refer.
    uint value_columns;
    Words segments;
    Words ks;
    uint key_count;
    // Dispatches before this one, and the results of a row of this one.
    uint level;
    uint result_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#include "top_k/row.glsl"
#include "top_k/slots.glsl"

shared uint s_bins[RADIX];
// The digit of key k, the number of keys of lower digits, and the number of keys of the digit.
shared uint s_found[3];
// The positions of the selected keys in the tile, at last the columns of their values, and their orders.
shared uint s_positions[TOP_ITEMS];
shared Key s_orders[SORTED_ITEMS + 1];

void store_selected(uint rank, Key order, uint position) {
    s_positions[rank] = position;
    if (SORTED) {
        s_orders[rank] = order;
    }
}

// The position in the tile of item `i` of the invocation: a subgroup has consecutive keys.
uint position_of(uint i) {
    return (gl_SubgroupID * ITEMS_PER_INVOCATION + i) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

// The digit of an order at bit `shift`, a multiple of RADIX_BITS: no digit is in both words.
uint digit_at(Key order, uint shift) {
#if KEY_WORDS == 2
    uint word = shift < 32 ? order.x : order.y;
#else
    uint word = order;
#endif
    return word >> (shift & 31) & (RADIX - 1);
}

// The order with this digit, and others of 0.
Key order_of(uint digit, uint shift) {
    uint bits = digit << (shift & 31);
#if KEY_WORDS == 2
    return shift < 32 ? Key(bits, 0) : Key(0, bits);
#else
    return bits;
#endif
}

Key orders[ITEMS_PER_INVOCATION];
// Bit `i` states that item `i` is a key of the tile.
uint is_key = 0;

// The keys that are selected for certain, and the keys of which `equal_count` are selected, the ones with the lowest indices.
struct Threshold {
    Key order;
    // The digits that are compared.
    Key mask;
    uint equal_count;
};

// Every invocation of the workgroup must call it.
Threshold find_threshold(uint extent, uint k) {
    uint bin = invocation_index();
    if (bin < RADIX) {
        s_bins[bin] = 0;
    }
    barrier();
    Threshold threshold = Threshold(Key(0), Key(0), k);
    uint candidate_count = extent;
    // Uniform in the workgroup.
    [[dont_unroll]] for (uint shift = ORDER_BITS; shift > 0 && candidate_count != threshold.equal_count;) {
        shift -= RADIX_BITS;
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            if ((is_key >> i & 1) != 0 && (orders[i] & threshold.mask) == threshold.order) {
                atomicAdd(s_bins[digit_at(orders[i], shift)], 1u);
            }
        }
        barrier();
        uint count = 0;
        if (bin < RADIX) {
            count = s_bins[bin];
            s_bins[bin] = 0;
        }
        uint total;
        uint before = workgroup_exclusive_scan(subgroupAdd(count), total) + subgroupExclusiveAdd(count);
        if (before < threshold.equal_count && threshold.equal_count - before <= count) {
            s_found[0] = bin;
            s_found[1] = before;
            s_found[2] = count;
        }
        barrier();
        threshold.order |= order_of(s_found[0], shift);
        threshold.mask |= order_of(RADIX - 1, shift);
        threshold.equal_count -= s_found[1];
        candidate_count = s_found[2];
    }
    return threshold;
}

// Keeps the selected keys, in the order of their indices. Every invocation of the workgroup must call it.
void keep_selected(Threshold threshold) {
    // The keys of the invocation before and at the threshold: counted in the halves of a word.
    uint is_before = 0;
    uint is_equal = 0;
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        Key order = orders[i] & threshold.mask;
        is_before |= uint(is_less(order, threshold.order)) << i;
        is_equal |= uint(order == threshold.order) << i;
    }
    is_before &= is_key;
    is_equal &= is_key;
    uint counts = uint(bitCount(is_before)) | uint(bitCount(is_equal)) << 16;
    uint totals;
    uint before = workgroup_exclusive_scan(subgroupAdd(counts), totals);
    uint before_count = before & 0xffff;
    uint equal_count = before >> 16;
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        bool is_selected = (is_before >> i & 1) != 0;
        bool may_be_selected = (is_equal >> i & 1) != 0;
        uvec4 of_before = subgroupBallot(is_selected);
        uvec4 of_equal = subgroupBallot(may_be_selected);
        uint rank_before = before_count + subgroupBallotExclusiveBitCount(of_before);
        uint rank_equal = equal_count + subgroupBallotExclusiveBitCount(of_equal);
        before_count += subgroupBallotBitCount(of_before);
        equal_count += subgroupBallotBitCount(of_equal);
        if (is_selected || may_be_selected && rank_equal < threshold.equal_count) {
            uint rank = rank_before + min(rank_equal, threshold.equal_count);
            store_selected(rank, orders[i], position_of(i));
        }
    }
}

// Sorts the selected keys; of equal keys the first in the tile comes first. Every invocation of the workgroup must call
// it.
void sort_selected() {
    [[dont_unroll]] for (uint size = 2; size <= TOP_ITEMS; size *= 2) {
        [[dont_unroll]] for (uint stride = size / 2; stride > 0; stride /= 2) {
            for (uint pair = invocation_index(); pair < TOP_ITEMS / 2; pair += WORKGROUP_SIZE) {
                uint low = 2 * pair - (pair & (stride - 1));
                // The first step of a size merges with the reverse of the other half, so that all runs ascend.
                uint high = stride == size / 2 ? low ^ (size - 1) : low + stride;
                Key low_order = s_orders[low];
                Key high_order = s_orders[high];
                uint low_position = s_positions[low];
                uint high_position = s_positions[high];
                bool is_tie = high_order == low_order;
                if (is_less(high_order, low_order) || (is_tie && high_position < low_position)) {
                    store_selected(low, high_order, high_position);
                    store_selected(high, low_order, low_position);
                }
            }
            barrier();
        }
    }
}

// A row of this dispatch, and its tiles.
Row row_of_level(uint index, out uint tile_count) {
    tile_count = push.tile_count;
    if (!UNEQUAL) {
        return row_of(index, push.column_count);
    }
    Row row = row_of(index, push.value_columns);
    uint tile_items = ITEMS_PER_INVOCATION * WORKGROUP_SIZE;
    for (uint level = 0; level < push.level; level++) {
        tile_count = ceil_div(row.columns, tile_items);
        row.columns = tile_count > 1 ? tile_count * row.k : min(row.columns, row.k);
    }
    tile_count = row.k > 0 ? ceil_div(row.columns, tile_items) : 0;
    return row;
}

#ifdef FUNCTIONS
// Keys are computed in the first dispatch; the others have its results.
uint size_of_key() {
    return push.level == 0 ? 4 * SOURCE_WORDS : KEY_SIZE;
}

// The key at a position of the tile, whose first one has index `first_index`, modulo 2^32.
Key load_tile_key(Words keys, uint first_index, uint position) {
    if (push.level == 0) {
        return computed_key(keys, first_index, position, push.data);
    }
    return load_key(keys, position);
}
#else
#define size_of_key() KEY_SIZE
#define load_tile_key(keys, first_index, position) load_key(keys, position)
#endif

// Moves the values of the selected keys, from the row that begins with value `first`. Neighbouring invocations copy neighbouring
// words, however wide a value is.
void move_values(uvec2 first, uint k) {
    Words values = advance_words(push.values, first, WORDS_PER_VALUE);
    Words top_values = advance_words(push.top_values, workgroup_index(), push.k * WORDS_PER_VALUE);
    for (uint i = invocation_index(); i < k * WORDS_PER_VALUE; i += WORKGROUP_SIZE) {
        Words value = advance_words(values, s_positions[i / WORDS_PER_VALUE], WORDS_PER_VALUE);
        top_values.word[i] = value.word[i % WORDS_PER_VALUE];
    }
}

// Writes the slots of a row from the `count`-th on, in the last dispatch.
void fill_slots(uint row, uint count) {
    if (push.tile_count == 1) {
        fill_slots_of_row(row, count, invocation_index(), WORKGROUP_SIZE);
    }
}

void main() {
    uint tile = workgroup_index() % push.tile_count;
    uint row = workgroup_index() / push.tile_count;
    if (row >= count_of(push.row_count, push.indirect_rows)) {
        return;
    }
    uint tile_count;
    Row keys_of_row = row_of_level(row, tile_count);
    if (UNEQUAL && tile >= tile_count) {
        fill_slots(row, 0);
        return;
    }
    uint least = keys_of_row.columns / tile_count;
    uint wider = keys_of_row.columns % tile_count;
    uint begin = tile * least + min(tile, wider);
    uint extent = least + (tile < wider ? 1 : 0);
    uint k = UNEQUAL ? min(keys_of_row.k, extent) : push.k;
    // Selects between indices, not pointers: SwiftShader crashes on a pointer that a branch has selected.
    bool is_segment = UNEQUAL && has_segments();
    uvec2 first = wide_product(row, push.column_count);
    first = mix(first, uvec2(keys_of_row.first, 0), bvec2(is_segment && push.level == 0));
    uvec2 row_keys = advance(uvec2(push.keys), first, size_of_key());
    Words keys = Words(advance(row_keys, begin, size_of_key()));
    // A key beyond the extent is not selected; the last one is loaded in its place, so that no load needs a branch.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        orders[i] = compared(load_tile_key(keys, first.x + begin, min(position_of(i), extent - 1)));
        is_key |= uint(position_of(i) < extent) << i;
    }
    keep_selected(find_threshold(extent, k));
    if (SORTED) {
        // Greater than every key.
        for (uint rank = k + invocation_index(); rank < TOP_ITEMS; rank += WORKGROUP_SIZE) {
            store_selected(rank, Key(~0), ~0);
        }
    }
    barrier();
    if (SORTED) {
        sort_selected();
    }

    Words indices = advance_words(push.indices, row, push.column_count);
    // The results of a row's tiles are the next dispatch's row.
    uvec2 slot = advance(wide_product(row, push.result_count), tile, k);
    Words top_keys = advance_keys(push.top_keys, slot, 1);
    Words top_indices = advance_words(push.top_indices, slot, 1);
    for (uint rank = invocation_index(); rank < k; rank += WORKGROUP_SIZE) {
        uint position = s_positions[rank];
        if (!is_null(push.top_keys)) {
            store_key(top_keys, rank, load_tile_key(keys, first.x + begin, position));
        }
        if (WORDS_PER_VALUE > 0 || !is_null(push.top_indices)) {
            uint index = begin + position;
            if (!is_null(push.indices)) {
                index = indices.word[index];
            }
            if (WORDS_PER_VALUE > 0) {
                s_positions[rank] = index;
            }
            if (!is_null(push.top_indices)) {
                top_indices.word[rank] = index;
            }
        }
    }
    if (UNEQUAL) {
        fill_slots(row, k);
    }
    if (WORDS_PER_VALUE == 0) {
        return;
    }
    barrier();
    first = mix(wide_product(row, push.value_columns), uvec2(keys_of_row.first, 0), bvec2(is_segment));
    move_values(first, k);
}
