//! Search space of `tune` by its options.

use std::time::Duration;

use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::harness::{BenchOptions, SortValues, TunedAxes, TunedInput, TunedShape};

use super::sweep::reason;
use super::{TuneArgs, TunedPrimitive, distinct};
use crate::args::Common;
use crate::device::DeviceChoice;
use crate::error::Ended;
use crate::policy::{self, Algorithm};

/// Shapes and inputs to try.
#[derive(Debug)]
pub struct Plan {
    /// Whether sorts are tuned instead of scans.
    pub is_sort: bool,
    /// Inputs; the first selects the shapes that are measured on the others.
    pub inputs: Vec<TunedInput>,
    /// Values of each parameter.
    pub axes: TunedAxes,
    /// Rounds of alternate measurement.
    pub rounds: u32,
    /// Rows to print.
    pub row_count: usize,
}

/// Shapes per row that reach the rounds.
const FINALISTS_PER_ROW: usize = 3;

/// Refuses options that contradict each other.
pub fn check(args: &TuneArgs, common: &Common) -> Result<(), Ended> {
    if common.seed().is_some() {
        return Err(Ended::usage("tune tries policies of its own; leave out --policy"));
    }
    if args.is_static || matches!(common.device, DeviceChoice::Gpus(_)) {
        let refuse = |what| Err(Ended::usage(format!("with --static or a gpu: device nothing runs; {what}")));
        if args.rounds.is_some() {
            return refuse("leave out --rounds");
        }
        if args.count.len() > 1 {
            return refuse("give --count one number at most");
        }
    }
    match args.primitive {
        TunedPrimitive::Sort => policy::check_sort(common)?,
        TunedPrimitive::Scan => policy::check_scan(common)?,
    }
    let refuse = |name: &str, all: Vec<&str>| {
        let text = format!("no row of the table has {name}; tune tries {}", all.join(", "));
        Err(Ended::usage(text))
    };
    match common.algorithm {
        Some(Algorithm::Sort(algorithm)) if !TunedAxes::SORTS.contains(&algorithm) => {
            refuse(algorithm.name(), TunedAxes::SORTS.map(|algorithm| algorithm.name()).into())
        }
        Some(Algorithm::Scan(algorithm)) if !TunedAxes::SCANS.contains(&algorithm) => {
            refuse(algorithm.name(), TunedAxes::SCANS.map(|algorithm| algorithm.name()).into())
        }
        _ if args.primitive == TunedPrimitive::Scan && !args.values.is_empty() => {
            Err(Ended::usage("a scan has no values; leave out --values"))
        }
        _ => Ok(()),
    }
}

impl Plan {
    /// The plan of options that [`check`] has accepted.
    pub fn new(args: &TuneArgs, common: &Common, capabilities: &Capabilities, is_static: bool) -> Self {
        let is_sort = args.primitive == TunedPrimitive::Sort;
        let inputs = inputs(args, is_sort, capabilities);
        let mut axes = axes(args, common, is_sort);
        if is_static {
            // Instruction counts compare neither algorithms, which move more or fewer bytes, nor scattered stores.
            let is_free = common.algorithm.is_none();
            match TunedShape::current(is_sort, &inputs[0], capabilities) {
                TunedShape::Sort { algorithm, has_exchange, .. } => {
                    axes.exchanges = vec![has_exchange];
                    if is_free {
                        axes.sort_algorithms = vec![algorithm];
                    }
                }
                TunedShape::Scan { algorithm, .. } if is_free => axes.scan_algorithms = vec![algorithm],
                TunedShape::Scan { .. } => {}
            }
        }
        Self {
            is_sort,
            inputs,
            axes,
            rounds: args.rounds.unwrap_or(if args.quick { 3 } else { 5 }),
            row_count: args.rows as usize,
        }
    }

    /// All shapes; the table's current one is first, if its algorithm is tried.
    pub fn shapes(&self, capabilities: &Capabilities) -> Vec<TunedShape> {
        let current = self.current(capabilities);
        let is_tried = match current {
            TunedShape::Sort { algorithm, .. } => self.axes.sort_algorithms.contains(&algorithm),
            TunedShape::Scan { algorithm, .. } => self.axes.scan_algorithms.contains(&algorithm),
        };
        let others = self.axes_shapes(capabilities).into_iter().filter(|shape| *shape != current);
        is_tried.then_some(current).into_iter().chain(others).collect()
    }

    /// Refuses options without a valid shape, as only the table's current one would be left.
    pub fn check_asked(&self, args: &TuneArgs, capabilities: &Capabilities) -> Result<(), Ended> {
        let options = [("--workgroup", &args.workgroup), ("--items", &args.items)];
        let given: Vec<_> =
            options.iter().filter(|(_, numbers)| !numbers.is_empty()).map(|(name, _)| *name).collect();
        let mut refusal = None;
        for shape in self.axes_shapes(capabilities) {
            match shape.case(&self.inputs[0], capabilities) {
                Ok(_) => return Ok(()),
                Err(error) => _ = refusal.get_or_insert(error),
            }
        }
        match refusal {
            Some(error) if !given.is_empty() => Err(Ended::usage(format!(
                "the library or the device takes none of the shapes of {}: {}; give other numbers",
                given.join(" and "),
                reason(&error)
            ))),
            _ => Ok(()),
        }
    }

    /// All shapes of the axes.
    fn axes_shapes(&self, capabilities: &Capabilities) -> Vec<TunedShape> {
        if self.is_sort { self.axes.sorts(capabilities) } else { self.axes.scans() }
    }

    /// The table's current shape for the first input.
    pub fn current(&self, capabilities: &Capabilities) -> TunedShape {
        TunedShape::current(self.is_sort, &self.inputs[0], capabilities)
    }

    /// Shapes that reach the rounds.
    pub const fn finalist_count(&self) -> usize {
        FINALISTS_PER_ROW * self.row_count
    }

    /// Options of the first, short measurement of every shape.
    pub const fn short_run(&self) -> BenchOptions {
        BenchOptions {
            block_count: 1,
            samples_per_block: 3,
            end_to_end_count: 0,
            min_sample: Duration::from_millis(2),
            budget: Duration::from_millis(200),
            has_cold_cache: false,
            slow_down: 1.0,
        }
    }

    /// Options of the rounds for the best shapes.
    pub const fn rounds(&self) -> BenchOptions {
        BenchOptions { block_count: self.rounds, budget: Duration::from_secs(3), ..self.short_run() }
    }
}

/// Inputs: every type with every value size and count.
fn inputs(args: &TuneArgs, is_sort: bool, capabilities: &Capabilities) -> Vec<TunedInput> {
    let or = |given: &[ElementType], otherwise: &[ElementType]| -> Vec<ElementType> {
        if given.is_empty() { otherwise.into() } else { given.into() }
    };
    let elements = match (is_sort, args.quick) {
        (true, false) => or(&args.element, &[ElementType::U32, ElementType::U64]),
        _ => or(&args.element, &[ElementType::U32]),
    };
    let values: Vec<u32> = match (args.values.is_empty(), is_sort && !args.quick) {
        (false, _) => args.values.clone(),
        (true, true) => vec![0, 4, 8],
        (true, false) => vec![0],
    };
    let counts = match (args.count.is_empty(), args.quick, capabilities.is_cpu()) {
        (false, ..) => args.count.clone(),
        (true, true, _) => vec![1 << 16],
        (true, false, true) => vec![1 << 20],
        (true, false, false) => vec![1 << 24],
    };
    let mut inputs = Vec::new();
    for &element in &elements {
        for values in values.iter().map(|&size| values_of(size)) {
            inputs.extend(counts.iter().map(|&count| TunedInput { element, values, count }));
        }
    }
    distinct(inputs)
}

fn values_of(size: u32) -> SortValues {
    match size {
        4 => SortValues::B4,
        8 => SortValues::B8,
        _ => SortValues::None,
    }
}

fn axes(args: &TuneArgs, common: &Common, is_sort: bool) -> TunedAxes {
    let chosen = |given: &[u32], quick: &[u32], normal: &[u32], full: Vec<u32>| -> Vec<u32> {
        distinct(match (given.is_empty(), args.quick, args.full) {
            (false, ..) => given.to_vec(),
            (true, true, _) => quick.to_vec(),
            (true, false, false) => normal.to_vec(),
            (true, false, true) => full,
        })
    };
    let items = if is_sort {
        chosen(&args.items, &[8, 16], &[4, 8, 12, 16, 20, 24], (4..=32).step_by(2).collect())
    } else {
        chosen(&args.items, &[16, 64], &[8, 16, 32, 64], vec![4, 8, 16, 32, 48, 64, 128])
    };
    let sorts = match common.algorithm {
        Some(Algorithm::Sort(algorithm)) => vec![algorithm],
        // The last is never the fastest algorithm of arbitrary counts.
        _ if args.full => TunedAxes::SORTS.into(),
        _ => TunedAxes::SORTS[..3].into(),
    };
    let scans = match common.algorithm {
        Some(Algorithm::Scan(algorithm)) => vec![algorithm],
        _ => TunedAxes::SCANS.into(),
    };
    TunedAxes {
        workgroup_sizes: chosen(
            &args.workgroup,
            &[128, 256, 512],
            &[128, 256, 384, 512, 1024],
            vec![64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024],
        ),
        items,
        packs_per_run: chosen(&[], &[1], &[1, 2, 4], vec![1, 2, 4, 8, 16]),
        sort_algorithms: sorts,
        scan_algorithms: scans,
        exchanges: vec![true, false],
        has_subgroup_sizes: args.full,
    }
}
