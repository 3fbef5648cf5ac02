//! The kernels, compiled for GPUs of five vendors without their hardware.
//!
//! Mesa's drivers compile for absent GPUs: see `subsweep_tool::harness::CompileOnlyGpu`. Every pipeline that a policy can
//! choose is compiled for each GPU. None may spill, and its numbers must match the committed table `GPU.txt`, if the
//! same compilers wrote that. `tools/codegen` rewrites the tables. One more row validates every module by `spirv-val`.
//!
//! Each row runs in its own process: see `tests/common/children.rs`.

#[path = "../../../tests/common/children.rs"]
mod children;
mod chosen;
mod compiled;
mod gpu;
mod main_path;
mod modules;
#[path = "../../../tests/common/reduced.rs"]
mod reduced;
mod rows;
mod spilling;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    children::main::<rows::GpuRow>()
}
