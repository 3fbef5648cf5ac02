use super::*;

#[test]
fn the_most_recently_used_plans_are_cached() {
    let cache = PlanCache::default();
    let made = |config| {
        let mut made = false;
        let plan = cache.get(config, || {
            made = true;
            Ok(config)
        });
        assert_eq!(*plan.unwrap(), config);
        made
    };
    assert!((0..MAX_PLANS).all(made));
    assert!(!made(0));
    // Evicts 1, the least recently used.
    assert!(made(MAX_PLANS));
    assert!(!made(0) && !made(2) && !made(MAX_PLANS));
    assert!(made(1));
}

#[test]
fn a_failed_plan_is_not_cached() {
    let cache = PlanCache::default();
    assert!(cache.get::<usize, usize>(1, || Err(crate::Error::NoDevice)).is_err());
    assert_eq!(*cache.get(1, || Ok(2)).unwrap(), 2);
}
