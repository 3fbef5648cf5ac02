//! CUB's kernels, compiled by NVIDIA's compiler.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::occupancy::{Multiprocessor, Needs, SM_89, SM_90, SM_120};
use crate::sass::{self, Function};
use crate::table::{MainPath, Row, Work};
use crate::tool::run;

const ARCHITECTURES: [(&str, Multiprocessor); 3] = [("sm_89", SM_89), ("sm_90", SM_90), ("sm_120", SM_120)];

/// The macros of cub.cu for each work, and a substring of the kernel's name.
const fn source(work: Work) -> (&'static [&'static str], &'static str) {
    match work {
        Work::Keys => (&["KEYS=uint32_t", "VALUES=void"], "DeviceRadixSortOnesweepKernel"),
        Work::Pairs => (&["KEYS=uint32_t", "VALUES=uint32_t"], "DeviceRadixSortOnesweepKernel"),
        Work::Keys64 => (&["KEYS=uint64_t", "VALUES=void"], "DeviceRadixSortOnesweepKernel"),
        Work::Scan => (&["SCAN"], "DeviceScanKernel"),
    }
}

/// NVIDIA's toolkit.
#[derive(Debug, Clone, Copy)]
pub struct Toolkit<'a> {
    /// The toolkit's folder, which contains `bin/nvcc`.
    pub folder: &'a Path,
    /// `cub.cu`.
    pub source: &'a Path,
    /// A folder for temporary files.
    pub work: &'a Path,
}

/// A disassembled cubin.
struct Cubin {
    functions: std::collections::HashMap<String, Function>,
    resources: String,
}

/// CUB's tile shape.
struct Shape {
    threads: u32,
    /// Items per thread.
    items: u32,
    /// Whether warps are specialised, with shared memory sized at launch.
    is_lookahead: bool,
}

impl Toolkit<'_> {
    /// Versions of the compiler and of CUB.
    pub fn version(self) -> Result<String> {
        let text = self.run("nvcc", &["--version".to_owned()])?;
        let release = text.lines().find_map(|line| line.split_once("release ")).map_or("?", |(_, rest)| rest);
        let header = self.folder.join("include/cccl/cub/version.cuh");
        let header = std::fs::read_to_string(&header).with_context(|| header.display().to_string())?;
        let number = header.lines().find_map(|line| line.strip_prefix("#define CUB_VERSION "));
        let number: u32 = number
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .context("CUB has no version")?;
        Ok(format!("CUB {}.{}.{}, nvcc {release}", number / 100_000, number / 100 % 1000, number % 100))
    }

    /// All rows. `begin` is called before each.
    pub fn rows(self, begin: impl Fn(&str)) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (architecture, multiprocessor) in ARCHITECTURES {
            for work in Work::ALL {
                begin(&format!("CUB for {architecture}: {}", work.title()));
                rows.push(self.row(architecture, multiprocessor, work)?);
            }
        }
        Ok(rows)
    }

    fn row(self, architecture: &str, multiprocessor: Multiprocessor, work: Work) -> Result<Row> {
        let (macros, kernel) = source(work);
        let cubin = self.compile(architecture, macros, &[])?;
        let Shape { threads, items, is_lookahead } = cubin.shape()?;
        let name = cubin.name_with(kernel)?;
        let main_path = |more: &[&str]| self.compile(architecture, macros, more)?.main_path();
        let main_path = match work {
            Work::Scan if is_lookahead => MainPath::Specialized,
            Work::Scan => {
                let others = main_path(&["MAIN_PATH", "OTHER_WARPS"])?;
                MainPath::Builds { first: main_path(&["MAIN_PATH"])?, others }
            }
            _ => MainPath::Build(main_path(&["MAIN_PATH"])?),
        };
        Ok(Row {
            work,
            name: if is_lookahead { "CUB, lookahead".to_owned() } else { "CUB".to_owned() },
            compiler: format!("ptxas, {architecture}"),
            multiprocessor,
            needs: Needs {
                workgroup_size: threads,
                lanes: 32,
                registers: cubin.resource(name, "REG")?,
                shared_memory: cubin.resource(name, "SHARED")?,
            },
            items,
            static_instructions: cubin.functions[name].static_instructions(),
            main_path,
            spills: 0,
        })
    }

    fn compile(self, architecture: &str, macros: &[&str], more: &[&str]) -> Result<Cubin> {
        let to = self.work.join("cub.cubin").display().to_string();
        let mut arguments = vec!["-std=c++17".to_owned(), "-cubin".into(), format!("-arch={architecture}")];
        arguments.extend(macros.iter().chain(more).map(|name| format!("-D{name}")));
        arguments.extend(["-o".into(), to.clone(), self.source.display().to_string()]);
        self.run("nvcc", &arguments)?;
        Ok(Cubin {
            functions: sass::functions(&self.run("nvdisasm", &["-c".to_owned(), to.clone()])?),
            resources: self.run("cuobjdump", &["--dump-resource-usage".to_owned(), to])?,
        })
    }

    fn run(self, name: &str, arguments: &[String]) -> Result<String> {
        run(&self.folder.join("bin").join(name).display().to_string(), arguments)
    }
}

impl Cubin {
    /// The only function whose mangled name contains `part`.
    fn name_with(&self, part: &str) -> Result<&str> {
        let mut names = self.functions.keys().filter(|name| name.contains(part));
        match (names.next(), names.next()) {
            (Some(name), None) => Ok(name),
            (None, _) => bail!("CUB has no {part}"),
            (Some(_), Some(_)) => bail!("CUB has several kernels with {part} in their names"),
        }
    }

    fn main_path(&self) -> Result<u32> {
        self.functions[self.name_with("main_path")?].reachable_instructions()
    }

    /// `shape_of_kernel<THREADS, ITEMS, IS_LOOKAHEAD>`.
    fn shape(&self) -> Result<Shape> {
        let name = self.name_with("shape_of_kernel")?;
        let numbers = name.split("Li").skip(1).filter_map(|rest| rest.split('E').next()?.parse().ok());
        match numbers.collect::<Vec<u32>>()[..] {
            [threads, items, lookahead] => Ok(Shape { threads, items, is_lookahead: lookahead != 0 }),
            _ => bail!("a shape without its numbers: {name}"),
        }
    }

    /// `Function NAME:` and, on the next line, `REG:74 … SHARED:32768 …`.
    fn resource(&self, name: &str, resource: &str) -> Result<u32> {
        let heading = format!("Function {name}:");
        let mut lines = self.resources.lines().skip_while(|line| line.trim() != heading).skip(1);
        let fields = lines.next().unwrap_or_default().split_whitespace();
        let value = fields.filter_map(|field| field.split_once(':')).find(|(of, _)| *of == resource);
        value.and_then(|(_, value)| value.parse().ok()).with_context(|| format!("no {resource} of {name}"))
    }
}
