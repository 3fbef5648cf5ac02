//! Tables of algorithms, one for each primitive that chooses by the device: the first row that matches is taken; the last
//! matches every device.
//!
//! A row says what is fast. Whether a device may have an algorithm at all is a rule of the primitive: a configuration that
//! only one algorithm takes, or the forward progress that a single pass counts on.

use super::condition::{Condition, Devices};
use crate::device::{Architecture, Capabilities};
use crate::primitives::Choice;
use crate::reduce::ReduceByKeyAlgorithm;
use crate::run_length::RunLengthAlgorithm;
use crate::scan::{ScanAlgorithm, WorkgroupScan};
use crate::select::SelectAlgorithm;
use crate::sort::SortAlgorithm;

/// A row of a table of algorithms.
#[derive(Debug, Clone, Copy)]
pub struct AlgorithmRow<A> {
    condition: Condition,
    algorithm: A,
    /// What a user reads of the choice.
    reason: &'static str,
}

const LAVAPIPE: Devices = Devices::Architecture(Architecture::Lavapipe);
const SWIFTSHADER: Devices = Devices::Architecture(Architecture::SwiftShader);
const XE: Devices = Devices::Architecture(Architecture::IntelXe);

const TWO_PASSES: ScanAlgorithm = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);

const ONE_PASS: &str =
    "a single pass moves the fewest bytes, and workgroups of this GPU make progress once they have started";
const ONE_PASS_OF_THREADS: &str =
    "a single pass moves the fewest bytes, and the driver's threads are scheduled fairly";
const TWO_PASSES_OF_CPU: &str = "on a CPU two plain passes are faster than one that looks back";
const ONESWEEP: &str = "few keys take one dispatch; onesweep moves more keys the fewest times, in one kernel per pass \
                        with a bounded look-back";
const FEW_LANES: &str = "few keys take one dispatch; on a CPU, or with few lanes, digits of 4 bits need little scratch, \
                         and compile in a third of the time";

const fn row<A>(devices: Devices, algorithm: A, reason: &'static str) -> AlgorithmRow<A> {
    AlgorithmRow { condition: Condition::new(devices), algorithm, reason }
}

impl<A> AlgorithmRow<A> {
    const fn max_lanes(mut self, lanes: u32) -> Self
    where
        A: Copy,
    {
        self.condition.max_lanes = Some(lanes);
        self
    }
}

/// Scans out of place that can be chained, on devices with forward progress.
pub const SCANS: &[AlgorithmRow<ScanAlgorithm>] = &[
    // Measured: lavapipe 22.3.6 at 8 lanes, two cores, 2^22 u32: 58 % of the copy's speed, 52 % in two passes.
    row(LAVAPIPE, ScanAlgorithm::Chained, ONE_PASS_OF_THREADS),
    // Measured: SwiftShader, two cores, 2^22 u32: 3.3 % of the copy's speed, 2.9 % in a single pass.
    row(Devices::Cpu, TWO_PASSES, TWO_PASSES_OF_CPU),
    // Derived: the libraries of NVIDIA, AMD and Intel scan in a single pass. Measured: NVIDIA H200.
    row(Devices::All, ScanAlgorithm::Chained, ONE_PASS),
];

/// Selections, on devices with forward progress.
pub const SELECTIONS: &[AlgorithmRow<SelectAlgorithm>] = &[
    // Measured: lavapipe 22.3.6 at 8 lanes, 2^22 u32: 64 ms, and 77 ms in a single pass.
    row(Devices::Cpu, SelectAlgorithm::ReduceThenScan, TWO_PASSES_OF_CPU),
    // As of scans.
    row(Devices::All, SelectAlgorithm::Chained, ONE_PASS),
];

/// Encodings of runs, on devices with forward progress.
pub const ENCODINGS: &[AlgorithmRow<RunLengthAlgorithm>] = &[
    // As of selections.
    row(Devices::Cpu, RunLengthAlgorithm::Selection, TWO_PASSES_OF_CPU),
    row(Devices::All, RunLengthAlgorithm::Chained, ONE_PASS),
];

/// Reductions by key whose results do not depend on the order of operations, on devices with forward progress.
pub const REDUCTIONS_BY_KEY: &[AlgorithmRow<ReduceByKeyAlgorithm>] = &[
    // As of selections.
    row(Devices::Cpu, ReduceByKeyAlgorithm::Segments, TWO_PASSES_OF_CPU),
    row(Devices::All, ReduceByKeyAlgorithm::Chained, ONE_PASS),
];

/// Sorts of more keys than one workgroup holds.
pub const SORTS: &[AlgorithmRow<SortAlgorithm>] = &[
    // Measured: lavapipe 22.3.6 at 8 lanes, docs/results.md.
    row(
        LAVAPIPE,
        SortAlgorithm::Radix4Bit,
        "few keys take one dispatch; on a CPU digits of 4 bits need little scratch, and compile in a third of the time",
    ),
    // Measured: SwiftShader at 4 lanes, docs/results.md.
    row(
        SWIFTSHADER,
        SortAlgorithm::Radix8Bit,
        "few keys take one dispatch; SwiftShader sorts more by digits of 8 bits in half the time that 4 bits take",
    ),
    // As on lavapipe; measured on no other CPU driver.
    row(Devices::Cpu, SortAlgorithm::Radix4Bit, FEW_LANES),
    // Derived: its passes require 16 lanes, whatever the driver's default is.
    row(XE, SortAlgorithm::Onesweep, ONESWEEP),
    // Derived: ranking by match pays from 16 lanes on, where as many keys share each ballot.
    row(Devices::All, SortAlgorithm::Radix4Bit, FEW_LANES).max_lanes(15),
    // Derived: 36 bytes moved per u32 key, 52 by radix-8bit. Measured: NVIDIA H200.
    row(Devices::All, SortAlgorithm::Onesweep, ONESWEEP),
];

/// The algorithm of the first row for a device, for keys or elements and values of so many words.
pub fn algorithm_of<A: Copy>(
    rows: &[AlgorithmRow<A>],
    capabilities: &Capabilities,
    words: [u32; 2],
) -> Choice<A> {
    let row = rows.iter().find(|row| row.condition.is_met(capabilities, words));
    let row = row.expect("the last row matches every device");
    Choice { policy: row.algorithm, reason: row.reason }
}

#[cfg(test)]
mod tests;
