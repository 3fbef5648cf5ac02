//! Submission budget: the bytes that one submission may access. Desktop systems reset a device whose work takes longer
//! than some two seconds.
//!
//! The speed of a device cannot be queried. The first estimate is slow; later ones follow the time of the last
//! submissions. The budget is the bytes that take a small part of the time limit, since the next kernel may take far
//! longer per byte than the last.

use std::time::Duration;

/// Bytes that the dispatches of a submission may access, and have reserved.
#[derive(Debug)]
pub(super) struct SubmissionBudget {
    target: Duration,
    limit: u64,
    spent: u64,
    /// Whether `spent` includes upper bounds: an indirect dispatch may access less.
    is_bound: bool,
}

/// Initial estimate, bytes per second, for any device and kernel: some integrated GPUs are no faster with the seed's
/// sorts.
const SLOWEST: u64 = 32 << 20;
/// Minimum budget, bytes: below it the overhead of the submission dominates.
const MIN_LIMIT: u64 = 64 << 10;
/// Upper bound of the ratio of times per byte between the slowest and the fastest kernel.
const KERNEL_SPREAD: u32 = 32;

impl SubmissionBudget {
    /// A budget for submissions that take less than `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        let size = (limit.as_secs_f64() * SLOWEST as f64) as u64;
        Self { target: limit / KERNEL_SPREAD, limit: size.max(MIN_LIMIT), spent: 0, is_bound: false }
    }

    /// Begins a submission.
    pub(super) fn begin(&mut self) {
        (self.spent, self.is_bound) = (0, false);
    }

    /// Bytes that one submission may access.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Reserves up to `parts` parts, of `part_size` bytes each, in this submission. Returns their number.
    pub(super) fn reserve(&mut self, parts: u32, part_size: u64) -> u32 {
        let left = self.limit.saturating_sub(self.spent);
        let reserved = match left.checked_div(part_size) {
            Some(fitting) => u32::try_from(fitting).map_or(parts, |fitting| fitting.min(parts)),
            None => parts,
        };
        // A submission has at least one part.
        let reserved = if self.spent == 0 { reserved.max(1) } else { reserved };
        self.spent = self.spent.saturating_add(part_size.saturating_mul(reserved.into()));
        reserved
    }

    /// Reserves an indirect dispatch, which accesses at most `size` bytes. Returns false if it does not fit.
    pub(super) fn reserve_at_most(&mut self, size: u64) -> bool {
        let is_reserved = self.reserve(1, size) == 1;
        self.is_bound |= is_reserved;
        is_reserved
    }

    /// Calibrates the budget by the `time` of the submission.
    pub(super) fn calibrate(&mut self, time: Duration) {
        // Without dispatches the time says nothing about kernels.
        if self.spent == 0 {
            return;
        }
        let fitting = self.spent as f64 * self.target.as_secs_f64() / time.as_secs_f64().max(1e-9);
        // A submission far below its budget only lowers the budget: its overhead hides the speed.
        if self.spent >= self.limit / 2 || time > self.target {
            // An upper bound of the accessed bytes does not show that the device is fast.
            let most = if self.is_bound { self.limit } else { self.limit.saturating_mul(2) };
            self.limit = (fitting as u64).clamp(self.limit / 4, most).max(MIN_LIMIT);
        }
    }
}

#[cfg(test)]
mod tests;
