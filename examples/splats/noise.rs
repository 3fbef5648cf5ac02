//! Deterministic pseudorandom numbers and noise.

/// A generator of random numbers: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub struct Random(u64);

impl Random {
    /// A sequence for `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A uniform number from 0 to 1.
    pub fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
    }

    /// A uniform number from `low` to `high`.
    pub fn within(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// An approximately normal number, of mean 0 and magnitude at most 3.
    pub fn normal(&mut self) -> f32 {
        // The sum of as many uniform numbers: Irwin and Hall.
        2.0 * ((0..3).map(|_| self.unit()).sum::<f32>() - 1.5)
    }

    /// A uniform direction.
    pub fn direction(&mut self) -> [f32; 3] {
        let (height, angle) = (self.within(-1.0, 1.0), self.within(0.0, std::f32::consts::TAU));
        let radius = (1.0 - height * height).sqrt();
        [radius * angle.cos(), height, radius * angle.sin()]
    }
}

/// Point `index` of `count` points that fill a disc evenly: Vogel's sunflower, 1979.
pub fn sunflower(index: u32, count: u32) -> [f32; 2] {
    const GOLDEN: f64 = 2.399_963_229_728_653;
    let radius = ((f64::from(index) + 0.5) / f64::from(count)).sqrt();
    let angle = f64::from(index) * GOLDEN;
    [(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]
}

/// Smooth noise from -1 to 1, with a feature for each unit or so: Perlin, "Improving noise", SIGGRAPH 2002.
pub fn noise([x, z]: [f32; 2]) -> f32 {
    let (x0, z0) = (x.floor(), z.floor());
    let (fx, fz) = (x - x0, z - z0);
    let fade = |t: f32| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let corner = |dx: f32, dz: f32| {
        let hash = hash((x0 + dx) as i32, (z0 + dz) as i32);
        // One of 8 directions.
        let sign = |bit: u32| if hash >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let (a, b) = (sign(8) * (fx - dx), sign(9) * (fz - dz));
        if hash & 0x400 == 0 { a + 0.5 * b } else { 0.5 * a + b }
    };
    let (u, v) = (fade(fx), fade(fz));
    mix(mix(corner(0.0, 0.0), corner(1.0, 0.0), u), mix(corner(0.0, 1.0), corner(1.0, 1.0), u), v)
}

/// The sum of `octaves` noises, each of half the size and weight of the one before.
pub fn fractal([x, z]: [f32; 2], octaves: u32) -> f32 {
    let mut sum = 0.0;
    let (mut scale, mut weight) = (1.0, 1.0);
    for octave in 0..octaves {
        let shift = 17.3 * octave as f32;
        sum += weight * noise([x * scale + shift, z * scale - shift]);
        scale *= 2.03;
        weight *= 0.5;
    }
    sum
}

/// Ridged fractal noise, from 0 to about 1: crests are zeros of the noise.
pub fn ridges([x, z]: [f32; 2], octaves: u32) -> f32 {
    let (mut sum, mut scale, mut weight, mut above) = (0.0, 1.0, 0.5, 1.0);
    for octave in 0..octaves {
        let shift = 31.7 * octave as f32;
        let ridge = 1.0 - noise([x * scale - shift, z * scale + shift]).abs();
        let ridge = ridge * ridge * above;
        sum += weight * ridge;
        // Crests have crests on them, and valleys have none.
        above = ridge.clamp(0.0, 1.0);
        scale *= 2.11;
        weight *= 0.52;
    }
    sum
}

/// Smooth step from 0 at `low` to 1 at `high`, in either order.
pub fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Linear interpolation: `a` at 0, `b` at 1.
pub fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

fn hash(x: i32, z: i32) -> u32 {
    let mut hash = (x as u32).wrapping_mul(0x8da6_b343) ^ (z as u32).wrapping_mul(0xd816_3841);
    hash = (hash ^ hash >> 15).wrapping_mul(0x2c1b_3c6d);
    hash = (hash ^ hash >> 12).wrapping_mul(0x297a_2d39);
    hash ^ hash >> 15
}
