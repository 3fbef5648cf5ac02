//! A renderer of Gaussian splats on its own device, with a selection and a sort of this library in each frame.
//!
//! `device.rs` creates and adopts the device; `frame.rs` records a frame; `slot.rs` has the resources of a frame in
//! flight; `reference.rs` sorts on the CPU; `scene.rs` generates the scene.
//!
//! Source: Kerbl, Kopanas, Leimkühler and Drettakis, "3D Gaussian splatting for real-time radiance field rendering", ACM
//! Transactions on Graphics 2023: a scene of Gaussians, which are sorted by depth in every frame and blended.

mod camera;
mod commands;
mod depth;
mod device;
mod frame;
mod growth;
mod land;
mod memory;
mod noise;
mod options;
mod pipelines;
mod reference;
mod scene;
mod slot;
mod target;

use std::fs::{self, File};
use std::io::{BufWriter, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use camera::Camera;
use commands::Commands;
use device::Gpu;
use frame::Renderer;
use memory::{Buffer, Location};
use options::{Options, Order, USAGE};
use scene::{Scene, Splat};
use slot::Slot;
use subsweep::ash::vk;

/// Frames in flight: the host writes one while the device draws the next.
const FRAMES_IN_FLIGHT: usize = 2;

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
            eprintln!("splats: {error:#}");
            ExitCode::from(code)
        }
    }
}

/// Draws every frame of the turn.
fn run(options: &Options) -> Result<()> {
    let gpu = Gpu::open(options.device.as_deref(), options.is_validated)?;
    let folder = &options.folder;
    fs::create_dir_all(folder).with_context(|| format!("there can be no folder {}", folder.display()))?;
    let scene = Scene::new(options.splat_count);
    let renderer = Renderer::new(&gpu, upload(&gpu, &scene.splats)?, options)?;
    let mut slots = Vec::new();
    for _ in 0..FRAMES_IN_FLIGHT {
        slots.push(renderer.slot(options)?);
    }

    let mut seen_count = 0;
    let shows_progress = std::io::stderr().is_terminal();
    // The last iterations only wait.
    for frame in 0..options.frame_count as usize + FRAMES_IN_FLIGHT {
        let slot = &mut slots[frame % FRAMES_IN_FLIGHT];
        if let Some(done) = frame.checked_sub(FRAMES_IN_FLIGHT) {
            slot.commands.wait()?;
            if options.order == Order::Computed {
                seen_count += u64::from(slot.draw.elements::<u32>(4)[1]);
            }
            write(slot, options.size, &folder.join(format!("frame-{done:03}.png")))?;
            if shows_progress {
                eprint!("\rsplats: {} of {} frames", done + 1, options.frame_count);
            }
        }
        if frame < options.frame_count as usize {
            let camera = Camera::turned(frame as f32 / options.frame_count as f32);
            // SAFETY: the slot is the renderer's, and was waited for just now.
            unsafe { renderer.submit(slot, &camera) }?;
        }
    }
    if shows_progress {
        eprintln!();
    }
    let [width, height] = options.size;
    println!(
        "{} frames of {} splats, {width} x {height}, on {}, in {}",
        options.frame_count,
        options.splat_count,
        gpu.name(),
        folder.display()
    );
    if options.order == Order::Computed {
        println!("{}", renderer.comparison(seen_count / u64::from(options.frame_count))?);
    }
    Ok(())
}

/// Uploads the cloud to device-local memory.
fn upload<'g>(gpu: &'g Gpu, splats: &[Splat]) -> Result<Buffer<'g>> {
    let size = size_of_val(splats) as u64;
    let mut staging = Buffer::new(gpu, size, Location::Host)?;
    staging.elements(splats.len()).copy_from_slice(splats);
    let buffer = Buffer::new(gpu, size, Location::Device)?;
    let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
    let seen = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::SHADER_READ)];
    let commands = Commands::new(gpu)?;
    // SAFETY: both buffers have the size of the copy, and live until it was waited for.
    unsafe {
        commands.submit(|commands| {
            gpu.raw.cmd_copy_buffer(commands, staging.range.buffer, buffer.range.buffer, &region);
            gpu.raw.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::DependencyFlags::empty(),
                &seen,
                &[],
                &[],
            );
            Ok(())
        })
    }?;
    commands.wait()?;
    Ok(buffer)
}

/// Writes the image of a slot's frame as PNG.
fn write(slot: &mut Slot<'_>, [width, height]: [u32; 2], path: &Path) -> Result<()> {
    let pixels: &[[u8; 4]] = slot.pixels.elements((width * height) as usize);
    let opaque: Vec<u8> = pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
    let explain = || format!("{} cannot be written", path.display());
    let file = File::create(path).with_context(explain)?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().with_context(explain)?;
    writer.write_image_data(&opaque).and_then(|()| writer.finish()).with_context(explain)
}
