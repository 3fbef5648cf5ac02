//! What the command line asks for.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

/// The words of `--help`.
pub const USAGE: &str = "\
Draws a cloud of translucent splats, culled, sorted and drawn on the device, and writes PNG frames of a turn around it.

    --frames N      frames of the turn (24)
    --size WxH      pixels of a frame (1200x675)
    --splats N      splats of the cloud (800000)
    --out DIR       where frame-000.png and so on go, made if need be (splats)
    --device NAME   a part of the device's name, case aside (the best that will do)
    --reference     sorts the same depths on the CPU, by a stable sort: the frames are the same to the bit
    --unsorted      leaves the sort out: the frames are wrong, and show what it is for
    --validate      has the validation layer watch, and its messages on standard error
    --help          prints this";

/// How the splats come into the order in which they are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All of it on the device.
    Device,
    /// By a stable sort on the CPU, of the depths that the device has computed.
    Reference,
    /// Not at all.
    Unsorted,
}

/// What the command line asks for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Frames of a whole turn.
    pub frame_count: u32,
    /// Width and height, in pixels.
    pub size: [u32; 2],
    /// Splats of the cloud.
    pub splat_count: u32,
    /// Where the frames go.
    pub folder: PathBuf,
    /// A part of the device's name, in lower case.
    pub device: Option<String>,
    /// Who sorts.
    pub order: Order,
    /// Whether the validation layer watches.
    pub is_validated: bool,
}

impl Options {
    /// One invocation for each splat, in workgroups of 128, of which any device takes 65,535.
    const MAX_SPLATS: u32 = 128 * 65_535;

    /// Reads the arguments behind the program's name; nothing if they ask for help.
    ///
    /// # Errors
    /// One line that says what is wrong with which.
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
            // A folder may be called anything, the rest is words.
            let mut value = || text(&name, raw()?);
            match name.as_str() {
                "--frames" => options.frame_count = number(&name, &value()?, 100_000)?,
                "--splats" => options.splat_count = number(&name, &value()?, Self::MAX_SPLATS)?,
                "--size" => {
                    let text = value()?;
                    let (width, height) = text
                        .split_once('x')
                        .with_context(|| format!("--size takes pixels such as 1200x675, not {text:?}"))?;
                    // What any device draws at once.
                    options.size = [number(&name, width, 4096)?, number(&name, height, 4096)?];
                }
                "--out" => {
                    options.folder = raw()?.into();
                    ensure!(!options.folder.as_os_str().is_empty(), "--out takes a folder, and not nothing");
                }
                "--device" => options.device = Some(value()?.to_lowercase()),
                "--reference" | "--unsorted" => {
                    ensure!(options.order == Order::Device, "of --reference and --unsorted there can be one");
                    options.order = if name == "--reference" { Order::Reference } else { Order::Unsorted };
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
