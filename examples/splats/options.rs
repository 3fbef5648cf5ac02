//! Command-line options.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

/// Text of `--help`.
pub const USAGE: &str = "\
Draws a cloud of translucent splats, culled, sorted and drawn on the device, and writes PNG frames of a turn around it.

    --frames N      frames of the turn (24)
    --size WxH      pixels of a frame (1200x675)
    --splats N      splats of the cloud (800000)
    --out DIR       folder for frame-000.png and so on, created if needed (splats)
    --device NAME   a part of the device's name, case-insensitive (the best device)
    --computed      computes the depths in the sort, from the splats in view, and says what that saves or costs
    --reference     sorts the same depths on the CPU, by a stable sort: the frames are bit-identical
    --unsorted      omits the sort: the frames are wrong
    --validate      enables the validation layer, with its messages on standard error
    --help          prints this";

/// Method of ordering the splats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Sort on the device.
    Device,
    /// Sort on the device, by depths that the sort computes.
    Computed,
    /// Stable sort on the CPU, by the depths that the device has computed.
    Reference,
    /// No sort.
    Unsorted,
}

/// Command-line options.
#[derive(Debug, Clone)]
pub struct Options {
    /// Frames of a full turn.
    pub frame_count: u32,
    /// Width and height, in pixels.
    pub size: [u32; 2],
    /// Number of splats.
    pub splat_count: u32,
    /// Output folder.
    pub folder: PathBuf,
    /// A part of the device's name, in lower case.
    pub device: Option<String>,
    /// Method of ordering.
    pub order: Order,
    /// Whether the validation layer is enabled.
    pub is_validated: bool,
}

impl Options {
    /// One invocation for each splat, in workgroups of 128, of which any device takes 65,535.
    const MAX_SPLATS: u32 = 128 * 65_535;

    /// Parses the arguments after the program's name; `None` for `--help`.
    ///
    /// # Errors
    /// The invalid argument, in one line.
    pub fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>> {
        let mut options = Self {
            frame_count: 24,
            size: [1200, 675],
            splat_count: 800_000,
            folder: "splats".into(),
            device: None,
            order: Order::Device,
            is_validated: false,
        };
        while let Some(name) = arguments.next() {
            let name =
                name.into_string().map_err(|name| anyhow!("{name:?} is no option; --help names them"))?;
            let mut raw = || arguments.next().with_context(|| format!("{name} takes a value"));
            // Only the folder may be other than UTF-8.
            let mut value = || text(&name, raw()?);
            match name.as_str() {
                "--frames" => options.frame_count = number(&name, &value()?, 100_000)?,
                "--splats" => options.splat_count = number(&name, &value()?, Self::MAX_SPLATS)?,
                "--size" => {
                    let text = value()?;
                    let (width, height) = text
                        .split_once('x')
                        .with_context(|| format!("--size takes pixels such as 1200x675, not {text:?}"))?;
                    // The minimum of `maxFramebufferWidth` and `maxFramebufferHeight`.
                    options.size = [number(&name, width, 4096)?, number(&name, height, 4096)?];
                }
                "--out" => {
                    options.folder = raw()?.into();
                    ensure!(!options.folder.as_os_str().is_empty(), "--out takes a folder, and not nothing");
                }
                "--device" => options.device = Some(value()?.to_lowercase()),
                "--computed" | "--reference" | "--unsorted" => {
                    ensure!(
                        options.order == Order::Device,
                        "--computed, --reference and --unsorted exclude each other"
                    );
                    options.order = match name.as_str() {
                        "--computed" => Order::Computed,
                        "--reference" => Order::Reference,
                        _ => Order::Unsorted,
                    };
                }
                "--validate" => options.is_validated = true,
                "--help" | "-h" => return Ok(None),
                _ => bail!("{name:?} is no option; --help names them"),
            }
        }
        Ok(Some(options))
    }
}

fn text(name: &str, value: OsString) -> Result<String> {
    value.into_string().map_err(|value| anyhow!("{name} takes text, not {value:?}"))
}

fn number(name: &str, text: &str, max: u32) -> Result<u32> {
    let number = text.parse().ok().filter(|number| (1..=max).contains(number));
    number.with_context(|| format!("{name} takes whole numbers from 1 to {max}, not {text:?}"))
}
