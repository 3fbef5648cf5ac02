//! From GLSL to modules and their manifest, with shaderc. Part of `build.rs`, under `compile-shaders`.

use super::list::{Row, source_path};
use super::manifest::{self, Kernel, Manifest, PushConstant, Source, SpecConstant};
use super::spirv::{self, Module};
use super::{Modules, read_text, rows};
use shaderc::{
    CompileOptions, Compiler, EnvVersion, OptimizationLevel, ResolvedInclude, ShaderKind,
    SpirvVersion, TargetEnv,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Every row of `kernels.txt`, compiled.
pub fn modules(glsl: &Path) -> Result<Modules, String> {
    let shaders = Shaders {
        compiler: Compiler::new().map_err(|error| error.to_string())?,
        glsl,
        sources: RefCell::default(),
    };
    let mut manifest = Manifest::default();
    let mut modules = Vec::new();
    let mut generator = 0;
    for row in rows(glsl)? {
        let named = shaders.compile(&row, OptimizationLevel::Zero)?;
        let optimised = shaders.compile(&row, OptimizationLevel::Performance)?;
        let in_kernel = |why| format!("{}: {why}", row.name);
        let bytes: Vec<u8> = optimised
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let optimised = Module::new(optimised).map_err(in_kernel)?;
        generator = optimised.generator();
        let mut kernel =
            describe(&Module::new(named).map_err(in_kernel)?, &optimised).map_err(in_kernel)?;
        kernel.hash = manifest::hash(bytes.iter().copied());
        kernel.name = row.name;
        kernel.defines = row.defines;
        manifest.kernels.push(kernel);
        modules.push(bytes);
    }
    manifest.compiler = format!("{}; generator {generator:08x}", compiler_version()?);
    manifest.sources = shaders
        .sources
        .into_inner()
        .into_iter()
        .map(|(path, hash)| Source { path, hash })
        .collect();
    Ok((manifest, modules))
}

/// What the package that shaderc was linked from calls itself; shaderc does not tell.
fn compiler_version() -> Result<String, String> {
    println!("cargo::rerun-if-env-changed=SHADERC_LIB_DIR");
    let Some(folder) = env::var_os("SHADERC_LIB_DIR").map(PathBuf::from) else {
        return Ok("unknown".to_owned());
    };
    let path = folder.join("VERSION");
    println!("cargo::rerun-if-changed={}", path.display());
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok("unknown".to_owned()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

struct Shaders<'a> {
    compiler: Compiler,
    glsl: &'a Path,
    /// The hash of every file that was read.
    sources: RefCell<BTreeMap<String, u64>>,
}

impl Shaders<'_> {
    fn compile(&self, row: &Row, level: OptimizationLevel) -> Result<Vec<u32>, String> {
        let path = source_path(&row.name);
        let source = self.read(&path)?;
        let mut options = CompileOptions::new().map_err(|error| error.to_string())?;
        options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_2 as u32);
        options.set_target_spirv(SpirvVersion::V1_5);
        options.set_warnings_as_errors();
        options.set_optimization_level(level);
        for define in &row.defines {
            let (name, value) = define
                .split_once('=')
                .map_or((define.as_str(), None), |(n, v)| (n, Some(v)));
            options.add_macro_definition(name, value);
        }
        options.set_include_callback(|name, _, _, _| {
            let content = self.read(name)?;
            Ok(ResolvedInclude {
                resolved_name: name.to_owned(),
                content,
            })
        });
        self.compiler
            .compile_into_spirv(&source, ShaderKind::Compute, &path, "main", Some(&options))
            .map(|artifact| artifact.as_binary().to_vec())
            .map_err(|error| format!("{}: {error}", row.name))
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let text = read_text(self.glsl, path)?;
        self.sources
            .borrow_mut()
            .insert(path.to_owned(), manifest::text_hash(&text));
        Ok(text)
    }
}

/// What is true of the optimised module, with the names that only the other one has.
fn describe(named: &Module, optimised: &Module) -> Result<Kernel, String> {
    let names = spirv::reflect(named)?;
    let truth = spirv::reflect(optimised)?;
    let layout = |push: &[spirv::Member]| {
        push.iter()
            .map(|m| (m.offset, m.size, m.pointer))
            .collect::<Vec<_>>()
    };
    // A block that is never read may be optimised away whole, but never changed.
    if !truth.push_constants.is_empty()
        && layout(&truth.push_constants) != layout(&names.push_constants)
    {
        return Err("the optimiser changed the push-constant block".to_owned());
    }
    if truth.workgroup_size_id != names.workgroup_size_id {
        return Err("the optimiser changed the workgroup size".to_owned());
    }
    let accesses = spirv::accesses(optimised)?;
    let push_constants = names
        .push_constants
        .into_iter()
        .enumerate()
        .map(|(index, member)| PushConstant {
            access: member
                .pointer
                .then(|| accesses.get(index).copied().unwrap_or_default()),
            name: member.name,
            offset: member.offset,
            size: member.size,
        });
    let mut kernel = Kernel {
        workgroup_size_id: truth.workgroup_size_id,
        push_constants: push_constants.collect(),
        ..Kernel::default()
    };
    for spirv::Constant { name, id, default } in names.spec_constants {
        let name = if name.is_empty() && Some(id) == kernel.workgroup_size_id {
            "WORKGROUP_SIZE".to_owned()
        } else {
            name
        };
        if name.is_empty() {
            return Err(format!("specialization constant {id} has no name"));
        }
        kernel
            .spec_constants
            .push(SpecConstant { name, id, default });
    }
    Ok(kernel)
}
