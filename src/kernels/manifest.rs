//! `glsl/precompiled/manifest.txt`: the sources of the modules beside it and their reflection.
//!
//! Optimised modules are stripped, so the names are kept here; a build that cannot compile the sources compares
//! their hashes instead. A line is one item and a word one field, so that diffs are short:
//!
//! ```text
//! compiler  NAME AND VERSION
//! source    PATH HASH                            each source and include, below glsl/
//! kernel    NAME HASH DEFINE…                    hash of the module; followed by its lines:
//! workgroup SPEC_ID                              the constant that is gl_WorkGroupSize.x
//! push      NAME OFFSET SIZE ACCESS|-            "-" for other than pointers
//! constant  NAME SPEC_ID DEFAULT
//! ```

use super::access::KernelAccess;
use super::hash::fnv1a;
use std::fmt::Write as _;
use std::str::FromStr;

/// The description of a set of modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The compiler of the modules.
    pub compiler: String,
    /// Every source and include, sorted by path.
    pub sources: Vec<Source>,
    /// The modules, in the order of `kernels.txt`.
    pub kernels: Vec<Kernel>,
}

/// A source or include file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path below `glsl/`, with forward slashes.
    pub path: String,
    /// The [`text_hash`] of the file.
    pub hash: u64,
}

/// One module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    pub defines: Vec<String>,
    /// The [`fnv1a`] of the module's bytes.
    pub hash: u64,
    pub workgroup_size_id: Option<u32>,
    pub push_constants: Vec<PushConstant>,
    pub spec_constants: Vec<SpecConstant>,
}

/// One member of the push-constant block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushConstant {
    pub name: String,
    pub offset: u32,
    pub size: u32,
    /// The kernel's accesses through it, if it is a pointer.
    pub access: Option<KernelAccess>,
}

/// One specialization constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    pub name: String,
    pub id: u32,
    /// The bits of the default.
    pub default: u32,
}

impl Manifest {
    /// The text of the manifest.
    pub fn write(&self) -> String {
        let mut text =
            String::from("# Made by a build with compile-shaders. Do not edit: run tools/precompile.\n");
        self.write_lines(&mut text).expect("a String takes every write");
        text
    }

    fn write_lines(&self, to: &mut String) -> std::fmt::Result {
        writeln!(to, "compiler {}", self.compiler)?;
        for Source { path, hash } in &self.sources {
            writeln!(to, "source {path} {hash:016x}")?;
        }
        for kernel in &self.kernels {
            write!(to, "\nkernel {} {:016x}", kernel.name, kernel.hash)?;
            for define in &kernel.defines {
                write!(to, " {define}")?;
            }
            writeln!(to)?;
            if let Some(id) = kernel.workgroup_size_id {
                writeln!(to, "workgroup {id}")?;
            }
            for PushConstant { name, offset, size, access } in &kernel.push_constants {
                let access = access.map_or_else(|| "-".to_owned(), |access| access.to_string());
                writeln!(to, "push {name} {offset} {size} {access}")?;
            }
            for SpecConstant { name, id, default } in &kernel.spec_constants {
                writeln!(to, "constant {name} {id} {default}")?;
            }
        }
        Ok(())
    }

    /// Parses the text of [`write`](Self::write); an error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut manifest = Self::default();
        for (index, line) in text.lines().enumerate() {
            manifest.parse_line(line).map_err(|why| format!("line {}: {why}", index + 1))?;
        }
        Ok(manifest)
    }

    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim();
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = Words(rest.split_whitespace());
        match what {
            "" | "#" => return Ok(()),
            "compiler" => {
                self.compiler = rest.to_owned();
                return Ok(());
            }
            "source" => self.sources.push(Source { path: words.text()?, hash: words.hash()? }),
            "kernel" => {
                let (name, hash) = (words.text()?, words.hash()?);
                let defines = words.0.by_ref().map(str::to_owned).collect();
                self.kernels.push(Kernel { name, hash, defines, ..Kernel::default() });
            }
            "workgroup" => self.last_kernel()?.workgroup_size_id = Some(words.number()?),
            "push" => self.last_kernel()?.push_constants.push(PushConstant {
                name: words.text()?,
                offset: words.number()?,
                size: words.number()?,
                access: words.access()?,
            }),
            "constant" => self.last_kernel()?.spec_constants.push(SpecConstant {
                name: words.text()?,
                id: words.number()?,
                default: words.number()?,
            }),
            _ => return Err(format!("unknown item \"{what}\"")),
        }
        words.0.next().map_or(Ok(()), |word| Err(format!("\"{word}\" is superfluous")))
    }

    fn last_kernel(&mut self) -> Result<&mut Kernel, String> {
        self.kernels.last_mut().ok_or_else(|| "it precedes every kernel".to_owned())
    }
}

struct Words<'a>(std::str::SplitWhitespace<'a>);

impl Words<'_> {
    fn word(&mut self) -> Result<&str, String> {
        self.0.next().ok_or_else(|| "a field is missing".to_owned())
    }

    fn text(&mut self) -> Result<String, String> {
        self.word().map(str::to_owned)
    }

    fn number(&mut self) -> Result<u32, String> {
        let word = self.word()?;
        u32::from_str(word).map_err(|_| format!("\"{word}\" is not a number"))
    }

    fn hash(&mut self) -> Result<u64, String> {
        let word = self.word()?;
        u64::from_str_radix(word, 16).map_err(|_| format!("\"{word}\" is not a hash"))
    }

    fn access(&mut self) -> Result<Option<KernelAccess>, String> {
        match self.word()? {
            "-" => Ok(None),
            word => {
                KernelAccess::from_name(word).map(Some).ok_or_else(|| format!("\"{word}\" is not an access"))
            }
        }
    }
}

/// The hash of a text, independent of the line ends of the checkout.
pub fn text_hash(text: &str) -> u64 {
    fnv1a(text.replace("\r\n", "\n").bytes())
}

#[cfg(test)]
mod tests;
