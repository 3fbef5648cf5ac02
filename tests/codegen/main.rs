//! What the compilers of five vendors' GPUs make of the kernels, without their hardware.
//!
//! Mesa's drivers compile for GPUs that are not there: see `subsweep::harness::CompileOnlyGpu`. Every pipeline that a policy
//! can choose is compiled for each GPU; none may spill, and the numbers are held to committed tables, `GPU.txt`, where the
//! same compilers made those. `tools/codegen` rewrites them. A row beside the GPUs lets `spirv-val` judge every module.
//!
//! Each row is a process of its own: see `tests/common/children.rs`.

#[path = "../common/children.rs"]
mod children;
mod chosen;
mod compiled;
#[cfg(feature = "compile-shaders")]
#[path = "../common/fixture.rs"]
mod fixture;
mod gpu;
mod main_path;
mod modules;
#[path = "../common/reduced.rs"]
mod reduced;
mod rows;
mod spilling;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    children::main::<rows::Row>()
}
