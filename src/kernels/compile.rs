//! Compiles GLSL to modules and their manifest, with shaderc. Part of `build.rs`, under `compile-shaders`.

use super::hash::fnv1a;
use super::list::KernelRow;
use super::manifest::{self, Kernel, Manifest, PushConstant, Source, SpecConstant};
use super::sources::{Modules, read_text, rows};
use super::spirv::{self, Module};
use super::threads::on_threads;
use super::uses::USES;
use super::{folder_of, write};
use shaderc::{
    CompileOptions, Compiler, EnvVersion, OptimizationLevel, ResolvedInclude, ShaderKind, SpirvVersion,
    TargetEnv,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs, io};

/// The size that Vulkan guarantees.
const MAX_PUSH_CONSTANTS_SIZE: u32 = 128;

/// Compiles every row of `kernels.txt`.
pub fn modules(glsl: &Path) -> Result<Modules, String> {
    let shaders = Shaders::new(glsl)?;
    let compiled =
        on_all_cores(&rows(glsl)?, |row| shaders.kernel(row).map_err(|why| format!("{}: {why}", row.name)))?;
    let generator = compiled.last().map_or(0, |(.., generator)| *generator);
    let compiler = format!("{}; generator {generator:08x}", compiler_version()?);
    let (kernels, modules) = compiled.into_iter().map(|(kernel, module, _)| (kernel, module)).unzip();
    Ok((Manifest { compiler, sources: shaders.sources(), kernels }, modules))
}

/// What `work` makes of each row, in their order, on all cores.
fn on_all_cores<T: Send>(
    rows: &[KernelRow],
    work: impl Fn(&KernelRow) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let cores = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    on_threads(cores, rows.len(), |index| work(&rows[index]))
}

/// The include of a caller's functions.
const FUNCTIONS: &str = "functions.glsl";

/// Compiles each `.comp` of a folder both named and optimised, for the tests of `spirv`, and each `.glsl` as functions of a
/// caller, into the kernels of their uses.
pub fn fixtures(glsl: &Path, folder: &Path, to: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let shaders = Shaders::new(glsl)?;
    let explain = |error: io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(explain)? {
        let path = entry.map_err(explain)?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let source = fs::read_to_string(&path).map_err(explain)?;
        if path.extension().is_some_and(|extension| extension == "glsl") {
            let has_all =
                |functions: &[&str]| functions.iter().all(|name| source.contains(&format!("{name}(")));
            let kernels: Vec<_> = USES
                .iter()
                .filter(|(_, functions, _)| has_all(functions))
                .flat_map(|(.., names)| names.iter().copied())
                .collect();
            for (name, bytes) in shaders.with_functions(&stem, source, &kernels)? {
                write(&to.join(format!("{name}.spv")), &bytes)?;
            }
            continue;
        }
        for (level, extension) in
            [(OptimizationLevel::Zero, "named.spv"), (OptimizationLevel::Performance, "spv")]
        {
            let words = shaders.compile_text(&source, &path.to_string_lossy(), &[], level)?;
            write(&to.join(format!("{stem}.{extension}")), &bytes_of(&words))?;
        }
    }
    Ok(())
}

/// Compiles the shaders of an example, of every stage, with the includes beside them and in `glsl`; modules are named by
/// the whole file name, and their manifest has hashes only. `NAME.USE.glsl` are functions of a caller: of them, the kernels of
/// that use.
pub fn example(glsl: &Path, folder: &Path, to: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let shaders = Shaders { beside: Some(folder), ..Shaders::new(glsl)? };
    let explain = |error: io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(explain)? {
        names.push(entry.map_err(explain)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut modules = Vec::new();
    for name in names {
        let functions = name.strip_suffix(".glsl").and_then(|name| name.rsplit_once('.'));
        if let Some((stem, name_of_use)) = functions {
            let found = USES.iter().find(|(name, ..)| *name == name_of_use);
            let (.., kernels) = found.ok_or_else(|| format!("{name}: there is no use {name_of_use}"))?;
            modules.extend(shaders.with_functions(stem, shaders.read(&name)?, kernels)?);
        } else if stage(&name).is_some() {
            let words = shaders.compile(&name, &[], OptimizationLevel::Performance)?;
            modules.push((name, bytes_of(&words)));
        }
    }
    let mut manifest = Manifest { compiler: compiler_version()?, ..Manifest::default() };
    for (name, bytes) in modules {
        write(&to.join(format!("{name}.spv")), &bytes)?;
        manifest.kernels.push(Kernel { name, hash: fnv1a(bytes), ..Kernel::default() });
    }
    manifest.sources = shaders.sources();
    write(&to.join("manifest.txt"), manifest.write().as_bytes())
}

/// The source of a kernel.
fn path_of(name: &str) -> String {
    format!("{}.comp", name.split(':').next().unwrap_or(name))
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The stage by the extension of a file.
fn stage(path: &str) -> Option<ShaderKind> {
    match path.rsplit_once('.')?.1 {
        "comp" => Some(ShaderKind::Compute),
        "vert" => Some(ShaderKind::Vertex),
        "frag" => Some(ShaderKind::Fragment),
        _ => None,
    }
}

/// The name and version in the package that shaderc was linked from; shaderc itself has no query for them.
fn compiler_version() -> Result<String, String> {
    println!("cargo::rerun-if-env-changed=SHADERC_LIB_DIR");
    if env::var_os("SHADERC_LIB_DIR").is_none() {
        return Ok("unknown".to_owned());
    }
    let path = folder_of("SHADERC_LIB_DIR")?.join("VERSION");
    println!("cargo::rerun-if-changed={}", path.display());
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok("unknown".to_owned()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

struct Shaders<'a> {
    compiler: Compiler,
    glsl: &'a Path,
    /// The folder whose files come before the files of `glsl`.
    beside: Option<&'a Path>,
    /// The hash of every file read.
    hashes: Mutex<BTreeMap<String, u64>>,
    /// Replaces the include [`FUNCTIONS`].
    functions: Option<String>,
}

impl<'a> Shaders<'a> {
    fn new(glsl: &'a Path) -> Result<Self, String> {
        let compiler = Compiler::new().map_err(|error| error.to_string())?;
        Ok(Self { compiler, glsl, beside: None, hashes: Mutex::default(), functions: None })
    }

    /// Kernels with functions of a caller: their names, after `stem`, and modules.
    fn with_functions(
        &self,
        stem: &str,
        source: String,
        kernels: &[&str],
    ) -> Result<Vec<(String, Vec<u8>)>, String> {
        let shaders = Self { functions: Some(source), beside: self.beside, ..Shaders::new(self.glsl)? };
        let mut rows = rows(self.glsl)?;
        rows.retain(|row| kernels.contains(&&*row.name));
        let modules = on_all_cores(&rows, |KernelRow { name, defines }| {
            let defines = [&defines[..], &["FUNCTIONS".to_owned()]].concat();
            let words = shaders
                .compile(&path_of(name), &defines, OptimizationLevel::Performance)
                .map_err(|why| format!("{stem} in {name}: {why}"))?;
            Ok((format!("{stem}.{}", name.replace(['/', ':'], ".")), bytes_of(&words)))
        })?;
        self.hashes().append(&mut shaders.hashes());
        Ok(modules)
    }

    /// The description of a kernel, its module, and the id of the compiler in that.
    fn kernel(&self, row: &KernelRow) -> Result<(Kernel, Vec<u8>, u32), String> {
        let compile = |level| self.compile(&path_of(&row.name), &row.defines, level);
        let named = Module::new(compile(OptimizationLevel::Zero)?)?;
        let optimised = compile(OptimizationLevel::Performance)?;
        let module = bytes_of(&optimised);
        let optimised = Module::new(optimised)?;
        let described = describe(&named, &optimised)?;
        let hash = fnv1a(module.iter().copied());
        let KernelRow { name, defines } = row.clone();
        Ok((Kernel { name, defines, hash, ..described }, module, optimised.generator()))
    }

    fn hashes(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sources(&self) -> Vec<Source> {
        self.hashes().iter().map(|(path, &hash)| Source { path: path.clone(), hash }).collect()
    }

    fn compile(&self, path: &str, defines: &[String], level: OptimizationLevel) -> Result<Vec<u32>, String> {
        let source = self.read(path)?;
        self.compile_text(&source, &format!("glsl/{path}"), defines, level)
    }

    fn compile_text(
        &self,
        source: &str,
        path: &str,
        defines: &[String],
        level: OptimizationLevel,
    ) -> Result<Vec<u32>, String> {
        let mut options = CompileOptions::new().map_err(|error| error.to_string())?;
        options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_2 as u32);
        options.set_target_spirv(SpirvVersion::V1_5);
        options.set_warnings_as_errors();
        options.set_optimization_level(level);
        for define in defines {
            let (name, value) = define.split_once('=').map_or((&**define, None), |(n, v)| (n, Some(v)));
            options.add_macro_definition(name, value);
        }
        options.set_include_callback(|name, _, _, _| {
            let content = match &self.functions {
                Some(source) if name == FUNCTIONS => source.clone(),
                _ => self.read(name)?,
            };
            Ok(ResolvedInclude { resolved_name: format!("glsl/{name}"), content })
        });
        let kind = stage(path).ok_or("its extension names no stage")?;
        self.compiler
            .compile_into_spirv(source, kind, path, "main", Some(&options))
            .map(|artifact| artifact.as_binary().to_vec())
            .map_err(|error| error.to_string())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let beside = self.beside.filter(|folder| folder.join(path).exists());
        let text = read_text(beside.unwrap_or(self.glsl), path)?;
        self.hashes().insert(path.to_owned(), manifest::text_hash(&text));
        Ok(text)
    }
}

/// The reflection of the optimised module, with the names of the unoptimised one.
fn describe(named: &Module, optimised: &Module) -> Result<Kernel, String> {
    let names = spirv::reflect(named)?;
    let stripped = spirv::reflect(optimised)?;
    // The optimiser may remove a block that is never read; if it changed one, the names would be wrong.
    if !stripped.push_constants.is_empty() && stripped.layout() != names.layout() {
        return Err("the optimiser changed the push-constant block".to_owned());
    }
    if stripped.workgroup_size_id != names.workgroup_size_id {
        return Err("the optimiser changed the workgroup size".to_owned());
    }
    let size = names.push_constants.iter().map(|member| member.offset + member.size).max();
    if size > Some(MAX_PUSH_CONSTANTS_SIZE) {
        return Err(format!("its push constants are larger than {MAX_PUSH_CONSTANTS_SIZE} bytes"));
    }

    let accesses = spirv::accesses(optimised)?;
    let push_constants = names.push_constants.into_iter().enumerate().map(|(index, member)| PushConstant {
        access: member.pointer.then(|| accesses.get(index).copied().unwrap_or_default()),
        name: member.name,
        offset: member.offset,
        size: member.size,
    });
    let mut spec_constants = Vec::new();
    for constant in names.spec_constants {
        let name = match constant.name.as_str() {
            "" if Some(constant.id) == stripped.workgroup_size_id => "WORKGROUP_SIZE".to_owned(),
            "" => {
                return Err(format!("specialization constant {} has no name", constant.id));
            }
            _ => constant.name,
        };
        spec_constants.push(SpecConstant { name, id: constant.id, default: constant.default });
    }
    Ok(Kernel {
        workgroup_size_id: stripped.workgroup_size_id,
        push_constants: push_constants.collect(),
        spec_constants,
        ..Kernel::default()
    })
}
