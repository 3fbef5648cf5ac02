//! Modules of peers outside of registries, from a user's folder: `PEER/KERNEL.spv`, each with a `PEER/KERNEL.txt`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

use crate::mesa::{Inspector, Target};
use crate::occupancy::Needs;
use crate::spirv::{Constants, shared_memory};
use crate::table::{MainPath, Row, Work};

/// The description of a module in its text file.
#[derive(Debug, PartialEq, Eq)]
struct Notes {
    work: Work,
    workgroup_size: u32,
    /// Items per invocation.
    items: u32,
    /// The subgroup size that the module requires; `None` for any.
    lanes: Option<u32>,
    /// Whether partial tiles and other branches are compiled out.
    is_main_path: bool,
    constants: Constants,
}

/// A peer's module.
#[derive(Debug)]
pub struct Module {
    pub name: String,
    path: PathBuf,
    notes: Notes,
}

/// The modules of a folder, sorted by name.
pub fn find(folder: &Path) -> Result<Vec<Module>> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    let mut modules = Vec::new();
    for peer in list(folder)?.into_iter().filter(|path| path.is_dir()) {
        for path in
            list(&peer)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "spv"))
        {
            let text = path.with_extension("txt");
            let explain = || text.display().to_string();
            let notes =
                std::fs::read_to_string(&text).with_context(explain)?.parse().with_context(explain)?;
            let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            modules.push(Module { name: format!("{}, {}", name(&peer), name(&path)), path, notes });
        }
    }
    if modules.is_empty() {
        bail!("{} holds no PEER/KERNEL.spv", folder.display());
    }
    Ok(modules)
}

impl Module {
    pub fn row(&self, inspector: &Inspector, target: &Target, work: &Path) -> Result<Row> {
        let notes = &self.notes;
        let lanes = notes.lanes.unwrap_or(target.lanes);
        let compiled = inspector.compile(target, &self.path, &notes.constants, lanes)?;
        let instructions = compiled.instructions;
        Ok(Row {
            work: notes.work,
            name: self.name.clone(),
            compiler: format!("{}, {} lanes", target.name, compiled.lanes),
            multiprocessor: target.multiprocessor,
            needs: Needs {
                workgroup_size: notes.workgroup_size,
                lanes: compiled.lanes,
                registers: compiled.registers,
                shared_memory: shared_memory(&self.path, &notes.constants, work)?,
            },
            items: notes.items,
            static_instructions: instructions,
            main_path: if notes.is_main_path {
                MainPath::Build(instructions)
            } else {
                MainPath::Whole(instructions)
            },
            spills: compiled.spills,
        })
    }
}

impl FromStr for Notes {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (mut work, mut workgroup_size, mut items) = (None, None, None);
        let (mut lanes, mut is_main_path, mut constants) = (None, false, Vec::new());
        let number = |text: &str| text.parse::<u32>().with_context(|| format!("{text} is no number"));
        for word in text.split_whitespace() {
            if word == "main-path" {
                is_main_path = true;
                continue;
            }
            let (name, value) = word.split_once('=').with_context(|| format!("{word} is not NAME=VALUE"))?;
            match name {
                "work" => {
                    let found = Work::ALL.into_iter().find(|work| work.id() == value);
                    work = Some(
                        found.with_context(|| format!("{value} is neither keys, pairs, keys64 nor scan"))?,
                    );
                }
                "workgroup" => workgroup_size = Some(number(value)?),
                "items" => items = Some(number(value)?),
                "lanes" => lanes = Some(number(value)?),
                id => constants.push((number(id)?, number(value)?)),
            }
        }
        let (Some(work), Some(workgroup_size), Some(items)) = (work, workgroup_size, items) else {
            bail!("it must have work=, workgroup= and items=");
        };
        if items == 0 || workgroup_size == 0 || lanes == Some(0) {
            bail!("workgroup=, items= and lanes= are more than 0");
        }
        Ok(Self { work, workgroup_size, items, lanes, is_main_path, constants })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read() {
        let notes: Notes =
            "work=pairs workgroup=512 items=15\nlanes=32 0=512 3=1 main-path\n".parse().unwrap();
        assert_eq!(
            notes,
            Notes {
                work: Work::Pairs,
                workgroup_size: 512,
                items: 15,
                lanes: Some(32),
                is_main_path: true,
                constants: vec![(0, 512), (3, 1)],
            }
        );
        for text in [
            "work=keys workgroup=512",
            "work=sort workgroup=1 items=1",
            "work=keys workgroup=1 items=0",
            "keys",
        ] {
            assert!(text.parse::<Notes>().is_err(), "{text}");
        }
    }
}
