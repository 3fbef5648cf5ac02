//! Compilers of GLSL, as programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use subsweep::kernels::Kernel;

use crate::{Error, explain};

/// A compiler, by the path of its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compiler {
    /// shaderc's.
    Glslc(PathBuf),
    /// glslang's own.
    GlslangValidator(PathBuf),
}

impl Compiler {
    /// Those that are on the `PATH`, shaderc's first.
    pub fn installed() -> impl Iterator<Item = Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let find = |name: &str| {
            let name = format!("{name}{}", env::consts::EXE_SUFFIX);
            env::split_paths(&path).map(|folder| folder.join(&name)).find(|program| program.is_file())
        };
        let glslang = find("glslangValidator").or_else(|| find("glslang"));
        let found = [find("glslc").map(Self::Glslc), glslang.map(Self::GlslangValidator)];
        found.into_iter().flatten()
    }

    /// The compiler whose program has this path: its name begins with `glslc` or `glslang`. `None` for another name.
    pub fn at(program: impl Into<PathBuf>) -> Option<Self> {
        let program = program.into();
        let name = program.file_name()?.to_str()?;
        match (name.starts_with("glslc"), name.starts_with("glslang")) {
            (true, _) => Some(Self::Glslc(program)),
            (_, true) => Some(Self::GlslangValidator(program)),
            _ => None,
        }
    }

    /// Compiles a kernel with the functions in `sources`; `beside` has includes of these.
    pub(crate) fn compile(
        &self,
        kernel: &'static Kernel,
        sources: &Path,
        beside: &Path,
    ) -> Result<Vec<u32>, Error> {
        let (program, options): (_, &[&str]) = match self {
            Self::Glslc(program) => (program, &["--target-env=vulkan1.2", "-O"]),
            Self::GlslangValidator(program) => (program, &["--target-env", "vulkan1.2", "-Os"]),
        };
        let stem = kernel.name.split(':').next().unwrap_or_default();
        let module = sources.join("module.spv");
        let mut command = Command::new(program);
        command.args(options).arg(format!("-I{}", sources.display())).arg("-DFUNCTIONS");
        if beside != Path::new("") {
            command.arg(format!("-I{}", beside.display()));
        }
        command.args(kernel.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        let output = command.arg("-o").arg(&module).arg(sources.join(format!("{stem}.comp"))).output();
        let output = output.map_err(explain(program))?;
        if !output.status.success() {
            // glslangValidator writes its errors to standard output.
            let message = [output.stdout, output.stderr].concat();
            return Err(Error::Compiler {
                kernel: kernel.name,
                program: program.display().to_string(),
                message: String::from_utf8_lossy(&message)
                    .trim()
                    .replace(&format!("{}/", sources.display()), ""),
            });
        }
        let bytes = fs::read(&module).map_err(explain(&module))?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }
}
