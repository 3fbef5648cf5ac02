//! The trials of one target: no pipeline spills, and all are as the committed table says.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};
use libtest_mimic::{Failed, Trial};
use subsweep::ash::vk;
use subsweep::kernels;

use super::children::{announce, is_full, note};
use super::compiled::{self, Compiled};
use super::table::{Key, Numbers, STATISTICS, Table, tolerance};
use super::{ranking, spilling};

/// Compiles everything for each of `lanes` and for what the driver takes by itself, and rewrites the table of `target` if that is asked for.
pub fn trials(target: &str, lanes: &[u32]) -> Result<Vec<Trial>> {
    let (instance, device) = compiled::open()?;
    let identity = &device.capabilities().identity;
    let is_radv = identity.driver_id == vk::DriverId::MESA_RADV;
    let driver = if is_radv { "RADV" } else { &identity.driver_name };
    announce(&format!("{}, {} by {driver}", identity.name, identity.driver_info));
    ensure!(is_radv, "this is another driver");

    let mut compiled = BTreeMap::new();
    for &lanes in lanes {
        compiled.extend(compiled::all(&device, Some(lanes))?);
    }
    // What the driver takes by itself is one of `lanes`, asked for in another way.
    let untold = if is_full() { compiled::all(&device, None)? } else { BTreeMap::new() };
    let rows: BTreeMap<_, _> = compiled.iter().map(|(key, one)| (key.clone(), one.numbers)).collect();
    let first = compiled.iter().filter(|(_, one)| one.is_first).map(|(key, _)| key).collect::<Vec<_>>();
    let found = Table {
        target: format!("{}, {}", identity.name, identity.driver_info),
        shaders: kernels::COMPILER.to_owned(),
        rankings: ranking::instructions_per_key(&device, lanes)?.into_iter().collect(),
        rows: first.into_iter().map(|key| (key.clone(), rows[key])).collect(),
    };
    let mut trials = vec![complete(&found), doctored(found.clone()), wide(rows)];
    trials.extend(spilling::trials(&device, lanes));
    trials.extend(compared(&found, &committed(target, &found)?));
    trials.extend(compiled.into_iter().map(|variant| fits("no spills", variant)));
    trials.extend(untold.into_iter().map(|variant| fits("no spills by default", variant)));
    // All is compiled by now.
    let messages = instance.take_messages();
    trials.push(trial("validation is silent", move || {
        ensure!(messages.is_empty(), "{}", messages.join("\n"));
        Ok(())
    }));
    Ok(trials)
}

fn fits(name: &str, (key, compiled): (Key, Compiled)) -> Trial {
    trial(&format!("{name}: {key}"), move || compiled.check())
}

/// The table that is committed for `target`; with `SUBSWEEP_BLESS=1` what was found becomes it.
fn committed(target: &str, found: &Table) -> Result<Table> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/codegen/RADV-{target}.txt"));
    let explain = || path.display().to_string();
    if env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, found.to_string()).with_context(explain)?;
    }
    Table::parse(&fs::read_to_string(&path).with_context(explain)?).with_context(explain)
}

/// Numbers of other compilers say nothing about the kernels: then all of these are skipped.
fn compared(found: &Table, committed: &Table) -> Vec<Trial> {
    let compilers = [(&found.target, &committed.target), (&found.shaders, &committed.shaders)];
    let other = compilers.iter().find(|(found, committed)| found != committed);
    if let Some((found, committed)) = other {
        note(&format!("SKIPPED: the table is of {committed}, this is {found}; tools/codegen writes another"));
    }
    let rows = found.rows.iter().map(|(key, numbers)| {
        let (key, numbers, committed) = (key.clone(), *numbers, committed.clone());
        trial(&format!("table: {key}"), move || committed.check(&key, &numbers))
    });
    let rankings = found.rankings.iter().map(|(name, &instructions)| {
        let (key, committed) = (name.clone(), committed.clone());
        trial(&format!("ranking by {name}"), move || committed.check_ranking(&key, instructions))
    });
    let all = {
        let (keys, committed) = (found.rows.keys().cloned().collect::<Vec<_>>(), committed.clone());
        let found = found.clone();
        trial("table: no other rows", move || {
            // Without a shader compiler nothing is ranked.
            if !found.rankings.is_empty() {
                committed.check_rankings(&found)?;
            }
            committed.check_rows(&keys)
        })
    };
    rows.chain(rankings).chain([all]).map(|trial| trial.with_ignored_flag(other.is_some())).collect()
}

/// Every kernel is among the pipelines, but for those that no policy runs.
fn complete(found: &Table) -> Trial {
    let found: Vec<_> = found.rows.keys().map(|key| key.kernel.clone()).collect();
    trial("every kernel is compiled", move || {
        let is_chosen = |name: &str| !name.starts_with("probe/") && !name.ends_with("_counted");
        for kernel in kernels::ALL.iter().filter(|kernel| is_chosen(kernel.name)) {
            ensure!(found.iter().any(|name| name == kernel.name), "{} is not", kernel.name);
        }
        Ok(())
    })
}

/// Kernels that may take 16 bytes at a time do. Others may as well, where the compiler knows that it may.
fn wide(rows: BTreeMap<Key, Numbers>) -> Trial {
    trial("quads are loaded and stored whole", move || {
        let mut count = 0;
        for (key, numbers) in &rows {
            let accesses = numbers[STATISTICS];
            let is_wide =
                ["QUAD_ACCESS=1", "UNIT_WORDS=4"].iter().any(|name| key.specialization.contains(name));
            if is_wide {
                ensure!(accesses > 0, "{key} has no access of 16 bytes");
                count += 1;
            }
        }
        ensure!(count > 0, "no pipeline is made for quads");
        Ok(())
    })
}

/// The comparison is armed: a table that differs by more than it may is refused.
fn doctored(found: Table) -> Trial {
    trial("a doctored table is refused", move || {
        ensure!(Table::parse(&found.to_string())? == found, "a table is not what was written");
        let (key, numbers) = found.rows.first_key_value().context("nothing was compiled")?;
        for column in 0..numbers.len() {
            let told_more_by = |more| {
                let mut table = found.clone();
                table.rows.entry(key.clone()).and_modify(|told| told[column] += more);
                table.check(key, numbers)
            };
            ensure!(told_more_by(tolerance(numbers[column])).is_ok(), "column {column} may differ a little");
            ensure!(
                told_more_by(numbers[column] / 8 + 3).is_err(),
                "column {column} may differ by an eighth"
            );
        }
        let mut shorter = found.clone();
        shorter.rows.remove(key);
        ensure!(shorter.check(key, numbers).is_err(), "a row may be missing");
        ensure!(found.check_rows(shorter.rows.keys()).is_err(), "a row may be about nothing");
        for (name, &instructions) in &found.rankings {
            ensure!(found.check_ranking(name, instructions).is_ok(), "a ranking may not be what it is");
            ensure!(found.check_ranking(name, instructions * 9 / 8 + 3).is_err(), "a ranking may be longer");
        }
        Ok(())
    })
}

/// A trial whose errors are told with their causes.
pub fn trial(name: &str, run: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(|error| Failed::from(format!("{error:#}"))))
}
