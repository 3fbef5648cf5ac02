//! Subsweep's kernels, in the tile shapes chosen for a device.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::mesa::{Inspector, Pipeline, Target};
use crate::occupancy::Needs;
use crate::spirv::{Constants, shared_memory};
use crate::table::{MainPath, Row, Work};

/// The compared kernels, by name; of a scan the variant that accesses quads.
const KERNELS: [(Work, &str, &str); 4] = [
    (Work::Keys, "sort/onesweep:key1", ""),
    (Work::Pairs, "sort/onesweep:key1_value1", ""),
    (Work::Keys64, "sort/onesweep:key2", ""),
    (Work::Scan, "scan/chained:u32x1", "QUAD_ACCESS=1"),
];

/// Ids of a kernel's specialization constants, as `glsl/precompiled/manifest.txt` lists them.
#[derive(Debug, Default)]
struct Listed {
    ids: HashMap<String, u32>,
}

/// The folders.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// Subsweep's repository.
    pub root: &'a Path,
    /// A folder for temporary files.
    pub work: &'a Path,
}

/// All rows of a device.
pub fn rows(inspector: &Inspector, target: &Target, folders: Folders) -> Result<Vec<Row>> {
    let manifest = folders.root.join("glsl/precompiled/manifest.txt");
    let manifest = std::fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
    let mut pipelines = inspector.pipelines(target, "sort/onesweep")?;
    pipelines.extend(inspector.pipelines(target, "scan/chained")?);
    let mut rows = Vec::new();
    for (work, kernel, holds) in KERNELS {
        let is_it = |one: &&Pipeline| one.kernel == kernel && one.specialization.contains(holds);
        let pipeline = pipelines
            .iter()
            .find(is_it)
            .with_context(|| format!("{}: no plan takes {kernel}", target.gpu))?;
        let listed = Listed::find(&manifest, kernel)?;
        let constants = |specialization: &str| listed.constants(specialization);
        let row = |specialization: &str, name: &str| {
            compile(inspector, target, folders, work, pipeline, &listed, &constants(specialization)?, name)
        };
        match work {
            Work::Scan => rows.push(row(&pipeline.specialization, "subsweep, single pass")?),
            _ if pipeline.specialization.contains("SHARED_MASKS=1") => {
                rows.push(row(&pipeline.specialization, "**subsweep**, by shared masks")?);
                let ballots = pipeline.specialization.replace("SHARED_MASKS=1", "SHARED_MASKS=0");
                rows.push(row(&ballots, "subsweep, by ballots")?);
            }
            _ => {
                rows.push(row(&pipeline.specialization, "**subsweep**, by ballots")?);
                let masks = pipeline.specialization.replace("SHARED_MASKS=0", "SHARED_MASKS=1");
                rows.push(row(&masks, "subsweep, by shared masks")?);
            }
        }
    }
    Ok(rows)
}

#[expect(clippy::too_many_arguments, reason = "one kernel, one device, one shape")]
fn compile(
    inspector: &Inspector,
    target: &Target,
    folders: Folders,
    work: Work,
    pipeline: &Pipeline,
    listed: &Listed,
    constants: &Constants,
    name: &str,
) -> Result<Row> {
    let (stem, variant) = pipeline.kernel.split_once(':').unwrap_or((&pipeline.kernel, ""));
    let module = folders.root.join(format!("glsl/precompiled/{stem}.{variant}.spv"));
    let whole = inspector.compile(target, &module, constants, pipeline.lanes)?;
    let main_path = |more: &str| {
        let constants = [&constants[..], &listed.constants(more)?].concat();
        anyhow::Ok(inspector.compile(target, &module, &constants, pipeline.lanes)?.instructions)
    };
    let main_path = match work {
        Work::Scan => {
            let others = main_path("MAIN_PATH=1 OTHER_SUBGROUPS=1")?;
            MainPath::Builds { first: main_path("MAIN_PATH=1")?, others }
        }
        _ => MainPath::Build(main_path("MAIN_PATH=1")?),
    };
    let value = |name: &str| {
        let id = listed.ids.get(name);
        id.and_then(|id| constants.iter().find(|(of, _)| of == id)).map(|(_, value)| *value)
    };
    let items = match work {
        // Packs are quads.
        Work::Scan => {
            value("RUNS_PER_INVOCATION").zip(value("PACKS_PER_RUN")).map(|(runs, packs)| runs * packs * 4)
        }
        _ => value("ITEMS_PER_INVOCATION"),
    };
    Ok(Row {
        work,
        name: name.to_owned(),
        compiler: format!("{}, {} lanes", target.name, whole.lanes),
        multiprocessor: target.multiprocessor,
        needs: Needs {
            workgroup_size: value("WORKGROUP_SIZE").context("a kernel without its workgroup size")?,
            lanes: whole.lanes,
            registers: whole.registers,
            shared_memory: shared_memory(&module, constants, folders.work)?,
        },
        items: items.context("a kernel without its items")?,
        static_instructions: whole.instructions,
        main_path,
        spills: whole.spills,
    })
}

impl Listed {
    fn find(manifest: &str, kernel: &str) -> Result<Self> {
        let mut found = None;
        for line in manifest.lines() {
            let fields: Vec<_> = line.split(' ').collect();
            match (&fields[..], &mut found) {
                (["kernel", name, ..], None) if *name == kernel => found = Some(Self::default()),
                (["kernel", ..], Some(_)) => break,
                (["constant", name, id, _], Some(listed)) => {
                    _ = listed.ids.insert((*name).to_owned(), id.parse().context("a constant's id")?);
                }
                _ => {}
            }
        }
        found.with_context(|| format!("{kernel} is not in glsl/precompiled/manifest.txt"))
    }

    /// Converts `NAME=VALUE …` to ids and values.
    fn constants(&self, specialization: &str) -> Result<Constants> {
        let constant = |text: &str| {
            let (name, value) = text.split_once('=').with_context(|| format!("{text} is no constant"))?;
            let id = self.ids.get(name).with_context(|| format!("{name} is no constant of this kernel"))?;
            Ok((*id, value.parse().with_context(|| text.to_owned())?))
        };
        specialization.split_whitespace().map(constant).collect()
    }
}
