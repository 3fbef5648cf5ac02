// Takes into each element the one a distance before it: one step of a scan by halving distances.
//
// Before the step, every element is the sum of the input's elements that lie 2 * distance, 4 * distance, … before it,
// and its own; behind it, of those that lie distance, 2 * distance, … before. At first the distance is so large that
// there are none, and behind the step of distance 1 all have been taken in. A chain ends where the elements do, so that
// any count will do.
//
// Most elements are read by their own invocation and by another one, so that the step goes from one range to another.
// The source states it for sums of what comes after an element, which is SUFFIX.
//
// Dispatch: tile_count workgroups, whose tiles are WORKGROUP_SIZE elements.
// Reads:    source, element_count elements.
// Writes:   destination, element_count elements.
// Shared:   none.
// Limits:   the operator must commute, for chains interleave.
// Pass model: reference::passes::scan::strided.
// Source:   Rosenberg, "Mr. Peabody and Sherman: Cumulative Sum", University of Miami, 2022, method 2.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/dispatch.glsl"
#include "common/element.glsl"

layout(constant_id = 1) const bool SUFFIX = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
    // The distance: whole tiles, and elements besides.
    uint distance_tiles;
    uint distance_items;
} push;

uint extent_of(uint tile) {
    return tile + 1 < push.tile_count ? WORKGROUP_SIZE : push.last_extent;
}

Words element(Words table, uint tile, uint index) {
    return advance_words(advance_words(table, tile, WORKGROUP_SIZE * ELEMENT_WORDS), index, ELEMENT_WORDS);
}

void main() {
    uint tile = workgroup_index();
    uint i = gl_LocalInvocationIndex;
    if (tile >= push.tile_count || i >= extent_of(tile)) {
        return;
    }
    Element value = load_value(element(push.source, tile, i));
    if (SUFFIX) {
        uint other_tile = tile + push.distance_tiles;
        uint other = i + push.distance_items;
        if (other >= WORKGROUP_SIZE) {
            other_tile++;
            other -= WORKGROUP_SIZE;
        }
        if (other_tile < push.tile_count && other < extent_of(other_tile)) {
            value = combine(value, load_value(element(push.source, other_tile, other)));
        }
    } else {
        bool borrows = i < push.distance_items;
        uint back_tiles = push.distance_tiles + uint(borrows);
        if (tile >= back_tiles) {
            uint other = i + (borrows ? WORKGROUP_SIZE : 0) - push.distance_items;
            value = combine(load_value(element(push.source, tile - back_tiles, other)), value);
        }
    }
    store_value(element(push.destination, tile, i), value);
}
