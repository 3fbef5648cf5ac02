//! What real compilers make of the kernels, without their hardware.
//!
//! RADV compiles for AMD's GPUs on machines that have none, and tells what became of each pipeline. Every pipeline of
//! the case table's policies is compiled for each target and every number of lanes that it has; none may spill, and
//! the numbers are held to committed tables, `RADV-*.txt`, where the same compilers made those. `tools/codegen`
//! rewrites them. A row beside the targets lets `spirv-val` judge every module.
//!
//! Each row is a process of its own: see `tests/common/children.rs`.

#[path = "../common/children.rs"]
mod children;
mod compiled;
#[cfg(feature = "compile-shaders")]
#[path = "../common/fixture.rs"]
mod fixture;
mod modules;
mod radv;
mod ranking;
mod rows;
mod spilling;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    children::main::<rows::Row>()
}
