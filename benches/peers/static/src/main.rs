//! Compiler statistics of subsweep's kernels and its peers', in one table. See ../README.md; called by `run`.

mod cub;
mod lampshade;
mod mesa;
mod modules;
mod occupancy;
mod ours;
mod sass;
mod spirv;
mod table;
mod tool;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use cub::Toolkit;
use mesa::{Inspector, TARGETS};
use ours::Folders;

const USAGE: &str = "usage: benches/peers/static/run [--modules FOLDER] [--without-cub]";

/// Command-line options of `run` and the user.
struct Options {
    /// NVIDIA's toolkit.
    cuda: Option<PathBuf>,
    subsweep: PathBuf,
    modules: Option<PathBuf>,
}

fn options() -> Option<Options> {
    let (mut cuda, mut subsweep, mut modules) = (None, None, None);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(name) = arguments.next() {
        let to = match name.to_str()? {
            "--cuda" => &mut cuda,
            "--subsweep" => &mut subsweep,
            "--modules" => &mut modules,
            _ => return None,
        };
        *to = Some(PathBuf::from(arguments.next()?));
    }
    Some(Options { cuda, subsweep: subsweep?, modules })
}

fn begin(what: &str) {
    eprintln!("static: {what}");
}

fn table(options: &Options) -> Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(3).context("this package lies in no repository")?;
    let work = std::env::temp_dir().join(format!("subsweep-peers-static-{}", std::process::id()));
    std::fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let made = rows(options, package, root, &work);
    // Temporary files only.
    _ = std::fs::remove_dir_all(&work);
    let (versions, rows) = made?;
    for version in versions {
        println!("{version}");
    }
    println!();
    table::print(rows);
    Ok(())
}

fn rows(
    options: &Options,
    package: &Path,
    root: &Path,
    work: &Path,
) -> Result<(Vec<String>, Vec<table::Row>)> {
    let inspector = Inspector { program: options.subsweep.clone() };
    let (lampshade, version) = lampshade::find(package)?;
    let mut versions = vec![format!("lampshade {version}")];
    let modules = match &options.modules {
        Some(folder) => modules::find(folder)?,
        None => {
            begin("no --modules FOLDER: Fuchsia radix sort, vulkan_radix_sort and GPUSorting are left out");
            Vec::new()
        }
    };
    let mut rows = Vec::new();
    if let Some(folder) = &options.cuda {
        let toolkit = Toolkit { folder, source: &package.join("cub.cu"), work };
        versions.insert(0, toolkit.version()?);
        rows.extend(toolkit.rows(begin)?);
    } else {
        begin("without CUB");
    }
    for target in &TARGETS {
        versions.push(format!("{}: {}", target.name, inspector.driver(target)?));
        begin(&format!("subsweep by {}", target.name));
        rows.extend(ours::rows(&inspector, target, Folders { root, work })?);
        begin(&format!("lampshade by {}", target.name));
        rows.extend(lampshade::rows(&inspector, target, &lampshade, work)?);
        for module in &modules {
            match module.row(&inspector, target, work) {
                Ok(row) => rows.push(row),
                Err(error) => begin(&format!("{} by {} is left out: {error:#}", module.name, target.name)),
            }
        }
    }
    Ok((versions, rows))
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match table(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("static: {error:#}");
            ExitCode::FAILURE
        }
    }
}
