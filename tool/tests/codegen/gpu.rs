//! The trials of one GPU: no pipeline spills, and the numbers match the committed table.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use libtest_mimic::{Failed, Trial};
use subsweep::device::{Device, EnabledFeatures};
use subsweep::headless::Instance;
use subsweep::kernels;

use super::children::{announce, note};
use super::compiled::{self, Compiled};
use super::table::{COLUMNS, Line, Table};
use super::{chosen, main_path, spilling};

/// Compiles every pipeline, and rewrites the GPU's table with `SUBSWEEP_BLESS=1`.
pub fn trials(name: &str) -> Result<Vec<Trial>> {
    let (instance, device) = open()?;
    let identity = &device.capabilities().identity;
    announce(&format!("{}, {}", identity.name, identity.driver_text()));
    let compiled = compiled::all(&device)?;
    let first = compiled.iter().filter(|one| one.is_first);
    let found = Table {
        gpu: format!("{}, {}", identity.name, identity.driver_text()),
        shaders: kernels::COMPILER.to_owned(),
        lines: first.map(|one| (one.inspected.kernel.clone(), Line::new(one))).collect(),
        main_paths: main_path::counts(&device)?.into_iter().collect(),
    };
    let mut trials = vec![
        complete(&found, device.capabilities().enabled),
        chosen::trial_of(name, &compiled)?,
        doctored(found.clone()),
        wide(&compiled),
        spilling::trial(&device),
    ];
    trials.extend(compared(&found, &committed(name, &found)?));
    trials.extend(
        compiled.into_iter().map(|one| trial(&format!("no spills: {}", one.name()), move || one.check())),
    );
    // All pipelines are compiled at this point.
    let messages = instance.take_messages();
    trials.push(trial("validation reports nothing", move || {
        ensure!(messages.is_empty(), "{}", messages.join("\n"));
        Ok(())
    }));
    Ok(trials)
}

/// The row's device, the only one that its environment exposes, and the instance, which keeps validation messages.
fn open() -> Result<(Arc<Instance>, Device)> {
    let instance = Arc::new(Instance::new(true)?);
    let candidate = instance.candidates()?.into_iter().next().context("the driver has no such GPU")?;
    let device = candidate.open_to_compile()?;
    Ok((instance, device))
}

/// The committed table of a GPU, which `SUBSWEEP_BLESS=1` replaces by `found`.
fn committed(name: &str, found: &Table) -> Result<Table> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/codegen/{name}.txt"));
    let explain = || path.display().to_string();
    if chosen::is_blessing() {
        fs::write(&path, found.to_string()).with_context(explain)?;
    }
    Table::parse(&fs::read_to_string(&path).with_context(explain)?).with_context(explain)
}

/// Compares with the table. If another compiler wrote it, the trials are skipped, and differences are noted.
fn compared(found: &Table, committed: &Table) -> Vec<Trial> {
    let compilers = [(&found.gpu, &committed.gpu), (&found.shaders, &committed.shaders)];
    let other = compilers.iter().find(|(found, committed)| found != committed);
    if let Some((found, committed)) = other {
        note(&format!("SKIPPED: the table is of {committed}, this is {found}; tools/codegen writes another"));
    }
    let lines =
        found.lines.iter().map(|(kernel, line)| (format!("table: {kernel}"), committed.check(kernel, line)));
    let main_paths = found
        .main_paths
        .iter()
        .map(|(name, &counts)| (format!("main path: {name}"), committed.check_main_path(name, counts)));
    let names = ("table: no other lines".to_owned(), committed.check_names(found));
    let compare = |(name, result): (String, Result<()>)| {
        if let (Some(_), Err(difference)) = (other, &result) {
            note(&format!("{name}: {difference}"));
        }
        trial(&name, move || result).with_ignored_flag(other.is_some())
    };
    lines.chain(main_paths).chain([names]).map(compare).collect()
}

/// Every kernel is among the pipelines, except kernels of no policy and of CPUs alone, and kernels of doubles and of keys of 8
/// and 16 bits on a GPU without their feature.
fn complete(found: &Table, enabled: EnabledFeatures) -> Trial {
    let found: Vec<_> = found.lines.keys().cloned().collect();
    trial("every kernel is compiled", move || {
        let features = [
            (enabled.shader_float64, ":float64"),
            (enabled.storage_buffer8_bit_access, "key8"),
            (enabled.storage_buffer16_bit_access, "key16"),
        ];
        let is_chosen = |name: &str| {
            let is_meant = !features.iter().any(|(is_there, part)| !is_there && name.contains(part));
            // Clusters count, and merges load key by key, on CPUs alone.
            let of_cpus = ["sort/short_segments:key", "top_k/rows", "merge/merge:key"];
            let is_of_cpus = of_cpus.iter().any(|start| name.starts_with(start));
            // Compiled with functions of a fixture.
            let is_absent = !cfg!(feature = "compile-shaders") && name == "sort/merge_runs";
            is_meant
                && !is_of_cpus
                && !is_absent
                && !name.starts_with("probe/")
                && !name.ends_with("_counted")
        };
        for kernel in kernels::all().filter(|kernel| is_chosen(kernel.name)) {
            ensure!(found.iter().any(|name| name == kernel.name), "{} is not compiled", kernel.name);
        }
        Ok(())
    })
}

/// Kernels specialized for quads access 16 bytes at a time, as far as the driver exposes readable assembly, but for quads of
/// elements of 8 and 16 bits, which have 4 or 8. Other kernels may do so too.
fn wide(compiled: &[Compiled]) -> Trial {
    let is_meant = |one: &&Compiled| {
        let has = |name: &str| one.inspected.specialization.contains(name);
        (has("QUAD_ACCESS=1") || has("UNIT_WORDS=4")) && !has("PACKED_BITS=")
    };
    let accesses: Option<Vec<_>> =
        compiled.iter().filter(is_meant).map(|one| Some((one.name(), one.wide_accesses?))).collect();
    let is_ignored = accesses.is_none();
    let run = move || {
        let accesses = accesses.unwrap_or_default();
        ensure!(!accesses.is_empty(), "no pipeline is made for quads");
        for (name, count) in accesses {
            ensure!(count > 0, "{name} has no access of 16 bytes");
        }
        Ok(())
    };
    trial("quads are loaded and stored whole", run).with_ignored_flag(is_ignored)
}

/// A canary: a table outside its tolerance is refused.
fn doctored(found: Table) -> Trial {
    trial("a doctored table is refused", move || {
        ensure!(Table::parse(&found.to_string())? == found, "a written table is read differently");
        let (kernel, line) = found.lines.first_key_value().context("nothing was compiled")?;
        for (column, &(name, _, tolerance)) in COLUMNS.iter().enumerate() {
            let Some(number) = line.numbers[column] else { continue };
            let changed_by = |more| {
                let mut table = found.clone();
                let changed = |line: &mut Line| line.numbers[column] = Some(number + more);
                table.lines.entry(kernel.clone()).and_modify(changed);
                table.check(kernel, line)
            };
            ensure!(changed_by(tolerance(number)).is_ok(), "{name} may differ a little");
            ensure!(changed_by(number / 8 + 3).is_err(), "{name} may differ by an eighth");
            ensure!(name != "workgroups" || changed_by(1).is_err(), "a workgroup fewer may fit");
        }
        let mut other = line.clone();
        other.lanes *= 2;
        ensure!(found.check(kernel, &other).is_err(), "the lanes may be others");
        let mut shorter = found.clone();
        shorter.lines.remove(kernel);
        ensure!(shorter.check(kernel, line).is_err(), "a line may be missing");
        ensure!(found.check_names(&shorter).is_err(), "a line may be about nothing");
        let mut shorter = found.clone();
        let (name, counts) = shorter.main_paths.pop_first().context("no main paths")?;
        ensure!(shorter.check_main_path(&name, counts).is_err(), "a main path may be missing");
        ensure!(found.check_names(&shorter).is_err(), "a main path may be about nothing");
        for (name, &counts) in &found.main_paths {
            ensure!(found.check_main_path(name, counts).is_ok(), "a main path is not what it is");
            let longer = main_path::MainPath { instructions: counts.instructions * 9 / 8 + 3, ..counts };
            ensure!(found.check_main_path(name, longer).is_err(), "a main path may be longer");
        }
        Ok(())
    })
}

/// A trial whose errors are reported with their causes.
pub fn trial(name: &str, run: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(|error| Failed::from(format!("{error:#}"))))
}
