//! The scene: an island of translucent splats, the same in every run.
//!
//! Leaves, water and clouds are translucent, so that an image is correct only in order of depth.

use bytemuck::{Pod, Zeroable};

use crate::camera::{dot, normalized};
use crate::growth::{balloon, clouds, forest, plant, water};
use crate::land::{Land, SUN, WATER, depth, rim, wetness};
use crate::noise::{fractal, mix, noise, smoothstep, sunflower};

/// Red, green and blue: linear.
pub type Color = [f32; 3];

/// A Gaussian in space: `Splat` in `shaders/splat.glsl`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Splat {
    position: [f32; 3],
    opacity: f32,
    /// xx, xy, xz, yy, yz, zz.
    covariance: [f32; 6],
    color: [u8; 4],
    normal: [i8; 4],
}

/// Parameters of a splat.
#[derive(Clone, Copy)]
pub struct Blob {
    pub position: [f32; 3],
    /// Axis of length 1, with standard deviations along and across it.
    pub axis: [f32; 3],
    /// Standard deviations.
    pub along: f32,
    pub across: f32,
    /// Colour of the surface under uniform white light.
    pub albedo: Color,
    pub opacity: f32,
}

/// The light that falls on a splat.
#[derive(Clone, Copy)]
pub struct Light {
    /// From the sun, from 0 to 1.
    pub sun: f32,
    /// From the sky, from 0 to 1.
    pub sky: f32,
}

/// Splats and the land.
pub struct Scene {
    pub land: Land,
    pub splats: Vec<Splat>,
}

const SUN_COLOR: Color = [3.5, 2.55, 1.55];
const SKY_COLOR: Color = [0.32, 0.46, 0.74];
const GROUND_COLOR: Color = [0.13, 0.10, 0.09];

impl Scene {
    /// Generates the island with `count` splats, divided among its parts.
    pub fn new(count: u32) -> Self {
        let share = |part: f64| (f64::from(count) * part) as u32;
        let mut scene = Self { land: Land::new(), splats: Vec::with_capacity(count as usize) };
        let trees = plant(&mut scene.land);
        scene.land.light();
        forest(&mut scene, &trees, share(0.33));
        rock(&mut scene, share(0.18));
        water(&mut scene, share(0.05));
        balloon(&mut scene, share(0.012));
        clouds(&mut scene, share(0.024));
        let rest = count - scene.splats.len() as u32;
        ground(&mut scene, rest);
        scene
    }

    /// Adds a lit splat; with `has_back` it is culled from behind.
    pub fn add(&mut self, blob: Blob, light: Light, has_back: bool) {
        let lit = |channel: usize| {
            let falls = SUN_COLOR[channel] * light.sun
                + SKY_COLOR[channel] * light.sky
                + GROUND_COLOR[channel] * (1.0 - 0.6 * blob.axis[1]);
            // Bright light saturates, as on film.
            let seen = 1.0 - (-1.15 * blob.albedo[channel] * falls).exp();
            (seen.sqrt() * 255.0 + 0.5) as u8
        };
        let [x, y, z] = blob.axis;
        let round = blob.across * blob.across;
        let long = blob.along * blob.along - round;
        self.splats.push(Splat {
            position: blob.position,
            opacity: blob.opacity,
            covariance: [
                round + long * x * x,
                long * x * y,
                long * x * z,
                round + long * y * y,
                long * y * z,
                round + long * z * z,
            ],
            color: [lit(0), lit(1), lit(2), 255],
            normal: if has_back {
                let [x, y, z] = blob.axis.map(|axis| (127.0 * axis).round() as i8);
                [x, y, z, 0]
            } else {
                [0; 4]
            },
        });
    }
}

/// Light on an opaque surface with `normal`.
pub fn on_surface(land: &Land, position: [f32; 3], normal: [f32; 3], openness: f32) -> Light {
    let sun = dot(normal, normalized(SUN)).max(0.0) * land.sunlight(position);
    Light { sun, sky: openness * (0.55 + 0.45 * normal[1]) }
}

/// Linear interpolation of colours.
pub fn blend(a: Color, b: Color, t: f32) -> Color {
    std::array::from_fn(|channel| mix(a[channel], b[channel], t))
}

/// Grass, sand, rock and snow.
fn ground(scene: &mut Scene, count: u32) {
    let spacing = (std::f32::consts::PI / count.max(1) as f32).sqrt();
    for index in 0..count {
        let on_disc = sunflower(index, count);
        let edge = rim(on_disc);
        let at = on_disc.map(|axis| axis * edge);
        let normal = scene.land.normal(at);
        let height = scene.land.height(at);
        let position = [at[0], height, at[1]];
        let openness = scene.land.openness(at);
        let patches = noise([9.0 * at[0], 9.0 * at[1]]) + 0.5 * noise([31.0 * at[0], 31.0 * at[1]]);
        let grain = 1.0 + 0.10 * noise([140.0 * at[0], 140.0 * at[1]]) + 0.05 * patches;

        let grass = blend([0.10, 0.19, 0.035], [0.27, 0.30, 0.07], smoothstep(-0.7, 0.8, patches));
        let strata = 0.5 + 0.5 * (90.0 * height + 3.0 * patches).sin();
        let stone = blend([0.19, 0.165, 0.155], [0.31, 0.265, 0.225], strata);
        let mut albedo = blend(grass, stone, smoothstep(0.86, 0.72, normal[1] - 0.05 * patches));
        albedo = blend(albedo, stone, smoothstep(0.22, 0.36, height + 0.03 * patches));
        let snow = smoothstep(0.26, 0.36, height + 0.035 * patches) * smoothstep(0.26, 0.48, normal[1]);
        albedo = blend(albedo, [0.92, 0.94, 0.98], snow);
        let wet = wetness(at);
        let beach = wet * smoothstep(WATER + 0.02, WATER + 0.006, height) * smoothstep(0.6, 0.85, normal[1]);
        albedo = blend(albedo, [0.52, 0.43, 0.29], beach);
        let bed = wet * smoothstep(WATER, WATER - 0.05, height);
        albedo = blend(albedo, [0.10, 0.22, 0.22], 0.8 * bed).map(|channel| channel * grain);

        // Steep ground has a larger area per point.
        let across = 0.72 * spacing / normal[1].max(0.25).sqrt();
        let blob = Blob { position, axis: normal, along: 0.3 * across, across, albedo, opacity: 0.96 };
        let light = on_surface(&scene.land, position, normal, openness);
        scene.add(blob, light, true);
    }
}

/// Rock below the island.
fn rock(scene: &mut Scene, count: u32) {
    let spacing = (std::f32::consts::PI / count.max(1) as f32).sqrt();
    for index in 0..count {
        let on_disc = sunflower(index, count);
        let edge = rim(on_disc);
        // More of it near the rim, where it falls off steeply.
        let radius = on_disc[0].hypot(on_disc[1]);
        let at = on_disc.map(|axis| axis * edge * radius.powf(-0.35));
        let at = at.map(|axis| axis.clamp(-1.1, 1.1));
        const STEP: f32 = 0.004;
        let slope = |dx, dz| depth([at[0] + dx, at[1] + dz]) - depth([at[0] - dx, at[1] - dz]);
        let normal = normalized([-slope(STEP, 0.0), -2.0 * STEP, -slope(0.0, STEP)]);
        let deep = depth(at);
        let position = [at[0], 0.004 - deep, at[1]];
        let bands = 0.5 + 0.5 * (46.0 * position[1] + 4.0 * fractal([3.0 * at[0], 3.0 * at[1]], 3)).sin();
        let stone = blend([0.22, 0.15, 0.11], [0.44, 0.32, 0.23], bands);
        let moss = smoothstep(0.16, 0.0, deep + 0.05 * noise([24.0 * at[0], 24.0 * at[1]]));
        let grain = 1.0 + 0.15 * noise([90.0 * at[0], 90.0 * (at[1] + position[1])]);
        let albedo = blend(stone, [0.15, 0.17, 0.06], 0.75 * moss).map(|channel| channel * grain);
        let across = 0.75 * spacing / normal[1].abs().max(0.12).sqrt();
        let blob = Blob { position, axis: normal, along: 0.3 * across, across, albedo, opacity: 0.96 };
        // The underside is not in the shadow map: a constant factor stands for it.
        let sun = dot(normal, normalized(SUN)).max(0.0) * 0.9;
        let light = Light { sun, sky: 0.16 + 0.26 * (1.0 + normal[1]) };
        scene.add(blob, light, true);
    }
}
