use super::*;
use crate::primitives::{ElementType, tuning};

#[test]
fn fewer_keys_never_take_more_scratch() -> Result<()> {
    let device = Device::absent(tuning::h200());
    let configs = [SortConfig::keys(ElementType::U32), SortConfig::argsort(ElementType::U64)];
    for config in configs {
        let plan = SortPlan::declare(&device, config)?;
        let few = plan.policy().few.map_or(0, |few| few.max_count());
        assert!(few > 1 << 16, "an H200 has tiles for few keys");
        let counts = [1 << 13, few / 2, few - 1, few, few + 1, few + 2, 2 * few, 1 << 24];
        let sizes = counts.map(|count| plan.scratch_requirements(count).size);
        assert!(sizes.is_sorted(), "{sizes:?}");
    }
    Ok(())
}
