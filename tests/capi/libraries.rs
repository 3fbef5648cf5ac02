//! The libraries that `tools/capi` installs, and programs linked with them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::Failed;
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A temporary installation of the libraries.
pub struct Libraries {
    folder: TempDir,
}

/// Which of the two libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linking {
    Shared,
    Static,
}

/// The output of a command, on both streams.
pub fn words(output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{stdout}{stderr}")
}

/// Runs a command, which must succeed.
pub fn done(command: &mut Command) -> Result<Output, Failed> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|error| format!("{name}: {error}; tools/setup test installs it"))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{name}, {}: {}", output.status, words(&output)).into()),
    }
}

impl Libraries {
    /// Installs the libraries and moves them, since an installation must be relocatable.
    pub fn install() -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let first = folder.path().join("first");
        let mut install = Command::new(Path::new(ROOT).join("tools/capi"));
        // A user's setting must not change the parsing of cargo's output. Without optimization between the units of the crate
        // the build takes two thirds of the time that it takes with it.
        let install = install.env("CARGO_TERM_COLOR", "always").env("CARGO_PROFILE_RELEASE_LTO", "off");
        let output = done(install.arg(&first))?;
        let text = words(&output);
        if !text.is_empty() {
            return Err(format!("tools/capi printed: {text}").into());
        }
        let libraries = Self { folder };
        fs::rename(first, libraries.prefix())?;
        Ok(libraries)
    }

    /// Writes headers with functions beside `subsweep.h`, by `tools/custom`.
    pub fn compile_functions(&self) -> Result<(), Failed> {
        for (name, uses) in [
            ("even", &["select"][..]),
            ("distance", &["sort32", "top-k32", "histogram32"]),
            ("matrix", &["scan", "reduce"]),
            ("nesting", &["scan"]),
            ("moments", &["reduce"]),
            ("record", &["search", "merge", "merge-sort"]),
        ] {
            let include = Path::new(ROOT).join(format!("src/kernels/fixtures/{name}.glsl"));
            let mut custom = Command::new(Path::new(ROOT).join("tools/custom"));
            let output = done(custom.arg(include).arg(name).args(uses))?;
            fs::write(self.prefix().join(format!("include/{name}.h")), output.stdout)?;
        }
        Ok(())
    }

    /// The folder of the installation.
    pub fn prefix(&self) -> PathBuf {
        self.folder.path().join("moved")
    }

    /// The flags by pkg-config for these libraries and Vulkan's loader.
    fn flags(&self, arguments: &[&str]) -> Result<Vec<String>, Failed> {
        let paths = std::env::var_os("PKG_CONFIG_PATH").unwrap_or_default();
        let own = self.prefix().join("lib/pkgconfig");
        let paths = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&paths)))?;
        let mut command = Command::new("pkg-config");
        let output =
            done(command.args(arguments).args(["subsweep", "vulkan"]).env("PKG_CONFIG_PATH", paths))?;
        Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
    }

    /// Builds a program from `source`, of C or C++, and `examples/c/host.c`, by pkg-config and the system's compilers, once.
    pub fn build(&self, source: &str, linking: Linking) -> Result<PathBuf, Failed> {
        let root = Path::new(ROOT);
        let file = Path::new(source).file_name().unwrap_or_default().to_string_lossy();
        let program = self.folder.path().join(format!("{file}-{linking:?}"));
        if program.exists() {
            return Ok(program);
        }
        let libraries = match linking {
            Linking::Shared => self.flags(&["--libs"])?,
            Linking::Static => {
                let mut flags = self.flags(&["--static", "--libs"])?;
                // Linkers prefer the shared library.
                flags.iter_mut().filter(|flag| *flag == "-lsubsweep").for_each(|flag| {
                    *flag = "-l:libsubsweep.a".to_owned();
                });
                flags
            }
        };
        let cflags = self.flags(&["--cflags"])?;
        let compiler = |name: &str, standard: &str, output: &Path| {
            let mut compiler = Command::new(name);
            compiler
                .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"])
                .arg(format!("-DVERSION=\"{}\"", env!("CARGO_PKG_VERSION")))
                .arg("-I")
                .arg(root.join("examples/c"))
                .args(&cflags)
                .args(["-pthread".as_ref(), "-o".as_ref(), output.as_os_str()]);
            compiler
        };
        let host = self.folder.path().join("host.o");
        done(compiler("cc", "-std=c99", &host).arg("-c").arg(root.join("examples/c/host.c")))?;
        let (name, standard) =
            if source.ends_with(".cpp") { ("c++", "-std=c++17") } else { ("cc", "-std=c99") };
        done(compiler(name, standard, &program).arg(root.join(source)).arg(host).args(libraries))?;
        Ok(program)
    }

    /// Builds the programs of `examples/c` by CMake, and returns their folder.
    pub fn build_by_cmake(&self, linking: Linking) -> Result<PathBuf, Failed> {
        let folder = self.folder.path().join(format!("cmake-{linking:?}"));
        let is_shared = if linking == Linking::Shared { "ON" } else { "OFF" };
        let options = [format!("-DBUILD_SHARED_LIBS={is_shared}"), "-DCMAKE_BUILD_TYPE=Release".to_owned()];
        done(self.cmake(&Path::new(ROOT).join("examples/c"), &folder).args(options))?;
        done(Command::new("cmake").arg("--build").arg(&folder))?;
        Ok(folder)
    }

    /// The configuration of a project in `source`, which finds this installation.
    fn cmake(&self, source: &Path, folder: &Path) -> Command {
        let mut cmake = Command::new("cmake");
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", self.prefix().display());
        cmake.arg("-S").arg(source).arg("-B").arg(folder).arg(prefix);
        cmake
    }

    /// What CMake says of a project that has these lines.
    pub fn configure(&self, lines: &str) -> Result<Output, Failed> {
        let folder = tempfile::tempdir()?;
        let project = format!("cmake_minimum_required(VERSION 3.16)\nproject(it NONE)\n{lines}\n");
        fs::write(folder.path().join("CMakeLists.txt"), project)?;
        Ok(self.cmake(folder.path(), &folder.path().join("build")).output()?)
    }

    /// Runs a program, which must succeed, and returns its output and the layer's.
    pub fn run(&self, program: &Path, linking: Linking) -> Result<String, Failed> {
        self.run_command(Command::new(program), linking)
    }

    /// As [`Self::run`], with arguments and an environment.
    pub fn run_command(&self, mut command: Command, linking: Linking) -> Result<String, Failed> {
        if linking == Linking::Shared {
            let others = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
            let own = self.prefix().join("lib");
            let paths = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others)))?;
            command.env("LD_LIBRARY_PATH", paths);
        }
        Ok(words(&done(&mut command)?))
    }
}

/// The installer takes the files that cargo reports, not old ones in the default folder: the user's configuration may
/// name another target.
pub fn installs_what_was_built() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let (native, other) = (folder.join("target/capi/release"), folder.join("other"));
    for (built, words) in [(&native, "stale"), (&other, "fresh")] {
        fs::create_dir_all(built)?;
        fs::write(built.join("libsubsweep.a"), words)?;
        fs::write(built.join("libsubsweep.so"), words)?;
    }
    let cargo = folder.join("cargo");
    let script = format!(
        "#!/bin/sh\n\
         echo 'note: native-static-libs: -lc' >&2\n\
         echo '{{\"reason\":\"compiler-artifact\",\"filenames\":[\"{0}/libsubsweep.a\",\"{0}/libsubsweep.so\"]}}'\n",
        other.display()
    );
    fs::write(&cargo, script)?;
    done(Command::new("chmod").arg("+x").arg(&cargo))?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let paths =
        std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&others)))?;
    let prefix = folder.join("prefix");
    let mut install = Command::new(Path::new(ROOT).join("tools/capi"));
    install.arg(&prefix).env("PATH", paths).env("CARGO_TARGET_DIR", folder.join("target"));
    done(&mut install)?;
    let installed = fs::read_to_string(prefix.join("lib/libsubsweep.a"))?;
    if installed == "fresh" { Ok(()) } else { Err(format!("the library is {installed}").into()) }
}

/// The shared library exports the functions of the header, and nothing else.
pub fn exports_are_the_functions(libraries: &Libraries) -> Result<(), Failed> {
    let mut nm = Command::new("nm");
    let output = done(nm.args(["-D", "--defined-only"]).arg(libraries.prefix().join("lib/libsubsweep.so")))?;
    let words = words(&output);
    let exported: BTreeSet<_> = words.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let header = fs::read_to_string(libraries.prefix().join("include/subsweep.h"))?;
    let calls = header.lines().filter(|line| !line.starts_with([' ', '#', '/']));
    let names = calls.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let declared: BTreeSet<_> = names.collect();
    let difference: Vec<_> = exported.symmetric_difference(&declared).collect();
    if difference.is_empty() && declared.len() > 40 { Ok(()) } else { Err(format!("{difference:?}").into()) }
}
