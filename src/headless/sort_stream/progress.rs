//! What a sort of a stream does, and how far it is.

/// Receives the progress of a sort.
pub(super) type Report<'a> = &'a mut (dyn FnMut(SortProgress) + Send);

/// What a sort of a stream does, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortProgress {
    /// What it does.
    pub phase: SortPhase,
    /// Bytes of keys and values that are done in this phase.
    pub done_size: u64,
    /// Bytes of all of them, if known.
    pub size: Option<u64>,
}

/// A phase of a sort of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortPhase {
    /// Chunks are read and sorted.
    Sorting,
    /// Runs are merged.
    Merging {
        /// The round, from 1.
        round: u32,
        /// Number of rounds.
        round_count: u32,
    },
    /// The only chunk is written.
    Writing,
}

/// Counts and reports the bytes of a phase.
pub(super) struct Meter<'a> {
    report: Option<Report<'a>>,
    progress: SortProgress,
}

impl<'a> Meter<'a> {
    pub(super) fn new(report: Option<Report<'a>>, size: Option<u64>) -> Self {
        let mut meter =
            Self { report, progress: SortProgress { phase: SortPhase::Sorting, done_size: 0, size } };
        meter.add(0);
        meter
    }

    pub(super) fn begin(&mut self, phase: SortPhase, size: u64) {
        self.progress = SortProgress { phase, done_size: 0, size: Some(size) };
        self.add(0);
    }

    pub(super) fn add(&mut self, size: u64) {
        self.progress.done_size += size;
        if let Some(report) = &mut self.report {
            report(self.progress);
        }
    }
}
