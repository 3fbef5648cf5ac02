//! Camera on a circle around the island.

/// A camera that looks at the centre of the scene.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    /// Rows of the view matrix: right, down and forward, each with its translation.
    pub rows: [[f32; 4]; 3],
    /// Tangent of half the vertical field of view.
    pub slope: f32,
}

impl Camera {
    /// Near plane.
    pub const NEAR: f32 = 0.2;
    const DISTANCE: f32 = 2.75;
    const HEIGHT: f32 = 0.86;
    const AIM: [f32; 3] = [0.0, -0.03, 0.0];
    /// Initial angle: the sun on the left, the waterfall in front.
    const FIRST_ANGLE: f32 = 1.15;

    /// The camera after `part` of a full turn, 0 to 1.
    pub fn turned(part: f32) -> Self {
        let angle = Self::FIRST_ANGLE + part * std::f32::consts::TAU;
        let eye = [Self::DISTANCE * angle.cos(), Self::HEIGHT, Self::DISTANCE * angle.sin()];
        let forward = normalized(std::array::from_fn(|axis| Self::AIM[axis] - eye[axis]));
        let right = normalized([-forward[2], 0.0, forward[0]]);
        let down = cross(forward, right);
        let row = |axis: [f32; 3]| [axis[0], axis[1], axis[2], -dot(axis, eye)];
        Self { rows: [row(right), row(down), row(forward)], slope: 0.285 }
    }
}

/// Dot product.
pub fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Normalises a vector.
pub fn normalized(a: [f32; 3]) -> [f32; 3] {
    let length = dot(a, a).sqrt().max(f32::MIN_POSITIVE);
    a.map(|a| a / length)
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
