// One triangle around the whole picture.

#version 460

layout(location = 0) out vec2 position;

void main() {
    position = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    gl_Position = vec4(position, 0.0, 1.0);
}
