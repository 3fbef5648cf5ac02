//! The search for the fastest shape of a part: a descent, axis by axis.

use std::collections::HashSet;

use subsweep::tuning::{KernelShape, TunedPart, TuningAxis};

/// A better shape is faster by more than this: measurements of one shape differ by less.
const MIN_GAIN: f64 = 0.01;

/// Whether a cost is less than another by more than chance.
pub fn is_better(cost: f64, other: f64) -> bool {
    cost < other * (1.0 - MIN_GAIN)
}

/// Judges shapes.
pub trait Gauge {
    /// The error that ends the search.
    type Error;

    /// The cost of a shape, in any unit; `None` if it has none, as a wrong or refused one.
    fn cost(&mut self, shape: KernelShape) -> Result<Option<f64>, Self::Error>;

    /// Whether the search must end.
    fn is_over(&self) -> bool;
}

/// Values of some axes, in place of the library's values for all.
pub type Tries = Vec<(TuningAxis, Vec<u32>)>;

/// Descends from `start`, which comes first: along each axis of the part in turn, in rounds, until a round finds nothing
/// better or the gauge is over. Returns the best shape and its cost, if any shape has one.
///
/// # Errors
/// Errors of the gauge.
pub fn descend<G: Gauge>(
    part: TunedPart,
    start: KernelShape,
    tries: &Tries,
    gauge: &mut G,
) -> Result<Option<(KernelShape, f64)>, G::Error> {
    let mut tried = HashSet::from([start]);
    let mut best = gauge.cost(start)?.map(|cost| (start, cost));
    loop {
        let before = best;
        for &axis in part.axes() {
            let from = best.map_or(start, |(shape, _)| shape);
            for value in values_of(axis, part, tries) {
                let mut shape = from;
                axis.set(&mut shape, value);
                if !tried.insert(shape) {
                    continue;
                }
                if gauge.is_over() {
                    return Ok(best);
                }
                let Some(cost) = gauge.cost(shape)? else { continue };
                if best.is_none_or(|(_, least)| is_better(cost, least)) {
                    best = Some((shape, cost));
                }
            }
        }
        if best == before {
            return Ok(best);
        }
    }
}

fn values_of(axis: TuningAxis, part: TunedPart, tries: &Tries) -> Vec<u32> {
    if tries.is_empty() {
        return axis.values(part).to_vec();
    }
    tries.iter().filter(|(tried, _)| *tried == axis).flat_map(|(_, values)| values.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// A cost by a function, for a number of shapes.
    struct Function<F> {
        cost: F,
        left: u32,
        seen: Vec<KernelShape>,
    }

    impl<F: Fn(KernelShape) -> Option<f64>> Gauge for Function<F> {
        type Error = Infallible;

        fn cost(&mut self, shape: KernelShape) -> Result<Option<f64>, Infallible> {
            self.left -= 1;
            self.seen.push(shape);
            Ok((self.cost)(shape))
        }

        fn is_over(&self) -> bool {
            self.left == 0
        }
    }

    const START: KernelShape = KernelShape::tile(256, 16);

    fn found(
        left: u32,
        cost: impl Fn(KernelShape) -> Option<f64>,
    ) -> (Option<(KernelShape, f64)>, Vec<KernelShape>) {
        let mut gauge = Function { cost, left, seen: Vec::new() };
        let Ok(best) = descend(TunedPart::ChainedScan, START, &Tries::new(), &mut gauge);
        (best, gauge.seen)
    }

    /// Least at loads, 512 invocations, and 24 items with a window of 4, which pays with loads alone.
    fn valley(shape: KernelShape) -> Option<f64> {
        let far = |a: u32, b: u32| f64::from(a.abs_diff(b)) / f64::from(b);
        let window = if shape.look_back.has_loads { far(shape.look_back.window, 4) } else { 1.0 };
        let loads = if shape.look_back.has_loads { 0.0 } else { 0.2 };
        Some(1.0 + far(shape.workgroup_size, 512) + far(shape.items, 24) + loads + window)
    }

    #[test]
    fn the_least_is_found_and_no_shape_is_tried_twice() {
        let (best, seen) = found(1000, valley);
        let (shape, cost) = best.unwrap();
        assert_eq!((shape.workgroup_size, shape.items, shape.look_back.window), (512, 24, 4));
        assert!(shape.look_back.has_loads && cost < 1.01, "{shape:?}");
        assert_eq!(seen[0], START);
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
    }

    #[test]
    fn shapes_without_a_cost_are_left_out() {
        let (best, _) = found(1000, |shape| valley(shape).filter(|_| shape.workgroup_size < 512));
        assert_eq!(best.unwrap().0.workgroup_size, 448);
        // Also the shape in use.
        let (best, _) = found(1000, |shape| valley(shape).filter(|_| shape != START));
        assert_eq!(best.unwrap().0.workgroup_size, 512);
        assert_eq!(found(1000, |_| None).0, None);
    }

    #[test]
    fn noise_does_not_win_and_a_budget_is_kept() {
        let (best, _) = found(1000, |shape| Some(if shape == START { 1.0 } else { 0.995 }));
        assert_eq!(best, Some((START, 1.0)));
        assert_eq!(found(5, valley).1.len(), 5);
    }

    #[test]
    fn given_values_are_tried_alone() {
        let mut gauge = Function { cost: valley, left: 1000, seen: Vec::new() };
        let tries: Tries = vec![(TuningAxis::Items, vec![20, 28])];
        let Ok(best) = descend(TunedPart::ChainedScan, START, &tries, &mut gauge);
        assert_eq!(gauge.seen.iter().map(|shape| shape.items).collect::<Vec<_>>(), [16, 20, 28]);
        assert_eq!(best.unwrap().0.items, 20);
    }
}
