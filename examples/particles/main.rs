//! Particles that push each other: in every step a sort by cells, a search for the cells' first particles, a scan of the
//! numbers of neighbours, and a selection of the crowded particles, between kernels of the example's own.
//!
//! `simulation.rs` records a step; `kernel.rs` has the example's pipelines; `reference.rs` makes the same steps on the CPU.
//! All numbers are whole, so that both have the same bits.
//!
//! Sources: Green, "Particle simulation using CUDA", 2010, sorts particles by cells to find their neighbours; Clavet,
//! Beaudoin and Poulin, "Particle-based viscoelastic fluid simulation", SCA 2005, moves them by their neighbours.

mod kernel;
mod reference;
mod simulation;

use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use simulation::Simulation;
use subsweep::headless::{Gpu, GpuOptions};

// As in `particles.glsl`.
const SIDE: i32 = 1 << 20;
const REACH: i32 = 1 << 13;
const GRID: i32 = SIDE / REACH;
const MAX_NEIGHBOURS: usize = 64;

/// Neighbours of a crowded particle.
const CROWDED: u32 = 14;

/// Pixels of a side of the picture.
const PIXELS: usize = 512;

const USAGE: &str = "usage: particles [--count N] [--steps N] [-o PICTURE.png]

Lets N particles (6000) fall for some steps (40), on the best device, compares every step with the CPU, and draws the
last one: particles with many neighbours are orange.";

/// Positions and velocities.
#[derive(Clone, PartialEq, Eq)]
struct State {
    positions: Vec<[i32; 2]>,
    velocities: Vec<[i32; 2]>,
}

impl State {
    /// A column of particles at the left wall, not quite in rows.
    fn new(count: u32) -> Self {
        let columns = (f64::from(count) / 2.0).sqrt().ceil() as u32;
        let position = |particle: u32| {
            let jitter = particle.wrapping_mul(0x9e37_79b9) >> 23;
            let spacing = (SIDE as u32 * 2 / 5 / columns.max(1)).min(5000);
            [particle % columns * spacing + jitter, SIDE as u32 - 1 - particle / columns * spacing - jitter]
                .map(|at| at.min(SIDE as u32 - 1) as i32)
        };
        Self { positions: (0..count).map(position).collect(), velocities: vec![[0, 0]; count as usize] }
    }
}

struct Options {
    count: u32,
    steps: usize,
    picture: Option<PathBuf>,
}

impl Options {
    /// Parses the arguments; `None` asks for help.
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>> {
        let mut options = Self { count: 6000, steps: 40, picture: None };
        while let Some(option) = arguments.next() {
            let option = option.to_string_lossy().into_owned();
            if ["-h", "--help"].contains(&option.as_str()) {
                return Ok(None);
            }
            let value = arguments.next();
            let number = |max: u32| -> Result<u32> {
                let text =
                    value.as_ref().map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
                let number = text.parse().ok().filter(|number| (1..=max).contains(number));
                number.with_context(|| format!("{option} takes a number from 1 to {max}, not {text:?}"))
            };
            match option.as_str() {
                "--count" => options.count = number(100_000)?,
                "--steps" => options.steps = number(10_000)? as usize,
                "-o" => options.picture = Some(value.clone().context("-o takes a file")?.into()),
                _ => bail!("{option} is no option; --help lists them"),
            }
        }
        Ok(Some(options))
    }
}

fn main() -> ExitCode {
    let done = match Options::parse(std::env::args_os().skip(1)) {
        Ok(Some(options)) => run(&options).map_err(|error| (1, error)),
        Ok(None) => {
            println!("{USAGE}");
            Ok(())
        }
        Err(error) => Err((2, error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, error)) => {
            eprintln!("particles: {error:#}");
            ExitCode::from(code)
        }
    }
}

/// Makes every step on the device and on the CPU.
fn run(options: &Options) -> Result<()> {
    let gpu = Gpu::open(GpuOptions::default())?;
    let mut state = State::new(options.count);
    let simulation = Simulation::new(&gpu, &state)?;
    let mut crowded = Vec::new();
    for step in 0..options.steps {
        simulation.step(step)?;
        let neighbours = reference::neighbours(&state);
        state = reference::step(&state, &neighbours);
        crowded = simulation.crowded()?;
        let expected = (0..).zip(&neighbours).filter(|(_, near)| near.len() >= CROWDED as usize);
        ensure!(
            crowded == expected.map(|(particle, _)| particle).collect::<Vec<u32>>(),
            "step {step} selects other particles than the CPU"
        );
        ensure!(simulation.state(step + 1)? == state, "step {step} differs from the CPU's");
    }
    if let Some(path) = &options.picture {
        draw(path, &state, &crowded)?;
    }
    println!(
        "{}: {} steps of {} particles equal the CPU's; {} are crowded",
        gpu.identity().name,
        options.steps,
        options.count,
        crowded.len()
    );
    Ok(())
}

/// Writes a picture of the particles as PNG.
fn draw(path: &Path, state: &State, crowded: &[u32]) -> Result<()> {
    let mut pixels = vec![[12u8, 14, 20]; PIXELS * PIXELS];
    let mut dot = |particle: usize, color: [u8; 3]| {
        let at = state.positions[particle].map(|at| at as usize / (SIDE as usize / PIXELS));
        for [x, y] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let [x, y] = [(at[0] + x).min(PIXELS - 1), (at[1] + y).min(PIXELS - 1)];
            pixels[y * PIXELS + x] = color;
        }
    };
    (0..state.positions.len()).for_each(|particle| dot(particle, [70, 130, 220]));
    crowded.iter().for_each(|&particle| dot(particle as usize, [250, 150, 40]));
    let explain = || format!("{} cannot be written", path.display());
    let mut encoder = png::Encoder::new(
        BufWriter::new(File::create(path).with_context(explain)?),
        PIXELS as u32,
        PIXELS as u32,
    );
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().with_context(explain)?;
    writer.write_image_data(pixels.as_flattened()).and_then(|()| writer.finish()).with_context(explain)
}
