// The passes before and after the sort.

@group(0) @binding(0) var<storage, read_write> depths: array<f32>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;

/// Writes the pairs: the depth of each point, and its index. Some depths are equal.
@compute @workgroup_size(256)
fn project(@builtin(global_invocation_id) id: vec3u) {
    let index = id.x;
    if index < arrayLength(&depths) {
        depths[index] = f32((index * 0x9e3779b9u) >> 16u);
        order[index] = index;
    }
}

@group(0) @binding(0) var<storage, read> sorted_depths: array<f32>;
@group(0) @binding(1) var<storage, read> sorted_order: array<u32>;
@group(0) @binding(2) var<storage, read_write> drawn: array<vec2u>;

/// Reads the sorted pairs.
@compute @workgroup_size(256)
fn draw(@builtin(global_invocation_id) id: vec3u) {
    let index = id.x;
    if index < arrayLength(&sorted_depths) {
        drawn[index] = vec2u(bitcast<u32>(sorted_depths[index]), sorted_order[index]);
    }
}
