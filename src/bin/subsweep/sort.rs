//! `subsweep sort`.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::sort::{SortConfig, SortPlan};
use subsweep::table::Taken;

use crate::args::{Common, SortArgs};
use crate::files::{self, Output};
use crate::words::Doing;
use crate::{device, policy};

const TAKEN: Taken =
    Taken { elements: &[ElementType::U32], max_dimensions: 1, max_count: SortPlan::MAX_COUNT };

/// Sorts a file's keys.
pub fn run(args: &SortArgs, common: &Common) -> Result<()> {
    device::check_one(&common.device, "sort")?;
    policy::check_sort(common)?;
    let source = args.files.source();
    let destination = args.files.destination();
    let mut table = {
        let _doing = Doing::new(format_args!("reading {source}"));
        files::read(&source, args.files.element, &TAKEN)?
    };
    let count = table.shape.rows() as u64;
    let output = Output::prepare(&destination, "-o", &[&source])?;

    let gpu = device::open(&common.device)?;
    let policy = policy::of_sort(common, gpu.capabilities()).policy;
    let config = SortConfig::keys(ElementType::U32).bits(args.bits.clone()).policy(policy);
    {
        let _doing = Doing::new(format_args!("sorting {count} keys"));
        let scratch_size = gpu.sort_plan(config)?.scratch_requirements(count).size;
        // On the device, and once more on the way back.
        let size = 2 * size_of_val(table.words.as_slice()) as u64;
        device::check_memory(&gpu, size.saturating_add(scratch_size), "the keys and their scratch")?;
        gpu.sort(config, &mut table.words)?;
    }
    Ok(output.commit(&table)?)
}
