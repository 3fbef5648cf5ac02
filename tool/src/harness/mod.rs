//! Floor 4: the table of cases, and the checks and measurements of each.
//!
//! A [`Case`] is a primitive's work with a stable id. `verify`, the tests, `bench` and criterion draw from the same
//! table, run it through the same [`Workload`], and compare with the same oracle: every measured result was verified on
//! the same memory first.

mod arithmetic;
mod bench;
mod cases;
mod comparer;
mod comparison;
mod description;
mod expected;
pub mod gpus;
mod inputs;
mod inspection;
mod keys;
mod large;
mod layout;
mod look_back;
mod numbers;
pub mod page;
mod report;
mod selected;
mod sorted;
mod statistics;
mod threads;
mod tuning_rows;
pub mod units;
mod verify;
mod workload;

pub use bench::{
    BenchGroup, BenchOptions, CacheFlush, CopyKernel, CopyRoof, Measured, ShapeBench, steadiness,
};
pub use cases::*;
pub use comparison::{
    CaseComparison, Comparison, Difference, GroupComparison, Section, Side, Verdict, pair_devices,
};
pub use description::{Description, Driver, Features, Heap, Limits, Subgroups};
pub use inputs::Input;
pub use inspection::{
    ForeignModule, InspectedDevice, InspectedExecutable, InspectedPipeline, InspectedStatistic, Inspection,
    InspectionComparison, InspectionSide, MAIN_PATH, ModuleError, PipelineComparison, PipelineSet,
    PipelineSide, SpecializedModule, Summary as PipelineSummary,
};
pub use large::{LargeCase, LargeResult};
pub use layout::BufferLayout;
pub use look_back::LookBackCounts;
pub use report::{
    DeviceReport, Host, JsonProblem, Measurement, RecordedCounts, Report, ReportError, Summary, Tool,
    VerifiedCase, WrongWord,
};
pub use statistics::LinearFit;
pub use tuning_rows::{shape_name, tuning_row};
pub use verify::{Failure, Outcome, verify_case, verify_case_in};
pub use workload::{Mismatch, Workload};
