//! How much one submission may do: a desktop resets a device whose work takes it longer than some two seconds.
//!
//! Nobody can ask a device how fast it is. So a submission is first taken to be slow, and then by what the last ones
//! took: the bytes that its dispatches touch are held to what would take a small part of the limit, since the next
//! kernel may take far longer over as many bytes than the last.

use std::time::Duration;

/// What the dispatches of a submission may touch, and have touched.
#[derive(Debug)]
pub(super) struct SubmissionBudget {
    target: Duration,
    limit: u64,
    spent: u64,
    /// Some of it may not have been touched at all: only the device knows how far an indirect dispatch goes.
    is_bound: bool,
}

/// Bytes a second that any device is taken to manage with any kernel, until it is seen: some integrated GPUs do not
/// manage more with the source documents' sorts.
const SLOWEST: u64 = 32 << 20;
/// Below this it is the submission itself that takes the time.
const MIN_LIMIT: u64 = 64 << 10;
/// The slowest kernel takes less than so many times as long over a byte as the fastest.
const KERNEL_SPREAD: u32 = 32;

impl SubmissionBudget {
    /// Submissions are to take less than `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        let size = (limit.as_secs_f64() * SLOWEST as f64) as u64;
        Self { target: limit / KERNEL_SPREAD, limit: size.max(MIN_LIMIT), spent: 0, is_bound: false }
    }

    /// A submission begins.
    pub(super) fn begin(&mut self) {
        (self.spent, self.is_bound) = (0, false);
    }

    /// Bytes that one submission may touch.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// How many of `parts`, of `part_size` bytes each, go into this submission.
    pub(super) fn reserve(&mut self, parts: u32, part_size: u64) -> u32 {
        let left = self.limit.saturating_sub(self.spent);
        let reserved = match left.checked_div(part_size) {
            Some(fitting) => u32::try_from(fitting).map_or(parts, |fitting| fitting.min(parts)),
            None => parts,
        };
        // Nothing is smaller than a part.
        let reserved = if self.spent == 0 { reserved.max(1) } else { reserved };
        self.spent = self.spent.saturating_add(part_size.saturating_mul(reserved.into()));
        reserved
    }

    /// Whether what touches `size` bytes at most, which only the device knows, goes into this submission.
    pub(super) fn reserve_at_most(&mut self, size: u64) -> bool {
        let is_reserved = self.reserve(1, size) == 1;
        self.is_bound |= is_reserved;
        is_reserved
    }

    /// The submission has taken `time`.
    pub(super) fn calibrate(&mut self, time: Duration) {
        // A copy or a fill, which touches nothing by dispatches, says nothing of kernels.
        if self.spent == 0 {
            return;
        }
        let fitting = self.spent as f64 * self.target.as_secs_f64() / time.as_secs_f64().max(1e-9);
        // What is far from full tells only when it is slow: by its own few bytes it is never fast.
        if self.spent >= self.limit / 2 || time > self.target {
            // What may have touched less than it spent does not tell that the device is fast.
            let most = if self.is_bound { self.limit } else { self.limit.saturating_mul(2) };
            self.limit = (fitting as u64).clamp(self.limit / 4, most).max(MIN_LIMIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// One submission, as full as it may be, at so many bytes a second.
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
        // A submission of a few bytes says nothing, unless it was slow.
        let before = budget.limit();
        budget.begin();
        budget.reserve(1, 4);
        budget.calibrate(Duration::from_micros(50));
        assert_eq!(budget.limit(), before);
        budget.calibrate(SECOND);
        assert_eq!(budget.limit(), before / 4);
    }

    #[test]
    fn what_only_the_device_knows_never_shows_it_fast() {
        let mut budget = SubmissionBudget::new(SECOND);
        let before = budget.limit();
        budget.begin();
        assert!(budget.reserve_at_most(1 << 40) && !budget.reserve_at_most(4));
        budget.calibrate(Duration::from_micros(50));
        assert_eq!(budget.limit(), before);
        budget.calibrate(SECOND * 1_000_000);
        assert_eq!(budget.limit(), before / 4);
        // The next submission has nothing of it.
        fill(&mut budget, 64 << 30);
        assert_eq!(budget.limit(), before / 2);
    }

    #[test]
    fn copies_say_nothing_of_kernels() {
        let mut budget = SubmissionBudget::new(SECOND);
        let before = budget.limit();
        budget.begin();
        budget.calibrate(SECOND);
        assert_eq!(budget.limit(), before);
    }

    #[test]
    fn there_is_always_room_for_something() {
        let mut budget = SubmissionBudget::new(Duration::ZERO);
        for _ in 0..10 {
            budget.begin();
            assert_eq!((budget.limit(), budget.reserve(3, u64::MAX)), (MIN_LIMIT, 1));
            budget.calibrate(SECOND);
        }
    }
}
