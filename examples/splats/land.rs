//! The island: heights, depths, shadows and sky light.

use crate::camera::normalized;
use crate::noise::{fractal, mix, noise, ridges, smoothstep};

/// Water level.
pub const WATER: f32 = 0.035;
/// Centre of the lake, from which the stream runs over the edge.
pub const LAKE: [f32; 2] = [0.2, 0.27];
/// Direction of the sun.
pub const SUN: [f32; 3] = [-0.62, 0.52, 0.59];

/// Height maps of the ground and of the canopy, on a grid over the island.
pub struct Land {
    ground: Vec<f32>,
    /// The ground, or the top of a tree on it.
    canopy: Vec<f32>,
    /// Height of the shadow: lower points are not lit by the sun.
    shadow: Vec<f32>,
    /// Visible part of the sky.
    openness: Vec<f32>,
}

impl Land {
    /// Cells of the grid along either side.
    const SIDE: usize = 800;
    /// The grid reaches from minus this to this.
    const REACH: f32 = 1.15;
    const CELL: f32 = 2.0 * Self::REACH / (Self::SIDE - 1) as f32;

    /// The bare island.
    pub fn new() -> Self {
        let at = |index: usize| {
            let [x, z] = [index % Self::SIDE, index / Self::SIDE];
            [x, z].map(|axis| axis as f32 * Self::CELL - Self::REACH)
        };
        let ground: Vec<_> = (0..Self::SIDE * Self::SIDE).map(|index| elevation(at(index))).collect();
        let canopy = ground.clone();
        Self { ground, canopy, shadow: Vec::new(), openness: Vec::new() }
    }

    /// Adds a tree to the canopy, a ball of this radius around `center`.
    pub fn grow(&mut self, center: [f32; 3], radius: f32) {
        let reach = (radius / Self::CELL).ceil() as isize;
        let [x, z] = Self::cell([center[0], center[2]]).map(|axis| axis as isize);
        for dz in -reach..=reach {
            for dx in -reach..=reach {
                let squared = radius * radius - ((dx * dx + dz * dz) as f32) * Self::CELL * Self::CELL;
                if squared > 0.0 {
                    let cell = (z + dz) as usize * Self::SIDE + (x + dx) as usize;
                    self.canopy[cell] = self.canopy[cell].max(center[1] + squared.sqrt());
                }
            }
        }
    }

    /// Computes shadows and sky light from the canopy.
    pub fn light(&mut self) {
        // The shadow at a cell is the canopy or shadow one step towards the sun, lowered by the slope of the sunlight.
        // Cells nearer to the sun come first.
        let step = Self::CELL / SUN[0].abs().max(SUN[2].abs());
        let (dx, dz, sinks) = (SUN[0] * step, SUN[2] * step, SUN[1] * step);
        let side = Self::SIDE;
        let is_along_x = SUN[0].abs() > SUN[2].abs();
        let sunward = if is_along_x { SUN[0] } else { SUN[2] } > 0.0;
        self.shadow = vec![f32::MIN; side * side];
        for line in 0..side {
            let line = if sunward { side - 1 - line } else { line };
            for position in 0..side {
                let (column, row) = if is_along_x { (line, position) } else { (position, line) };
                let at = [
                    column as f32 * Self::CELL - Self::REACH + dx,
                    row as f32 * Self::CELL - Self::REACH + dz,
                ];
                if at.iter().all(|axis| axis.abs() < Self::REACH) {
                    let above = Self::sample(&self.canopy, at).max(Self::sample(&self.shadow, at));
                    self.shadow[row * side + column] = above - sinks;
                }
            }
        }
        // Points lower than their surroundings see less of the sky.
        let around = blurred(&self.canopy, side, 18);
        let near = blurred(&self.canopy, side, 5);
        let heights = around.iter().zip(&near).zip(&self.ground);
        self.openness = heights
            .map(|((around, near), ground)| {
                let hidden = 3.0 * (around - ground).max(0.0) + 6.0 * (near - ground).max(0.0);
                1.0 / (1.0 + 2.0 * hidden)
            })
            .collect();
    }

    /// The height of the ground.
    pub fn height(&self, at: [f32; 2]) -> f32 {
        Self::sample(&self.ground, at)
    }

    /// The direction away from the ground.
    pub fn normal(&self, [x, z]: [f32; 2]) -> [f32; 3] {
        const STEP: f32 = 1.2 * Land::CELL;
        let slope = |dx, dz| self.height([x + dx, z + dz]) - self.height([x - dx, z - dz]);
        normalized([-slope(STEP, 0.0), 2.0 * STEP, -slope(0.0, STEP)])
    }

    /// Sunlight at a point, from 0 to 1.
    pub fn sunlight(&self, [x, y, z]: [f32; 3]) -> f32 {
        if x.abs().max(z.abs()) >= Self::REACH {
            return 1.0;
        }
        smoothstep(-0.016, 0.010, y - Self::sample(&self.shadow, [x, z]))
    }

    /// Visible part of the sky at a point on the ground, from 0 to 1.
    pub fn openness(&self, at: [f32; 2]) -> f32 {
        Self::sample(&self.openness, at)
    }

    fn cell(at: [f32; 2]) -> [f32; 2] {
        at.map(|axis| ((axis + Self::REACH) / Self::CELL).clamp(0.0, (Self::SIDE - 2) as f32 + 0.999))
    }

    /// Bilinear interpolation of the four cells around a point.
    fn sample(grid: &[f32], at: [f32; 2]) -> f32 {
        let [x, z] = Self::cell(at);
        let first = z as usize * Self::SIDE + x as usize;
        let row = |first: usize| mix(grid[first], grid[first + 1], x.fract());
        let (a, b) = (row(first), row(first + Self::SIDE));
        // Unshaded cells have the least number, whose interpolation could overflow.
        if a == b { a } else { mix(a, b, z.fract()) }
    }
}

/// Radius of the island in the direction of a point.
pub fn rim([x, z]: [f32; 2]) -> f32 {
    let [x, z] = [x, z].map(|axis| axis / x.hypot(z).max(1e-6));
    0.90 + 0.09 * fractal([1.6 * x + 7.0, 1.6 * z], 4)
}

/// Coordinates of a point along the stream, from 0 in the lake, and across it.
pub fn stream([x, z]: [f32; 2]) -> (f32, f32) {
    let length = LAKE[0].hypot(LAKE[1]);
    let along = [LAKE[0] / length, LAKE[1] / length];
    let [dx, dz] = [x - LAKE[0], z - LAKE[1]];
    let t = dx * along[0] + dz * along[1];
    let off = dx * -along[1] + dz * along[0];
    (t, off + 0.035 * (9.0 * t).sin())
}

/// Whether water may stand here, from 0 to 1: in the lake and in the stream, but not along the rim.
pub fn wetness(at: [f32; 2]) -> f32 {
    let (t, off) = stream(at);
    let lake = smoothstep(0.34, 0.28, (at[0] - LAKE[0]).hypot(at[1] - LAKE[1]));
    lake.max(smoothstep(0.070, 0.055, off.abs()) * smoothstep(-0.02, 0.02, t))
}

/// Depth of the island's underside, from 0 at the rim.
pub fn depth(at: [f32; 2]) -> f32 {
    let inside = (1.0 - at[0].hypot(at[1]) / rim(at)).max(0.0);
    let cone = 0.16 * inside.powf(0.35) + 0.62 * inside.powf(1.15);
    let spikes = ridges([4.1 * at[0] + 3.0, 4.1 * at[1]], 4);
    cone * (0.55 + 0.75 * spikes)
        + 0.05 * smoothstep(0.0, 0.1, inside) * fractal([13.0 * at[0], 13.0 * at[1]], 3)
}

/// Procedural height of the ground.
fn elevation(at: [f32; 2]) -> f32 {
    let [x, z] = at;
    let inside = 1.0 - x.hypot(z) / rim(at);
    let hill =
        |cx: f32, cz: f32, width: f32| (-((x - cx).powi(2) + (z - cz).powi(2)) / (width * width)).exp();
    let bent = [x + 0.05 * noise([3.0 * x, 3.0 * z]), z + 0.05 * noise([3.0 * x + 9.0, 3.0 * z])];
    let crests = ridges([2.5 * bent[0] + 1.4, 2.5 * bent[1] + 0.2], 8);
    let rolling = 0.075 + 0.05 * fractal([2.6 * x, 2.6 * z + 4.0], 5);
    let peaks = 0.66 * hill(-0.26, -0.26, 0.34) * (0.25 + crests)
        + 0.36 * hill(0.26, -0.44, 0.26) * (0.2 + crests)
        + 0.22 * hill(-0.58, 0.16, 0.20) * (0.2 + crests);
    let mut height = rolling + peaks - 0.13 * hill(LAKE[0], LAKE[1], 0.21);
    let (t, off) = stream(at);
    let bed = smoothstep(0.075, 0.02, off.abs()) * smoothstep(-0.05, 0.05, t);
    height = mix(height, WATER - 0.022, bed);
    let shore = smoothstep(0.0, 0.055, inside);
    mix(-0.012, height, shore.max(bed * smoothstep(-0.01, 0.01, inside)))
}

/// Box blur with a square of `2 * radius + 1` cells.
fn blurred(grid: &[f32], side: usize, radius: usize) -> Vec<f32> {
    let pass = |grid: &[f32]| {
        // Transposed output, so that two passes blur both axes.
        let mut out = vec![0.0; grid.len()];
        for line in 0..side {
            let cells = &grid[line * side..][..side];
            let mut sum: f32 = cells[..radius].iter().sum();
            for position in 0..side {
                if position + radius < side {
                    sum += cells[position + radius];
                }
                if position > radius {
                    sum -= cells[position - radius - 1];
                }
                let count = (position + radius + 1).min(side) - position.saturating_sub(radius);
                out[position * side + line] = sum / count as f32;
            }
        }
        out
    };
    pass(&pass(grid))
}
