//! How much one submission may do: a desktop resets a device whose work takes it longer than some two seconds.
//!
//! Nobody can ask a device how fast it is. So a submission is first taken to be slow, and then by what the last ones
//! took: the bytes that its dispatches touch are held to what would take a small part of the limit, since the next
//! kernel may take far longer over as many bytes than the last.

use std::time::Duration;

/// What the dispatches of a submission may touch, and have touched.
#[derive(Debug)]
pub(super) struct Pace {
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

impl Pace {
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
    pub(super) fn admit(&mut self, parts: u32, part_size: u64) -> u32 {
        let left = self.limit.saturating_sub(self.spent);
        let admitted = match left.checked_div(part_size) {
            Some(fitting) => u32::try_from(fitting).map_or(parts, |fitting| fitting.min(parts)),
            None => parts,
        };
        // Nothing is smaller than a part.
        let admitted = if self.spent == 0 { admitted.max(1) } else { admitted };
        self.spent = self.spent.saturating_add(part_size.saturating_mul(admitted.into()));
        admitted
    }

    /// Whether what touches `size` bytes at most, which only the device knows, goes into this submission.
    pub(super) fn admit_at_most(&mut self, size: u64) -> bool {
        let is_admitted = self.admit(1, size) == 1;
        self.is_bound |= is_admitted;
        is_admitted
    }

    /// The submission has taken `time`.
    pub(super) fn learn(&mut self, time: Duration) {
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
    fn fill(pace: &mut Pace, speed: u64) {
        pace.begin();
        pace.admit(1, pace.limit());
        pace.learn(Duration::from_secs_f64(pace.spent as f64 / speed as f64));
    }

    #[test]
    fn a_submission_is_filled_and_never_empty() {
        let mut pace = Pace::new(SECOND);
        assert_eq!(pace.limit(), 32 << 20);
        assert_eq!(pace.admit(1, 8 << 20), 1);
        assert_eq!(pace.admit(5, 8 << 20), 3);
        assert_eq!(pace.admit(2, 8 << 20), 0);
        pace.begin();
        assert_eq!(pace.admit(2, 1 << 30), 1);
        pace.begin();
        assert_eq!(pace.admit(7, 0), 7);
    }

    #[test]
    fn the_limit_follows_the_device() {
        let mut pace = Pace::new(SECOND);
        // 1 GiB/s: 32 MiB in the thirty-second part of a second.
        for _ in 0..20 {
            fill(&mut pace, 1 << 30);
        }
        assert!((31 << 20..=33 << 20).contains(&pace.limit()), "{}", pace.limit());
        // 64 GiB/s, by doubling.
        for _ in 0..7 {
            fill(&mut pace, 64 << 30);
        }
        assert!((1 << 31) - (1 << 22) <= pace.limit() && pace.limit() <= 1 << 31, "{}", pace.limit());
        // A submission of a few bytes says nothing, unless it was slow.
        let before = pace.limit();
        pace.begin();
        pace.admit(1, 4);
        pace.learn(Duration::from_micros(50));
        assert_eq!(pace.limit(), before);
        pace.learn(SECOND);
        assert_eq!(pace.limit(), before / 4);
    }

    #[test]
    fn what_only_the_device_knows_never_shows_it_fast() {
        let mut pace = Pace::new(SECOND);
        let before = pace.limit();
        pace.begin();
        assert!(pace.admit_at_most(1 << 40) && !pace.admit_at_most(4));
        pace.learn(Duration::from_micros(50));
        assert_eq!(pace.limit(), before);
        pace.learn(SECOND * 1_000_000);
        assert_eq!(pace.limit(), before / 4);
        // The next submission has nothing of it.
        fill(&mut pace, 64 << 30);
        assert_eq!(pace.limit(), before / 2);
    }

    #[test]
    fn copies_say_nothing_of_kernels() {
        let mut pace = Pace::new(SECOND);
        let before = pace.limit();
        pace.begin();
        pace.learn(SECOND);
        assert_eq!(pace.limit(), before);
    }

    #[test]
    fn there_is_always_room_for_something() {
        let mut pace = Pace::new(Duration::ZERO);
        for _ in 0..10 {
            pace.begin();
            assert_eq!((pace.limit(), pace.admit(3, u64::MAX)), (MIN_LIMIT, 1));
            pace.learn(SECOND);
        }
    }
}
