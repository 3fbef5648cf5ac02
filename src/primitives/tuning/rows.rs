//! The rows of each part: rows of generations and architectures, then a row of all CPUs, then one of all devices.
//!
//! "Derived" rows follow from compiler statistics without the device: no spills, and registers and shared memory for
//! two workgroups per compute unit. A measured row names device, driver and source.

use super::condition::Condition;
use super::shape::KernelShape;
use super::{Devices, TunedPart, TuningRow};
use crate::device::{Architecture, Capabilities, Generation};
use crate::primitives::sort::{match_tables_size, shared_tables_size};

const HOPPER: Devices = Devices::Generation(Generation::Hopper);
const NVIDIA: Devices = Devices::Architecture(Architecture::Nvidia);
const RDNA: Devices = Devices::Architecture(Architecture::AmdRdna);
const GCN: Devices = Devices::Architecture(Architecture::AmdGcn);
const XE: Devices = Devices::Architecture(Architecture::IntelXe);
const XE2: Devices = Devices::Architecture(Architecture::IntelXe2);
const ADRENO: Devices = Devices::Architecture(Architecture::Adreno);
const APPLE: Devices = Devices::Architecture(Architecture::Apple);

const SWEEP: &[TunedPart] = &[TunedPart::Onesweep];
/// Parts that rank tiles by match.
const MATCHED: &[TunedPart] = &[TunedPart::Onesweep, TunedPart::Radix8Bit];
const COUNTED: &[TunedPart] = &[TunedPart::CountedSort];
const LARGE: &[TunedPart] = &[TunedPart::LargeWorkgroupSort];
/// Tiles for few elements.
const FEW: &[TunedPart] = &[TunedPart::OnesweepFew, TunedPart::ChainedScanFew, TunedPart::ChainedSelectFew];
/// Parts that keep some elements of a tile.
const SELECTED: &[TunedPart] = &[TunedPart::Select, TunedPart::ChainedSelect, TunedPart::ChainedRunLength];

const H200_SCAN: &str =
    "measured: NVIDIA H200, driver 580.159.04: between the best of 2^24 (12 items) and of 2^26 elements (24)";
const H200_FEW_SCAN: &str = "measured: NVIDIA H200, driver 580.159.04, 2^16 elements: 7.7 µs, in 16 tiles of 256 x 16 11.2, \
                             and with a look-back 9.3";
const H200_FEW_SELECT: &str =
    "measured: NVIDIA H200, driver 580.159.04, 2^16 elements: 8.4 µs, in tiles of 256 x 16 9.2";
const H200_FEW: &str = "measured: NVIDIA H200, driver 580.159.04, 2^16 and 2^18 keys";
const NO_FEW: &str = "without tiles of their own: measured on no such device";
const NO_ROWS: &str = "none in subgroups: measured on no such device";
const H200_BY_WORDS: &str = "measured: NVIDIA H200, driver 580.159.04, 2^24 elements, by subsweep tune, of loads of 4 bytes instead of 16";
const H200_TUNED: &str = "measured: NVIDIA H200, driver 580.159.04, 2^24 elements, by subsweep tune";
const NAK: &str = "derived: NAK, Mesa 26.1, Ampere: up to 80 registers; workgroup and early counts as in CUB's Onesweep \
                   for sm_90; masks take fewer instructions than ballots, and less time on an H200";
const NAK_MERGE: &str = "derived: NAK, Mesa 26.1, Ampere: 1.8 times as many keys as 8 items in 1.1 times the cycles; \
                         of 2 x 7 items two lanes at most store to one bank";
const NAK_LARGE: &str = "derived: NAK, Mesa 26.1, Ampere: 512 x 24 and 1,024 x 16 spill, and keys of 64 bits with values 512 x 16";
const IR3_LARGE: &str = "derived: ir3, Mesa 26.1, Adreno 630: 1,024 invocations spill";
const NO_LARGE: &str = "no larger than the single workgroup: passes take over";
const ACO_RDNA: &str = "derived: ACO, Mesa 26.1, Navi 21, no spills on RDNA 3 and 4 either: 32 lanes match in fewer \
                        cycles than 64, which count in fewer; ballots as in rocPRIM";
const ACO_GCN: &str = "derived: ACO, Mesa 26.1, Vega 10";
const BRW_XE_PACKED: &str = "derived: brw, Mesa 26.1, Xe: with elements of 8 and 16 bits 12 items spill";
const BRW_XE: &str = "derived: brw, Mesa 26.1, Tiger Lake and Arc: 32 lanes spill, and so do larger tiles";
const BRW_XE_8: &str = "derived: brw, Mesa 26.1, Tiger Lake and Arc: 16 lanes spill";
const BRW_XE2: &str = "derived: brw, Mesa 26.1, Lunar Lake: 32 lanes spill";
const IR3: &str =
    "derived: ir3, Mesa 26.1, Adreno 630, 740 and 830: 512 invocations have half of the registers each";
const AGX: &str = "derived: Honeykrisp, Mesa 26.1, M1: 32 KiB of shared memory";
const NO_SPILLS: &str = "derived: NAK, ACO, ir3 and Honeykrisp, Mesa 26.1: no spills; measured on no GPU";
const LAVAPIPE: &str = "a trial on lavapipe 22.3.6 at 8 lanes; not measured on SwiftShader";
const CPUS: &str = "a trial on lavapipe 22.3.6 at 8 lanes and on SwiftShader";
const FORMULA: &str = "formula of the device's limits";
const FIXED: &str = "the same on all devices, for the same bits";

const fn row(
    devices: Devices,
    parts: &'static [TunedPart],
    shape: KernelShape,
    source: &'static str,
) -> TuningRow {
    TuningRow { condition: Condition::new(devices), parts, shape, formula: None, source }
}

/// The onesweep variants of Hopper.
const fn hopper(workgroup_size: u32, items: u32) -> KernelShape {
    KernelShape::matched(workgroup_size, items).masks().status_loads().status_stores().window(4)
}

/// Formula for tiles ranked by counters, with digits of up to 4 bits: the largest that the device supports, of up
/// to 4,096 keys.
fn counted(capabilities: &Capabilities) -> KernelShape {
    let workgroup_size = capabilities.max_workgroup_invocations.min(256);
    // The tile and small arrays share the memory.
    let tables_size = shared_tables_size(4, workgroup_size);
    let room = capabilities.shared_memory_size.saturating_sub(tables_size) / (4 * workgroup_size).max(1);
    KernelShape::tile(workgroup_size, room.clamp(4, 16) / 4 * 4)
}

/// Formula for tiles ranked by match, with digits of 8 bits: up to 16 subgroups, whose histograms take up to half
/// of the shared memory, and up to 8,192 keys, so that an invocation's keys fit in registers. Includes 64-bit
/// offsets.
fn matched(capabilities: &Capabilities) -> KernelShape {
    let lanes = capabilities.min_subgroup_size.max(4);
    let shared_size = capabilities.shared_memory_size;
    let subgroups = (shared_size / 2 / (4 << 8)).clamp(1, 16);
    let limit = capabilities.max_workgroup_invocations.min(512);
    // Each invocation handles at most one bin, or all the same number. Kernels need at least 32 invocations.
    let workgroup_size = match (subgroups * lanes).min(limit).max(32) {
        size @ 256.. => size / 32 * 32,
        size => size.checked_ilog2().map_or(0, |bits| 1 << bits),
    };
    let tables_size = match_tables_size(8, workgroup_size, 2);
    let room = shared_size.saturating_sub(tables_size) / (4 * workgroup_size).max(1);
    let most = (8192 / workgroup_size.max(1)).min(32);
    KernelShape::tile(workgroup_size, room.min(most).max(1))
}

/// All rows; the first that matches is taken.
pub(super) const ROWS: &[TuningRow] = &[
    row(HOPPER, &[TunedPart::ChainedScan], KernelShape::tile(256, 16).status_loads(), H200_SCAN),
    row(HOPPER, &[TunedPart::ChainedScanFew], KernelShape::tile(1024, 4).few(16), H200_FEW_SCAN),
    row(XE, &[TunedPart::Scan, TunedPart::ChainedScan], KernelShape::tile(256, 12).subgroups(16), BRW_XE),
    row(XE2, &[TunedPart::Scan, TunedPart::ChainedScan], KernelShape::tile(256, 16).subgroups(16), BRW_XE2),
    row(
        Devices::Cpu,
        &[TunedPart::Scan, TunedPart::ChainedScan],
        KernelShape::tile(256, 64).one_access(),
        LAVAPIPE,
    ),
    row(Devices::All, &[TunedPart::Scan, TunedPart::ChainedScan], KernelShape::tile(256, 16), NO_SPILLS),
    row(XE, &[TunedPart::ScanTree], KernelShape::tile(128, 16).subgroups(16), FIXED),
    row(XE2, &[TunedPart::ScanTree], KernelShape::tile(128, 16).subgroups(16), FIXED),
    row(Devices::Cpu, &[TunedPart::ScanTree], KernelShape::tile(128, 16).one_access(), FIXED),
    row(Devices::All, &[TunedPart::ScanTree], KernelShape::tile(128, 16), FIXED),
    // Selections move their elements as scans do.
    row(HOPPER, &[TunedPart::ChainedSelect], KernelShape::tile(384, 16).status_loads(), H200_TUNED),
    row(HOPPER, &[TunedPart::ChainedSelectFew], KernelShape::tile(512, 4).few(32), H200_FEW_SELECT),
    row(HOPPER, &[TunedPart::ChainedRunLength], KernelShape::tile(256, 24).status_loads(), H200_TUNED),
    row(XE, &[TunedPart::ChainedRunLength], KernelShape::tile(256, 10).subgroups(16), BRW_XE_PACKED),
    row(XE, SELECTED, KernelShape::tile(256, 12).subgroups(16), BRW_XE),
    row(XE2, SELECTED, KernelShape::tile(256, 16).subgroups(16), BRW_XE2),
    row(Devices::All, SELECTED, KernelShape::tile(256, 16), NO_SPILLS),
    row(HOPPER, SWEEP, hopper(448, 20).any_order().window(8), H200_TUNED).words(1, 0),
    row(HOPPER, SWEEP, hopper(320, 18), H200_TUNED).words(1, 1),
    row(HOPPER, SWEEP, hopper(320, 14).window(2), H200_TUNED).words(1, 2),
    row(HOPPER, SWEEP, hopper(320, 18).window(2), H200_TUNED).words(2, 0),
    row(HOPPER, SWEEP, hopper(320, 14), H200_TUNED).words(2, 1),
    row(HOPPER, SWEEP, hopper(256, 12), H200_TUNED).words(2, 2),
    row(HOPPER, &[TunedPart::OnesweepFew], KernelShape::tile(256, 8).window(8).few(128), H200_FEW),
    row(Devices::All, FEW, KernelShape::tile(256, 8).few(0), NO_FEW),
    row(NVIDIA, MATCHED, KernelShape::matched(384, 20).masks(), NAK).words(1, 0),
    row(NVIDIA, MATCHED, KernelShape::matched(384, 18).masks(), NAK).words(1, 1),
    row(NVIDIA, MATCHED, KernelShape::matched(384, 14).masks(), NAK).words(1, 2),
    row(NVIDIA, MATCHED, KernelShape::matched(384, 18).masks(), NAK).words(2, 0),
    row(NVIDIA, MATCHED, KernelShape::matched(384, 14).masks(), NAK).words(2, 1),
    row(NVIDIA, MATCHED, KernelShape::matched(384, 12).masks(), NAK).words(2, 2),
    row(RDNA, MATCHED, KernelShape::matched(384, 20).subgroups(32), ACO_RDNA).words(1, 0),
    row(RDNA, MATCHED, KernelShape::matched(384, 18).subgroups(32), ACO_RDNA).words(1, 1),
    row(RDNA, MATCHED, KernelShape::matched(384, 16).subgroups(32), ACO_RDNA).words(1, 2),
    row(RDNA, MATCHED, KernelShape::matched(384, 16).subgroups(32), ACO_RDNA).words(2, 0),
    row(RDNA, MATCHED, KernelShape::matched(384, 16).subgroups(32), ACO_RDNA).words(2, 1),
    row(RDNA, MATCHED, KernelShape::matched(384, 14).subgroups(32), ACO_RDNA).words(2, 2),
    row(GCN, MATCHED, KernelShape::matched(256, 16), ACO_GCN).words(1, 0),
    row(GCN, MATCHED, KernelShape::matched(256, 16), ACO_GCN).words(1, 1),
    row(GCN, MATCHED, KernelShape::matched(256, 12), ACO_GCN).words(1, 2),
    row(GCN, MATCHED, KernelShape::matched(256, 12), ACO_GCN).words(2, 0),
    row(GCN, MATCHED, KernelShape::matched(256, 12), ACO_GCN).words(2, 1),
    row(GCN, MATCHED, KernelShape::matched(256, 8), ACO_GCN).words(2, 2),
    row(XE, MATCHED, KernelShape::matched(256, 12).subgroups(16), BRW_XE).words(1, 0),
    row(XE, MATCHED, KernelShape::matched(256, 8).subgroups(16), BRW_XE).words(1, 1),
    row(XE, MATCHED, KernelShape::matched(256, 6).subgroups(16), BRW_XE).words(1, 2),
    row(XE, MATCHED, KernelShape::matched(256, 8).subgroups(16), BRW_XE).words(2, 0),
    row(XE, MATCHED, KernelShape::matched(256, 6).subgroups(16), BRW_XE).words(2, 1),
    row(XE, MATCHED, KernelShape::matched(256, 5).subgroups(16), BRW_XE).words(2, 2),
    row(XE2, MATCHED, KernelShape::matched(256, 16).subgroups(16), BRW_XE2).words(1, 0),
    row(XE2, MATCHED, KernelShape::matched(256, 16).subgroups(16), BRW_XE2).words(1, 1),
    row(XE2, MATCHED, KernelShape::matched(256, 12).subgroups(16), BRW_XE2).words(1, 2),
    row(XE2, MATCHED, KernelShape::matched(256, 16).subgroups(16), BRW_XE2).words(2, 0),
    row(XE2, MATCHED, KernelShape::matched(256, 12).subgroups(16), BRW_XE2).words(2, 1),
    row(XE2, MATCHED, KernelShape::matched(256, 12).subgroups(16), BRW_XE2).words(2, 2),
    row(ADRENO, MATCHED, KernelShape::matched(256, 12), IR3).words(1, 0),
    row(ADRENO, MATCHED, KernelShape::matched(256, 12), IR3).words(1, 1),
    row(ADRENO, MATCHED, KernelShape::matched(256, 8), IR3).words(1, 2),
    row(ADRENO, MATCHED, KernelShape::matched(256, 8), IR3).words(2, 0),
    row(ADRENO, MATCHED, KernelShape::matched(256, 8), IR3).words(2, 1),
    row(ADRENO, MATCHED, KernelShape::matched(256, 8), IR3).words(2, 2),
    row(APPLE, MATCHED, KernelShape::matched(256, 16), AGX).words(1, 0),
    row(APPLE, MATCHED, KernelShape::matched(256, 16), AGX).words(1, 1),
    row(APPLE, MATCHED, KernelShape::matched(256, 12), AGX).words(1, 2),
    row(APPLE, MATCHED, KernelShape::matched(256, 12), AGX).words(2, 0),
    row(APPLE, MATCHED, KernelShape::matched(256, 12), AGX).words(2, 1),
    row(APPLE, MATCHED, KernelShape::matched(256, 8), AGX).words(2, 2),
    row(
        Devices::Cpu,
        MATCHED,
        KernelShape::tile(0, 0).from_registers().one_access().spins(100).few(0),
        LAVAPIPE,
    )
    .formula(matched),
    row(Devices::All, MATCHED, KernelShape::tile(0, 0).spins(100), FORMULA).formula(matched),
    row(XE, COUNTED, KernelShape::tile(256, 8).subgroups(16), BRW_XE).words(1, 0),
    row(XE, COUNTED, KernelShape::tile(256, 4).subgroups(16), BRW_XE),
    row(XE2, COUNTED, KernelShape::tile(256, 4).subgroups(16), BRW_XE2).words(2, 2),
    row(XE2, COUNTED, KernelShape::tile(256, 8).subgroups(16), BRW_XE2),
    row(RDNA, COUNTED, KernelShape::tile(0, 0).subgroups(32), ACO_RDNA).formula(counted),
    row(Devices::Cpu, COUNTED, KernelShape::tile(0, 0).from_registers().one_access(), LAVAPIPE)
        .formula(counted),
    row(Devices::All, COUNTED, KernelShape::tile(0, 0), FORMULA).formula(counted),
    row(NVIDIA, LARGE, KernelShape::tile(512, 12), NAK_LARGE).words(2, 1),
    row(NVIDIA, LARGE, KernelShape::tile(512, 12), NAK_LARGE).words(2, 2),
    row(NVIDIA, LARGE, KernelShape::tile(512, 16), NAK_LARGE),
    row(XE, LARGE, KernelShape::tile(256, 4), NO_LARGE),
    row(XE2, LARGE, KernelShape::tile(256, 4), NO_LARGE),
    row(Devices::All, LARGE, KernelShape::tile(0, 0), NO_LARGE).formula(counted),
    // The passes set the workgroup size.
    row(
        HOPPER,
        &[TunedPart::DigitHistogram],
        KernelShape::tile(0, 32).strides(132).loads(8).copies(2),
        H200_BY_WORDS,
    )
    .keys(1),
    row(
        HOPPER,
        &[TunedPart::DigitHistogram],
        KernelShape::tile(0, 32).strides(264).loads(8).copies(2),
        H200_BY_WORDS,
    ),
    row(RDNA, &[TunedPart::DigitHistogram], KernelShape::tile(0, 32).subgroups(64), ACO_RDNA),
    row(XE, &[TunedPart::DigitHistogram], KernelShape::tile(0, 32).subgroups(16), BRW_XE),
    row(XE2, &[TunedPart::DigitHistogram], KernelShape::tile(0, 32).subgroups(16), BRW_XE2),
    row(
        Devices::All,
        &[TunedPart::DigitHistogram],
        KernelShape::tile(0, 32),
        "few workgroups add to a counter",
    ),
    row(XE, &[TunedPart::Reduce], KernelShape::tile(128, 8).subgroups(16), FIXED),
    row(XE2, &[TunedPart::Reduce], KernelShape::tile(128, 8).subgroups(16), FIXED),
    row(Devices::Cpu, &[TunedPart::Reduce], KernelShape::tile(128, 8).one_access(), FIXED),
    row(Devices::All, &[TunedPart::Reduce], KernelShape::tile(128, 8), FIXED),
    row(Devices::All, &[TunedPart::ReduceByKey], KernelShape::tile(128, 8), NO_SPILLS),
    row(HOPPER, &[TunedPart::ChainedReduceByKey], KernelShape::tile(256, 12).status_loads(), H200_TUNED),
    row(XE, &[TunedPart::ChainedReduceByKey], KernelShape::tile(256, 2), BRW_XE),
    row(Devices::All, &[TunedPart::ChainedReduceByKey], KernelShape::tile(256, 8), NO_SPILLS),
    row(
        HOPPER,
        &[TunedPart::Histogram],
        KernelShape::tile(256, 16).strides(1056).loads(16).copies(8),
        H200_BY_WORDS,
    ),
    row(XE, &[TunedPart::Histogram], KernelShape::tile(256, 16).subgroups(8).loads(16).copies(8), BRW_XE_8),
    row(XE2, &[TunedPart::Histogram], KernelShape::tile(256, 16).subgroups(16).loads(16).copies(8), BRW_XE2),
    row(Devices::Cpu, &[TunedPart::Histogram], KernelShape::tile(256, 64).loads(4).copies(8), LAVAPIPE),
    row(Devices::All, &[TunedPart::Histogram], KernelShape::tile(256, 16).loads(16).copies(8), NO_SPILLS),
    row(Devices::Cpu, &[TunedPart::LargeHistogram], KernelShape::tile(1024, 64).loads(4), LAVAPIPE),
    row(XE, &[TunedPart::LargeHistogram], KernelShape::tile(512, 16).subgroups(8).loads(16), BRW_XE_8),
    row(XE2, &[TunedPart::LargeHistogram], KernelShape::tile(1024, 16).subgroups(16).loads(16), BRW_XE2),
    row(ADRENO, &[TunedPart::LargeHistogram], KernelShape::tile(512, 16).loads(16), IR3_LARGE),
    row(APPLE, &[TunedPart::LargeHistogram], KernelShape::tile(512, 16).loads(16), AGX),
    row(Devices::All, &[TunedPart::LargeHistogram], KernelShape::tile(1024, 16).loads(16), NO_SPILLS),
    row(
        XE,
        &[TunedPart::HistogramInMemory],
        KernelShape::tile(256, 16).subgroups(8).loads(16).copies(0),
        BRW_XE_8,
    ),
    row(
        XE2,
        &[TunedPart::HistogramInMemory],
        KernelShape::tile(256, 16).subgroups(16).loads(16).copies(0),
        BRW_XE2,
    ),
    row(
        Devices::Cpu,
        &[TunedPart::HistogramInMemory],
        KernelShape::tile(256, 16).loads(4).copies(0),
        LAVAPIPE,
    ),
    row(
        Devices::All,
        &[TunedPart::HistogramInMemory],
        KernelShape::tile(256, 16).loads(16).copies(0),
        NO_SPILLS,
    ),
    row(HOPPER, &[TunedPart::Difference], KernelShape::tile(128, 4), H200_TUNED),
    row(XE, &[TunedPart::Difference], KernelShape::tile(256, 8).subgroups(16), BRW_XE),
    row(XE2, &[TunedPart::Difference], KernelShape::tile(256, 8).subgroups(16), BRW_XE2),
    row(Devices::Cpu, &[TunedPart::Difference], KernelShape::tile(64, 128), CPUS),
    row(Devices::All, &[TunedPart::Difference], KernelShape::tile(256, 8), NO_SPILLS),
    row(XE, &[TunedPart::Search], KernelShape::tile(256, 16).subgroups(16), BRW_XE),
    row(XE2, &[TunedPart::Search], KernelShape::tile(256, 16).subgroups(16), BRW_XE2),
    row(Devices::Cpu, &[TunedPart::Search], KernelShape::tile(256, 64), LAVAPIPE),
    row(Devices::All, &[TunedPart::Search], KernelShape::tile(256, 16), NO_SPILLS),
    row(XE, &[TunedPart::Merge], KernelShape::tile(256, 8).subgroups(16).loads(8), BRW_XE),
    row(XE2, &[TunedPart::Merge], KernelShape::tile(256, 8).subgroups(16).loads(8), BRW_XE2),
    row(Devices::Cpu, &[TunedPart::Merge], KernelShape::tile(256, 8), LAVAPIPE),
    row(NVIDIA, &[TunedPart::Merge], KernelShape::tile(256, 14).loads(8), NAK_MERGE),
    row(Devices::All, &[TunedPart::Merge], KernelShape::tile(256, 8).loads(8), NO_SPILLS),
    row(Devices::Cpu, &[TunedPart::TopKRows], KernelShape::tile(128, 8), CPUS),
    row(Devices::All, &[TunedPart::TopKRows], KernelShape::tile(128, 0), NO_ROWS),
    row(XE, &[TunedPart::TopK], KernelShape::tile(1024, 4).subgroups(16), BRW_XE).keys(2),
    row(XE, &[TunedPart::TopK], KernelShape::tile(1024, 8).subgroups(16), BRW_XE),
    row(XE2, &[TunedPart::TopK], KernelShape::tile(1024, 4).subgroups(16), BRW_XE2).keys(2),
    row(XE2, &[TunedPart::TopK], KernelShape::tile(1024, 8).subgroups(16), BRW_XE2),
    row(Devices::Cpu, &[TunedPart::TopK], KernelShape::tile(1024, 16), LAVAPIPE),
    row(Devices::All, &[TunedPart::TopK], KernelShape::tile(1024, 4), NO_SPILLS).keys(2),
    row(Devices::All, &[TunedPart::TopK], KernelShape::tile(1024, 8), NO_SPILLS),
    // Tiles of 4,096 keys.
    row(Devices::Cpu, &[TunedPart::TopKFew], KernelShape::tile(256, 16), LAVAPIPE),
    row(Devices::All, &[TunedPart::TopKFew], KernelShape::tile(1024, 4), NO_SPILLS).keys(2),
    row(Devices::All, &[TunedPart::TopKFew], KernelShape::tile(512, 8), NO_SPILLS),
    row(Devices::All, &[TunedPart::TopKSort], KernelShape::tile(256, 4), NO_SPILLS),
    row(HOPPER, &[TunedPart::RunLength], KernelShape::tile(256, 12), H200_TUNED),
    row(Devices::All, &[TunedPart::RunLength], KernelShape::tile(256, 8), NO_SPILLS),
    row(Devices::All, &[TunedPart::Gather], KernelShape::tile(256, 4), NO_SPILLS),
    row(XE, &[TunedPart::SegmentedCluster], KernelShape::tile(128, 32).network(), BRW_XE),
    row(Devices::Cpu, &[TunedPart::SegmentedCluster], KernelShape::tile(128, 32), LAVAPIPE),
    row(Devices::All, &[TunedPart::SegmentedCluster], KernelShape::tile(128, 64).network(), NO_SPILLS),
    row(Devices::All, &[TunedPart::SegmentedSmall], KernelShape::tile(64, 8), NO_SPILLS),
];
