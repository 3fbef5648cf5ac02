//! Compiles functions of your own into the kernels of [`subsweep`], in a build script.
//!
//! ```no_run
//! // build.rs: writes above.rs into OUT_DIR, with `pub static ABOVE: subsweep::Functions`.
//! subsweep_build::Functions::new("shaders/above.glsl").uses(["select"]).compile("above");
//! ```
//!
//! What the functions are is described at [`subsweep::Functions`]; a use is one of [`uses`]. `main.rs` of this package does the
//! same for C.

mod compiler;
mod emit;

pub use compiler::Compiler;
pub use emit::{c_header, rust};

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use subsweep::kernels::{self, uses::USES};

/// Words of an element at most.
const MAX_WORDS: u32 = subsweep::Functions::MAX_ELEMENT_WORDS;

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The include does not say how many words an element has.
    #[error("{}: has no line '#define ELEMENT_WORDS n' with a number from 1 to {MAX_WORDS}", path.display())]
    NoElementWords {
        /// The include.
        path: PathBuf,
    },
    /// There is no such use, or none is given.
    #[error("'{name}' is no use of functions: give one or several of {}", names(", "))]
    UnknownUse {
        /// The name.
        name: String,
    },
    /// No compiler is installed.
    #[error(
        "neither glslc nor glslangValidator is on the PATH: install one (Debian and Ubuntu: glslc or glslang-tools)"
    )]
    NoCompiler,
    /// The compiler refused a kernel.
    #[error("{kernel}: {program} failed:\n{message}")]
    Compiler {
        /// The kernel.
        kernel: &'static str,
        /// The compiler.
        program: String,
        /// What it wrote.
        message: String,
    },
    /// A module is not the kernel any more.
    #[error(
        "{kernel}: {reason}; functions may only compute, and read their arguments and what data points to"
    )]
    Unsound {
        /// The kernel.
        kernel: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// The uses of functions, each with the functions that it calls.
pub fn uses() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    USES.iter().map(|(name, functions, _)| (*name, *functions))
}

fn names(between: &str) -> String {
    uses().map(|(name, _)| name).collect::<Vec<_>>().join(between)
}

/// Functions in one include, to be compiled.
#[derive(Debug, Clone)]
pub struct Functions {
    include: PathBuf,
    uses: Vec<String>,
    compiler: Option<Compiler>,
}

/// A kernel, compiled with the functions and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name in `glsl/kernels.txt`.
    pub kernel: &'static str,
    /// The module, in the byte order of the host.
    pub words: Vec<u32>,
}

/// The modules of all uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The include.
    pub include: PathBuf,
    /// Words of an element.
    pub element_words: u32,
    /// Words that `transform` computes an element from: `#define SOURCE_WORDS n`.
    pub source_words: Option<u32>,
    /// Words of a result of `store`: `#define RESULT_WORDS n`.
    pub result_words: Option<u32>,
    /// Words of data that the functions read at least: `#define DATA_WORDS n`, or 0.
    pub data_words: u32,
    /// The modules.
    pub modules: Vec<Module>,
}

impl Functions {
    /// The functions in an include.
    pub fn new(include: impl Into<PathBuf>) -> Self {
        Self { include: include.into(), uses: Vec::new(), compiler: None }
    }

    /// Adds uses.
    pub fn uses<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.uses.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the compiler; by default the first that is installed.
    pub fn compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// Compiles and checks the modules of all uses.
    ///
    /// # Errors
    /// [`Error`].
    pub fn modules(&self) -> Result<Compiled, Error> {
        let text = fs::read_to_string(&self.include).map_err(explain(&self.include))?;
        let element_words = number(&text, "ELEMENT_WORDS").filter(|words| (1..=MAX_WORDS).contains(words));
        let element_words =
            element_words.ok_or_else(|| Error::NoElementWords { path: self.include.clone() })?;
        let compiler = match &self.compiler {
            Some(compiler) => compiler.clone(),
            None => Compiler::installed().next().ok_or(Error::NoCompiler)?,
        };
        let folder = tempfile::tempdir().map_err(explain(&env::temp_dir()))?;
        write_sources(folder.path())?;
        // What was read holds for every kernel, whatever a kernel defines.
        let mut checked = text.clone();
        for name in ["ELEMENT_WORDS", "SOURCE_WORDS", "RESULT_WORDS", "DATA_WORDS"] {
            let (is_wrong, error) = match number(&text, name) {
                Some(words) => (format!("{name} != {words}"), "differs from its value in other uses"),
                None => (format!("defined {name}"), "is not defined by a line with a number"),
            };
            let is_wrong =
                if name == "DATA_WORDS" { format!("defined {name} && ({is_wrong})") } else { is_wrong };
            checked += &format!("\n#if {is_wrong}\n#error {name} {error}\n#endif\n");
        }
        write(&folder.path().join("functions.glsl"), &checked)?;
        let beside = self.include.parent().unwrap_or(Path::new(""));
        let mut modules: Vec<Module> = Vec::new();
        for kernel in self.kernels()? {
            if modules.iter().any(|module| module.kernel == kernel) {
                continue;
            }
            let model = kernels::named(kernel);
            let words = compiler.compile(model, folder.path(), beside)?;
            kernels::check_functions(&words, model, element_words)
                .map_err(|reason| Error::Unsound { kernel, reason })?;
            modules.push(Module { kernel, words });
        }
        Ok(Compiled {
            include: self.include.clone(),
            element_words,
            source_words: number(&text, "SOURCE_WORDS"),
            result_words: number(&text, "RESULT_WORDS"),
            data_words: number(&text, "DATA_WORDS").unwrap_or(0),
            modules,
        })
    }

    /// The kernels of all uses.
    fn kernels(&self) -> Result<Vec<&'static str>, Error> {
        if self.uses.is_empty() {
            return Err(Error::UnknownUse { name: String::new() });
        }
        let of = |name: &String| {
            let found = USES.iter().find(|(other, ..)| other == name);
            found
                .map(|(.., kernels)| kernels.iter().copied())
                .ok_or_else(|| Error::UnknownUse { name: name.clone() })
        };
        Ok(self.uses.iter().map(of).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// For a build script: writes `NAME.rs` into `OUT_DIR`, with a static of that name in capitals, or fails the build with the
    /// error.
    pub fn compile(&self, name: &str) {
        let beside =
            self.include.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        println!("cargo::rerun-if-changed={}", beside.display());
        println!("cargo::rerun-if-env-changed=PATH");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("a build script has OUT_DIR"));
        let written = self
            .modules()
            .and_then(|compiled| write(&out.join(format!("{name}.rs")), &rust(&compiled, name)));
        if let Err(error) = written {
            error.to_string().lines().for_each(|line| println!("cargo::error={line}"));
            std::process::exit(1);
        }
    }
}

/// Writes the sources of the library's kernels below a folder, which is then one of a compiler's for includes: pieces for
/// kernels of your own, which `docs/pieces.md` lists.
///
/// # Errors
/// [`Error::File`].
pub fn write_sources(folder: impl AsRef<Path>) -> Result<(), Error> {
    subsweep::GLSL.iter().try_for_each(|(path, source)| write(&folder.as_ref().join(path), source))
}

/// The number of the line `#define NAME n`.
fn number(text: &str, name: &str) -> Option<u32> {
    let of_line = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["#define", found, number, ..] if found == name => Some(number.to_owned()),
        _ => None,
    };
    text.lines().find_map(of_line)?.parse().ok()
}

fn explain(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { path, source }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(explain(folder))?;
    }
    fs::write(path, text).map_err(explain(path))
}
