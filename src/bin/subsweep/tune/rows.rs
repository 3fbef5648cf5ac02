//! Ranking of figures into rows of a tuning table.

use serde::Serialize;
use subsweep::harness::{Measurement, TunedInput, TunedShape};

use super::distinct;

/// The result of a shape on an input.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// The shape.
    pub shape: TunedShape,
    /// Index into the plan's inputs.
    pub input: usize,
    /// The rank; larger is better.
    pub score: f64,
    /// The numbers behind the score.
    pub numbers: Numbers,
}

/// Numbers of a figure. The field names are those of `--json`, and stable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Numbers {
    /// Measured; times are in nanoseconds.
    Measured {
        /// Percent of the speed of the elements' copy.
        copy_percent: f64,
        /// Elements per second by the median.
        elements_per_second: f64,
        /// Median of the samples.
        median_ns: f64,
        /// Interquartile range.
        iqr_ns: f64,
    },
    /// Compiled only.
    Compiled {
        /// Instructions per key or element and pass.
        instructions: f64,
        /// Whole workgroups resident at once, if the driver reports it.
        workgroups: Option<u64>,
        /// Registers of a lane.
        registers: Option<u64>,
    },
}

impl Figure {
    /// The figure of a measurement; the score is its percentage of the copy.
    pub fn new(shape: TunedShape, input: usize, measurement: &Measurement) -> Self {
        let numbers = Numbers::Measured {
            copy_percent: measurement.copy_percent,
            elements_per_second: measurement.elements_per_second,
            median_ns: measurement.time.median_ns,
            iqr_ns: measurement.time.iqr_ns,
        };
        Self { shape, input, score: measurement.copy_percent, numbers }
    }
}

/// Rows, the fastest first.
#[derive(Debug)]
pub struct Rows(pub Vec<RankedRow>);

/// A row of a table.
#[derive(Debug)]
pub struct RankedRow {
    /// The common parameters of its shapes.
    pub family: TunedShape,
    /// The best shape's figures, one for each input, for each kind of keys or elements that a row distinguishes.
    pub best: Vec<Vec<Figure>>,
    /// Figures of other shapes of the row; for a scan, those of the other algorithm.
    pub others: Vec<Figure>,
    /// Geometric mean of the scores of the best shapes.
    pub score: f64,
}

impl Rows {
    /// The families of the best figures, and the current one if measured.
    pub fn families(figures: &[Figure], count: usize, current: TunedShape) -> Vec<TunedShape> {
        let mut ranked: Vec<_> = figures.iter().collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut families = Vec::new();
        for family in ranked.iter().map(|figure| figure.shape.family()) {
            if !families.contains(&family) && (families.len() < count || family == current) {
                families.push(family);
            }
        }
        families
    }

    /// Ranks families by their best shape for each kind of keys or elements.
    pub fn new(families: &[TunedShape], figures: &[Figure], inputs: &[TunedInput]) -> Self {
        let kinds = distinct(inputs.iter().map(TunedInput::words));
        let row = |family: &TunedShape| {
            let own: Vec<Figure> =
                figures.iter().filter(|figure| figure.shape.family() == *family).copied().collect();
            let of_kind = |kind: &[u32; 2]| {
                let needed = inputs.iter().filter(|input| input.words() == *kind).count();
                best_of(own.iter().filter(|figure| inputs[figure.input].words() == *kind), needed)
            };
            let best: Vec<_> = kinds.iter().filter_map(of_kind).collect();
            let is_best = |figure: &Figure| {
                best.iter()
                    .flatten()
                    .any(|best: &Figure| best.shape == figure.shape && best.input == figure.input)
            };
            let others = own.iter().filter(|figure| !is_best(figure)).copied().collect();
            let score = mean(best.iter().map(|figures| mean_of(figures)));
            RankedRow { family: *family, best, others, score }
        };
        let mut rows: Vec<_> = families.iter().map(row).filter(|row| !row.best.is_empty()).collect();
        // A row that lacks a kind ranks below one with all.
        rows.sort_by(|a, b| b.best.len().cmp(&a.best.len()).then(b.score.total_cmp(&a.score)));
        Self(rows)
    }
}

/// The figures of the shape with the best mean over all `needed` inputs.
fn best_of<'a>(figures: impl Iterator<Item = &'a Figure>, needed: usize) -> Option<Vec<Figure>> {
    let mut shapes: Vec<Vec<Figure>> = Vec::new();
    for figure in figures {
        match shapes.iter_mut().find(|shape| shape[0].shape == figure.shape) {
            Some(shape) => shape.push(*figure),
            None => shapes.push(vec![*figure]),
        }
    }
    let whole = shapes.into_iter().filter(|shape| shape.len() == needed);
    whole.max_by(|a, b| mean_of(a).total_cmp(&mean_of(b)))
}

fn mean_of(figures: &[Figure]) -> f64 {
    mean(figures.iter().map(|figure| figure.score))
}

/// The geometric mean; 0 without values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum) = (0, 0.0);
    for value in values {
        count += 1;
        sum += value.ln();
    }
    if count == 0 { 0.0 } else { (sum / f64::from(count)).exp() }
}

/// A figure in `--json`; field names are stable.
#[derive(Debug, Serialize)]
pub struct ReportFigure {
    element: String,
    value_size: u32,
    count: u64,
    algorithm: &'static str,
    policy: String,
    #[serde(flatten)]
    numbers: Numbers,
}

impl ReportFigure {
    /// The figure on one of the inputs, with its policy as text.
    pub fn new(figure: &Figure, input: &TunedInput, policy: String) -> Self {
        Self {
            element: input.element.to_string(),
            value_size: 4 * input.words()[1],
            count: input.count,
            algorithm: figure.shape.algorithm(),
            policy,
            numbers: figure.numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use subsweep::ElementType;
    use subsweep::harness::{SortValues, TunedAxes};
    use subsweep::sort::{Ranking, SortAlgorithm};

    use super::*;

    fn shape(workgroup_size: u32, items_per_invocation: u32) -> TunedShape {
        TunedShape::Sort {
            algorithm: SortAlgorithm::Radix4Bit,
            ranking: Ranking::CounterScan,
            workgroup_size,
            items_per_invocation,
            has_exchange: true,
            subgroup_size: None,
        }
    }

    fn figure(shape: TunedShape, input: usize, score: f64) -> Figure {
        let numbers = Numbers::Compiled { instructions: 1.0, workgroups: None, registers: None };
        Figure { shape, input, score, numbers }
    }

    fn inputs() -> Vec<TunedInput> {
        let keys = TunedInput { element: ElementType::U32, values: SortValues::None, count: 1 << 16 };
        vec![keys, TunedInput { count: 1 << 20, ..keys }, TunedInput { element: ElementType::U64, ..keys }]
    }

    #[test]
    fn a_row_has_the_best_items_for_each_kind_of_keys() {
        let figures = [
            figure(shape(256, 8), 0, 10.0),
            figure(shape(256, 8), 1, 10.0),
            // The best on one count, the worst on both.
            figure(shape(256, 16), 0, 20.0),
            figure(shape(256, 16), 1, 4.0),
            // Not measured on the second input.
            figure(shape(256, 4), 0, 90.0),
            figure(shape(256, 8), 2, 30.0),
            figure(shape(256, 4), 2, 40.0),
            figure(shape(512, 8), 0, 50.0),
            figure(shape(512, 8), 1, 50.0),
        ];
        let families = Rows::families(&figures, 2, shape(64, 0).family());
        assert_eq!(families, [shape(256, 0), shape(512, 0)]);
        let Rows(rows) = Rows::new(&families, &figures, &inputs());
        // The faster family lacks u64.
        assert_eq!(rows.iter().map(|row| row.family).collect::<Vec<_>>(), families);
        let best: Vec<_> = rows[0].best.iter().map(|figures| (figures[0].shape, figures.len())).collect();
        assert_eq!(best, [(shape(256, 8), 2), (shape(256, 4), 1)]);
        assert!((rows[0].score - 20.0).abs() < 1e-9, "{}", rows[0].score);
        assert_eq!(rows[1].best.len(), 1);
    }

    #[test]
    fn the_current_row_is_kept_for_comparison() {
        let figures = [
            figure(shape(512, 8), 0, 50.0),
            figure(shape(512, 4), 0, 45.0),
            figure(shape(256, 8), 0, 40.0),
            figure(shape(128, 8), 0, 30.0),
        ];
        let families = Rows::families(&figures, 1, shape(128, 0));
        assert_eq!(families, [shape(512, 0), shape(128, 0)]);
        assert!(Rows::new(&families, &[], &inputs()).0.is_empty());
    }

    #[test]
    fn scans_of_both_algorithms_share_a_row() {
        let [chained, two_passes] = TunedAxes::SCANS.map(|algorithm| TunedShape::Scan {
            algorithm,
            workgroup_size: 256,
            words_per_invocation: 16,
            packs_per_run: 1,
        });
        let figures = [figure(chained, 0, 80.0), figure(two_passes, 0, 60.0)];
        let families = Rows::families(&figures, 3, chained.family());
        let Rows(rows) = Rows::new(&families, &figures, &inputs()[..1]);
        assert_eq!((rows.len(), rows[0].best[0][0].shape), (1, chained));
        assert_eq!(rows[0].others[0].shape, two_passes);
    }
}
