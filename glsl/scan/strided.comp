// Strided scan: one step, which adds to each element the one a distance before it; distances halve from step to step.
//
// Before the step, an element is the sum of the input elements 0, 2 * distance, 4 * distance, … before it; after the
// step, of those 0, distance, 2 * distance, … before it. The first distance is so large that an element is the sum of
// itself alone; after the step of distance 1 it is the full prefix. Any element count will do, since a chain ends where
// the array ends.
//
// Most elements are read by two invocations, so that a step needs separate source and destination.
// The cited source computes suffix sums, which SUFFIX selects.
//
// Dispatch: tile_count workgroups, whose tiles are WORKGROUP_SIZE elements.
// Reads:    source, element_count elements.
// Writes:   destination, element_count elements.
// Shared:   none.
// Limits:   the operator must commute, for the chains interleave.
// Pass model: reference::passes::scan::strided.
// Source:   Rosenberg, "Mr. Peabody and Sherman: Cumulative Sum", University of Miami, 2022, method 2.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/element.glsl"

layout(constant_id = ID_SUFFIX) const bool SUFFIX = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
    // The distance: whole tiles, and remaining elements.
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
        uint partner_tile = tile + push.distance_tiles;
        uint partner = i + push.distance_items;
        if (partner >= WORKGROUP_SIZE) {
            partner_tile++;
            partner -= WORKGROUP_SIZE;
        }
        if (partner_tile < push.tile_count && partner < extent_of(partner_tile)) {
            value = combine(value, load_value(element(push.source, partner_tile, partner)));
        }
    } else {
        bool borrows = i < push.distance_items;
        uint back_tiles = push.distance_tiles + uint(borrows);
        if (tile >= back_tiles) {
            uint partner = i + (borrows ? WORKGROUP_SIZE : 0) - push.distance_items;
            value = combine(load_value(element(push.source, tile - back_tiles, partner)), value);
        }
    }
    store_value(element(push.destination, tile, i), value);
}
