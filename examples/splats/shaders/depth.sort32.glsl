// The key of a sort of the splats in view, whose indices are its elements: the depth, computed from the position where the
// splats lie. The data are the camera's row that points forward, and the address of the splats.

#define ELEMENT_WORDS 1
#define DATA_WORDS 6
#include "common/words.glsl"
#include "depth_of.glsl"

const uint SPLAT_WORDS = 12;

Key key_of(Words seen, uint index, Words data) {
    vec4 forward = uintBitsToFloat(uvec4(data.word[0], data.word[1], data.word[2], data.word[3]));
    Words splats = Words(uvec2(data.word[4], data.word[5]));
    Words splat = advance_words(splats, seen.word[0], SPLAT_WORDS);
    vec3 position = uintBitsToFloat(uvec3(splat.word[0], splat.word[1], splat.word[2]));
    return floatBitsToUint(depth_of(forward, position));
}
