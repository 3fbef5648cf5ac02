//! Objects of the scene: trees, water, clouds and a balloon.

use std::f32::consts::{PI, TAU};

use crate::camera::{dot, normalized};
use crate::land::{LAKE, Land, SUN, WATER, rim, stream, wetness};
use crate::noise::{Random, mix, noise, smoothstep, sunflower};
use crate::scene::{Blob, Color, Light, Scene, blend};

/// A tree: a cone or a ball.
pub struct Tree {
    foot: [f32; 3],
    height: f32,
    radius: f32,
    is_cone: bool,
    color: Color,
}

/// Number of candidate positions of trees.
const CANDIDATES: u32 = 13_000;

/// Plants trees on grass, and adds them to the canopy for shadows.
pub fn plant(land: &mut Land) -> Vec<Tree> {
    let mut random = Random::new(2);
    let mut trees = Vec::new();
    for index in 0..CANDIDATES {
        let on_disc = sunflower(index, CANDIDATES);
        let shift = [random.within(-0.012, 0.012), random.within(-0.012, 0.012)];
        let edge = 0.95 * rim(on_disc);
        let at = [on_disc[0] * edge + shift[0], on_disc[1] * edge + shift[1]];
        let (height, normal) = (land.height(at), land.normal(at));
        let (t, off) = stream(at);
        let is_wet = height < WATER + 0.012 || t > -0.02 && off.abs() < 0.075;
        let woods = noise([3.4 * at[0] + 5.0, 3.4 * at[1]]) + 0.35 * noise([11.0 * at[0], 11.0 * at[1]]);
        if is_wet || normal[1] < 0.80 || height > 0.30 || woods < random.within(-0.35, 0.45) {
            continue;
        }
        let is_cone = height + 0.06 * woods > random.within(0.08, 0.17);
        let size = random.within(0.6, 1.3) * (1.0 - 1.2 * height.max(0.0));
        let (tall, radius) =
            if is_cone { (0.068 * size, 0.0165 * size) } else { (0.043 * size, 0.0185 * size) };
        let hue = random.unit();
        let color = match random.unit() {
            _ if is_cone => blend([0.035, 0.11, 0.045], [0.09, 0.19, 0.05], hue),
            kind if kind < 0.50 => blend([0.13, 0.24, 0.04], [0.24, 0.32, 0.05], hue),
            kind if kind < 0.75 => blend([0.62, 0.36, 0.04], [0.70, 0.48, 0.07], hue),
            kind if kind < 0.92 => blend([0.62, 0.18, 0.03], [0.68, 0.30, 0.04], hue),
            _ => blend([0.42, 0.06, 0.03], [0.55, 0.12, 0.04], hue),
        };
        let foot = [at[0], height, at[1]];
        land.grow([foot[0], foot[1] + 0.45 * tall, foot[2]], 0.8 * radius);
        trees.push(Tree { foot, height: tall, radius, is_cone, color });
    }
    trees
}

/// The leaves of all trees.
pub fn forest(scene: &mut Scene, trees: &[Tree], count: u32) {
    let mut random = Random::new(3);
    let count_each = count / trees.len().max(1) as u32;
    for tree in trees {
        // Fewer leaves are larger.
        let across = 0.25 * tree.radius * (90.0 / count_each.max(1) as f32).sqrt().clamp(0.2, 3.0);
        for _ in 0..count_each {
            let out = random.direction();
            // Most leaves are near the outside.
            let from_middle = random.unit().powf(0.28);
            let (position, normal, up) = if tree.is_cone {
                let up = 1.0 - random.unit().sqrt() * 0.92;
                // Branches stand in tiers.
                let tier = 1.0 - 0.38 * (up * 6.0).fract();
                let radius = tree.radius * (1.0 - up) * tier * 1.25 * from_middle;
                let angle = random.within(0.0, TAU);
                let (x, z) = (angle.cos(), angle.sin());
                let offset = [radius * x, (up + 0.05) * tree.height, radius * z];
                (offset, normalized([x, 0.65, z]), up)
            } else {
                let lumps =
                    1.0 + 0.30 * noise([5.0 * out[0] + 90.0 * tree.foot[0], 5.0 * out[2] + 4.0 * out[1]]);
                let radius = tree.radius * from_middle * lumps;
                let middle = 0.62 * tree.height;
                let offset = [radius * out[0], middle + 0.9 * radius * out[1], radius * out[2]];
                (offset, normalized([out[0], out[1] + 0.25, out[2]]), 0.5 + 0.5 * out[1] * from_middle)
            };
            let position: [f32; 3] = std::array::from_fn(|axis| tree.foot[axis] + position[axis]);
            // Leaves let some light through, and hide one another from the sky.
            let facing = (dot(normal, normalized(SUN)) + 0.35).max(0.0) / 1.35;
            let near_sun = std::array::from_fn(|axis| position[axis] + 0.9 * tree.radius * SUN[axis]);
            let sun = facing * scene.land.sunlight(near_sun);
            let light = Light { sun, sky: mix(0.22, 0.9, up) * mix(0.5, 1.0, from_middle) };
            let albedo = tree.color.map(|channel| channel * random.within(0.6, 1.4));
            let blob = Blob { position, axis: normal, along: 0.45 * across, across, albedo, opacity: 0.78 };
            scene.add(blob, light, false);
        }
    }
}

/// The lake, and the stream that falls over the rim.
pub fn water(scene: &mut Scene, count: u32) {
    let mut random = Random::new(4);
    let fall_count = count * 2 / 5;
    let pool_count = count - fall_count;
    // A disc around the lake and the stream; land is skipped.
    let (middle, reach) = ([0.34, 0.45], 0.46);
    let across = 0.95 * reach * (PI / pool_count.max(1) as f32).sqrt();
    for index in 0..pool_count {
        let at = sunflower(index, pool_count);
        let at = [middle[0] + reach * at[0], middle[1] + reach * at[1]];
        let deep = WATER - scene.land.height(at);
        if deep < 0.0 || wetness(at) < 0.5 || at[0].hypot(at[1]) > rim(at) + 0.004 {
            continue;
        }
        let ripples = noise([60.0 * at[0], 110.0 * at[1]]) + 0.5 * noise([150.0 * at[0], 210.0 * at[1]]);
        let foam = smoothstep(0.006, 0.0, deep) * 0.7;
        let albedo = blend([0.07, 0.26, 0.34], [0.85, 0.9, 0.92], foam + 0.10 * ripples.max(0.0));
        let glint = smoothstep(0.62, 0.95, ripples);
        let light =
            Light { sun: 0.45 * scene.land.sunlight([at[0], WATER + 0.01, at[1]]) + 1.2 * glint, sky: 0.9 };
        let opacity = mix(0.16, 0.42, smoothstep(0.0, 0.05, deep)) + 0.25 * foam;
        let blob = Blob {
            position: [at[0], WATER, at[1]],
            axis: [0.0, 1.0, 0.0],
            along: 0.15 * across,
            across,
            albedo,
            opacity,
        };
        scene.add(blob, light, false);
    }
    waterfall(scene, &mut random, fall_count);
}

fn waterfall(scene: &mut Scene, random: &mut Random, count: u32) {
    let length = LAKE[0].hypot(LAKE[1]);
    let along = [LAKE[0] / length, LAKE[1] / length];
    let edge = rim(along);
    for _ in 0..count {
        let falls = random.unit().powf(1.1);
        let spread = 0.020 + 0.026 * falls;
        let across = spread * random.normal() * 0.8;
        // The water follows a parabola outwards.
        let out = edge + 0.01 + 0.11 * falls.sqrt() + 0.35 * spread * random.normal();
        // In the course of the stream at the rim.
        let (_, bend) = stream([along[0] * edge, along[1] * edge]);
        let off = across - bend;
        let position =
            [along[0] * out - along[1] * off, WATER - 0.02 - 0.66 * falls, along[1] * out + along[0] * off];
        let thin = 1.0 - falls;
        let strands = 0.5 + 0.5 * noise([170.0 * across / (1.0 + falls), 3.0 * falls]);
        let blob = Blob {
            position,
            axis: normalized([0.05 * random.normal(), 1.0, 0.05 * random.normal()]),
            along: mix(0.016, 0.022, falls),
            across: mix(0.0022, 0.006, falls),
            albedo: blend([0.35, 0.58, 0.66], [0.93, 0.96, 0.98], strands),
            opacity: (0.30 * thin * thin + 0.010) * (0.4 + 0.6 * strands),
        };
        scene.add(blob, Light { sun: 0.55, sky: 1.0 }, false);
    }
}

/// Clouds: balls of mist.
pub fn clouds(scene: &mut Scene, count: u32) {
    let mut random = Random::new(11);
    // Angle, distance, height and size of each.
    const CLOUDS: [[f32; 4]; 9] = [
        [1.95, 1.12, 0.06, 1.05],
        [0.35, 1.16, -0.10, 1.15],
        [2.75, 1.10, 0.42, 0.85],
        [5.6, 1.05, 0.50, 1.1],
        [4.85, 1.12, 0.34, 1.25],
        [3.7, 1.1, -0.05, 1.0],
        [1.2, 0.62, -0.52, 0.8],
        [4.9, 0.9, -0.35, 1.0],
        [-0.3, 0.55, 0.60, 0.6],
    ];
    let count_each = count / CLOUDS.len() as u32;
    for [angle, distance, height, size] in CLOUDS {
        let middle = [distance * angle.cos(), height, distance * angle.sin()];
        // Tangent of the circle around the island.
        let along = [-angle.sin(), 0.0, angle.cos()];
        let puffs: Vec<_> = (0..20)
            .map(|_| {
                let t = random.within(-1.0, 1.0);
                let radius = size * mix(0.080, 0.028, t.abs()) * random.within(0.65, 1.2);
                let shift = 0.20 * size * t;
                let center: [f32; 3] = [
                    middle[0] + shift * along[0] + 0.035 * size * random.normal(),
                    middle[1] + 0.45 * radius + 0.012 * random.normal(),
                    middle[2] + shift * along[2] + 0.035 * size * random.normal(),
                ];
                (center, radius)
            })
            .collect();
        for index in 0..count_each {
            let (center, radius) = puffs[index as usize % puffs.len()];
            let out = random.direction();
            let from_middle = random.unit().powf(0.4);
            // Flattened below.
            let flat = if out[1] < 0.0 { 0.45 } else { 1.0 };
            let offset = [out[0], out[1] * flat, out[2]].map(|axis| axis * radius * from_middle);
            let position: [f32; 3] = std::array::from_fn(|axis| center[axis] + offset[axis]);
            let above = (position[1] - middle[1]) / (0.10 * size);
            let facing = 0.5 + 0.5 * dot(out, normalized(SUN)) * from_middle;
            let light = Light { sun: mix(0.12, 0.72, facing), sky: 0.55 + 0.35 * above.clamp(-1.0, 1.0) };
            let blob = Blob {
                position,
                axis: out,
                along: 0.20 * radius,
                across: 0.26 * radius,
                albedo: [0.95, 0.95, 0.97],
                opacity: 0.10,
            };
            scene.add(blob, light, false);
        }
    }
}

/// A striped balloon with a basket.
pub fn balloon(scene: &mut Scene, count: u32) {
    const MIDDLE: [f32; 3] = [-0.36, 0.58, 0.66];
    const RADIUS: f32 = 0.088;
    let basket_count = count / 12;
    let across = RADIUS * (4.0 * PI / count.max(1) as f32).sqrt() * 0.8;
    for index in 0..count {
        if index < basket_count {
            let mut random = Random::new(1000 + u64::from(index));
            let [x, y, z] = [0; 3].map(|_| random.within(-1.0, 1.0));
            let position =
                [MIDDLE[0] + 0.016 * x, MIDDLE[1] - 1.66 * RADIUS + 0.012 * y, MIDDLE[2] + 0.016 * z];
            let blob = Blob {
                position,
                axis: [0.0, 1.0, 0.0],
                along: 0.0025,
                across: 0.0025,
                albedo: [0.30, 0.17, 0.07],
                opacity: 0.8,
            };
            scene.add(blob, Light { sun: 0.6, sky: 0.5 }, false);
            continue;
        }
        // Points of a sphere, evenly: the sunflower again, by Archimedes' theorem.
        let part = (index - basket_count) as f32 / (count - basket_count) as f32;
        let (height, angle) = (1.0 - 2.0 * part, index as f32 * 2.399_963_2);
        let around = (1.0 - height * height).max(0.0).sqrt();
        let normal = [around * angle.cos(), height, around * angle.sin()];
        // Below, it narrows to its mouth.
        let narrow = if height < 0.0 { 1.0 - 0.38 * height * height } else { 1.0 };
        let long = if height < 0.0 { 1.42 } else { 1.0 };
        let position = [
            MIDDLE[0] + RADIUS * normal[0] * narrow,
            MIDDLE[1] + RADIUS * height * long,
            MIDDLE[2] + RADIUS * normal[2] * narrow,
        ];
        let stripe = (normal[2].atan2(normal[0]) / TAU * 12.0).rem_euclid(2.0);
        let is_band = (0.05..0.22).contains(&height);
        let albedo = match (is_band, stripe < 1.0) {
            (true, _) => [0.90, 0.62, 0.10],
            (false, true) => [0.74, 0.07, 0.05],
            (false, false) => [0.92, 0.86, 0.74],
        };
        let normal = normalized([normal[0], height * 0.8, normal[2]]);
        let light = Light { sun: dot(normal, normalized(SUN)).max(0.0), sky: 0.55 + 0.3 * normal[1] };
        let blob = Blob { position, axis: normal, along: 0.3 * across, across, albedo, opacity: 0.95 };
        scene.add(blob, light, true);
    }
}
