// Push constants of the kernels of a selection.

#include "common/address.glsl"

layout(push_constant, std430) uniform Push {
    // Flags or keys.
    Words tested;
    // Elements, where they are not the keys.
    Words source;
    Words values;
    Words destination;
    Words destination_values;
    Words destination_indices;
    // Counts of tiles and their prefixes; of the single pass the ticket and the descriptors.
    Words state;
    Words kept_counts;
    // Operands of the comparisons, where they are in device memory: one of each comparison, two of a range.
    Words bounds;
    Words indirect_tiles;
    // Tiles, or with an indirect count the maximum.
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
    // Operands of the comparisons from the host.
    uvec2 bound;
    uvec2 range_end;
    uvec2 second_bound;
    uvec2 second_range_end;
#ifdef COUNTED
    Words counts;
#endif
} push;
