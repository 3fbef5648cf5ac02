// The depth of a position, by the camera's row that points forward. Precise, so that every kernel that computes it has the
// same bits.
float depth_of(vec4 forward, vec3 position) {
    precise float depth = forward.x * position.x + forward.y * position.y + forward.z * position.z + forward.w;
    return depth;
}
