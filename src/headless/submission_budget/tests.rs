use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// A full submission at `speed` bytes per second.
fn fill(budget: &mut SubmissionBudget, speed: u64) {
    budget.begin();
    budget.reserve(1, budget.limit());
    budget.calibrate(Duration::from_secs_f64(budget.spent as f64 / speed as f64));
}

#[test]
fn a_submission_is_filled_and_never_empty() {
    let mut budget = SubmissionBudget::new(SECOND);
    assert_eq!(budget.limit(), 32 << 20);
    assert_eq!(budget.reserve(1, 8 << 20), 1);
    assert_eq!(budget.reserve(5, 8 << 20), 3);
    assert_eq!(budget.reserve(2, 8 << 20), 0);
    budget.begin();
    assert_eq!(budget.reserve(2, 1 << 30), 1);
    budget.begin();
    assert_eq!(budget.reserve(7, 0), 7);
}

#[test]
fn the_limit_follows_the_device() {
    let mut budget = SubmissionBudget::new(SECOND);
    // 1 GiB/s: 32 MiB in the thirty-second part of a second.
    for _ in 0..20 {
        fill(&mut budget, 1 << 30);
    }
    assert!((31 << 20..=33 << 20).contains(&budget.limit()), "{}", budget.limit());
    // 64 GiB/s, by doubling.
    for _ in 0..7 {
        fill(&mut budget, 64 << 30);
    }
    assert!((1 << 31) - (1 << 22) <= budget.limit() && budget.limit() <= 1 << 31, "{}", budget.limit());
    // A submission of a few bytes is ignored, unless it was slow.
    let before = budget.limit();
    budget.begin();
    budget.reserve(1, 4);
    budget.calibrate(Duration::from_micros(50));
    assert_eq!(budget.limit(), before);
    budget.calibrate(SECOND);
    assert_eq!(budget.limit(), before / 4);
}

#[test]
fn an_indirect_dispatch_never_raises_the_limit() {
    let mut budget = SubmissionBudget::new(SECOND);
    let before = budget.limit();
    budget.begin();
    assert!(budget.reserve_at_most(1 << 40) && !budget.reserve_at_most(4));
    budget.calibrate(Duration::from_micros(50));
    assert_eq!(budget.limit(), before);
    budget.calibrate(SECOND * 1_000_000);
    assert_eq!(budget.limit(), before / 4);
    // The bound ends with the submission.
    fill(&mut budget, 64 << 30);
    assert_eq!(budget.limit(), before / 2);
}

#[test]
fn copies_do_not_change_the_limit() {
    let mut budget = SubmissionBudget::new(SECOND);
    let before = budget.limit();
    budget.begin();
    budget.calibrate(SECOND);
    assert_eq!(budget.limit(), before);
}

#[test]
fn a_submission_always_has_one_part() {
    let mut budget = SubmissionBudget::new(Duration::ZERO);
    for _ in 0..10 {
        budget.begin();
        assert_eq!((budget.limit(), budget.reserve(3, u64::MAX)), (MIN_LIMIT, 1));
        budget.calibrate(SECOND);
    }
}
