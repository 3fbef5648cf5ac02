//! lampshade's WGSL from its crate, translated by naga with the writer options of wgpu's Vulkan backend.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

use crate::mesa::{Inspector, Target};
use crate::occupancy::Needs;
use crate::spirv::shared_memory;
use crate::table::{MainPath, Row, Work};
use crate::tool::run;

/// A kernel template of the crate, with substitutions for `{{NAME}}`.
struct Kernel {
    work: Work,
    name: &'static str,
    path: &'static str,
    entry: &'static str,
    words: &'static [(&'static str, &'static str)],
    workgroup_size: u32,
    items: u32,
}

/// The crate's choice on NVIDIA GPUs with subgroups of 32: an 8-bit pass with look-back, and the two kernels that
/// process all elements of a scan, which is not single-pass.
const KERNELS: [Kernel; 4] = [
    Kernel {
        work: Work::Keys,
        name: "lampshade, scatter",
        path: "sort/scatter_8bit.wgsl",
        entry: "main_scatter",
        words: &[("ITEM_TYPE", "u32"), ("KEY_MEMBER", "")],
        workgroup_size: 256,
        items: 7,
    },
    Kernel {
        work: Work::Pairs,
        name: "lampshade, scatter",
        path: "sort/scatter_8bit.wgsl",
        entry: "main_scatter",
        words: &[("ITEM_TYPE", "KeyValue"), ("KEY_MEMBER", ".key")],
        workgroup_size: 256,
        items: 7,
    },
    Kernel {
        work: Work::Scan,
        name: "lampshade, scan of tiles",
        path: "scan/scan_input_subgroup.wgsl",
        entry: "main",
        words: SCAN,
        workgroup_size: 256,
        items: 1,
    },
    Kernel {
        work: Work::Scan,
        name: "lampshade, add",
        path: "scan/add.wgsl",
        entry: "main",
        words: SCAN,
        workgroup_size: 256,
        items: 1,
    },
];

const SCAN: &[(&str, &str)] = &[("VT", "1"), ("BLOCK_SIZE", "256")];

/// The folder and version of the crate that cargo has fetched.
pub fn find(package: &Path) -> Result<(PathBuf, String)> {
    let arguments = ["metadata", "--format-version=1", "--locked", "--manifest-path"].map(str::to_owned);
    let manifest = package.join("Cargo.toml").display().to_string();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata: serde_json::Value =
        serde_json::from_str(&run(&cargo, &[&arguments[..], &[manifest]].concat())?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let found =
        packages.iter().find(|package| package["name"] == "lampshade").context("lampshade is not there")?;
    let text = |field: &str| found[field].as_str().unwrap_or_default();
    let folder = Path::new(text("manifest_path")).parent().context("lampshade has no folder")?;
    Ok((folder.to_owned(), text("version").to_owned()))
}

/// All rows of a device.
pub fn rows(inspector: &Inspector, target: &Target, folder: &Path, work: &Path) -> Result<Vec<Row>> {
    KERNELS.iter().map(|kernel| kernel.row(inspector, target, folder, work)).collect()
}

impl Kernel {
    fn row(&self, inspector: &Inspector, target: &Target, folder: &Path, work: &Path) -> Result<Row> {
        let path = folder.join("src").join(self.path);
        let mut source = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for (name, word) in self.words {
            source = source.replace(&format!("{{{{{name}}}}}"), word);
        }
        let module = work.join("lampshade.spv");
        let words = translate(&source, self.entry).with_context(|| format!("lampshade's {}", self.path))?;
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&module, bytes).with_context(|| module.display().to_string())?;
        let compiled = inspector.compile(target, &module, &Vec::new(), 32)?;
        Ok(Row {
            work: self.work,
            name: self.name.to_owned(),
            compiler: format!("{}, {} lanes", target.name, compiled.lanes),
            multiprocessor: target.multiprocessor,
            needs: Needs {
                workgroup_size: self.workgroup_size,
                lanes: compiled.lanes,
                registers: compiled.registers,
                shared_memory: shared_memory(&module, &Vec::new(), work)?,
            },
            items: self.items,
            static_instructions: compiled.instructions,
            main_path: MainPath::Whole(compiled.instructions),
            spills: compiled.spills,
        })
    }
}

/// Translates WGSL to SPIR-V, for a driver with robustBufferAccess2: without bounds checks of buffers.
fn translate(source: &str, entry: &str) -> Result<Vec<u32>> {
    let module = naga::front::wgsl::parse_str(source)
        .map_err(|error| anyhow::anyhow!(error.emit_to_string(source)))?;
    let flags = naga::valid::ValidationFlags::all();
    let mut validator = naga::valid::Validator::new(flags, naga::valid::Capabilities::all());
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    let info = validator.validate(&module)?;
    let stage = naga::ShaderStage::Compute;
    let (module, info) = naga::back::pipeline_constants::process_overrides(
        &module,
        &info,
        Some((stage, entry)),
        &Default::default(),
    )?;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        // As the crate requests.
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: true,
        ..spv::Options::default()
    };
    let pipeline = spv::PipelineOptions { shader_stage: stage, entry_point: entry.to_owned() };
    Ok(spv::write_vec(&module, &info, &options, Some(&pipeline))?)
}
