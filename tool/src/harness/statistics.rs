//! Statistics of time samples: quantiles, bootstrap intervals and linear fits.

use super::inputs::SplitMix64;

/// Bootstrap resamples per interval. With another seed an interval's ends move by about one percent of its width.
const RESAMPLES: usize = 1000;
/// Confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;
/// A fixed seed: the same samples always have the same interval.
const SEED: u64 = 0x5eed;

/// The `q` quantile of `sorted`, linearly interpolated. `sorted` is not empty.
pub(super) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

/// The median of `samples`, in linear time. Reorders them.
pub(super) fn median(samples: &mut [f64]) -> f64 {
    let count = samples.len();
    let (below, &mut middle, _) = samples.select_nth_unstable_by(count / 2, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(largest) if count.is_multiple_of(2) => largest + (middle - largest) * 0.5,
        _ => middle,
    }
}

/// Splits samples into blocks. Lengths that do not add up to the samples give one block.
pub(super) fn blocks<'s>(samples: &'s [f64], lengths: &[u32]) -> Vec<&'s [f64]> {
    let (mut rest, mut blocks) = (samples, Vec::new());
    for &length in lengths {
        let Some((block, others)) = rest.split_at_checked(length as usize) else { return vec![samples] };
        rest = others;
        if !block.is_empty() {
            blocks.push(block);
        }
    }
    if rest.is_empty() && !blocks.is_empty() { blocks } else { vec![samples] }
}

/// The 95 % interval of the median by percentile bootstrap, resampling blocks and then samples in each block, both with
/// replacement. A disturbance that lasts longer than a block affects all of its samples: resampling only samples would
/// underestimate the variance. Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; Davison and
/// Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8, on blocks.
pub(super) fn median_interval(blocks: &[&[f64]]) -> [f64; 2] {
    interval(draws(|random| median(&mut resample(blocks, random))))
}

/// What is known of a median: samples in blocks or, in a summary, its 95 % interval.
pub(super) enum Median<'s> {
    Sampled(Vec<&'s [f64]>),
    /// With a seed of its own: medians of different cases are independent.
    Summarised {
        median: f64,
        interval: [f64; 2],
        seed: u64,
    },
}

impl Median<'_> {
    /// A resampled median. The median of a summary is log-normal with the width of the interval.
    fn draw(&self, random: &mut Random) -> f64 {
        let drawn = match self {
            Self::Sampled(blocks) => median(&mut resample(blocks, random)),
            Self::Summarised { median, interval: [low, high], seed } => {
                // 95 % of a normal distribution lie within 1.96 standard deviations.
                let deviation = (high / low.max(f64::MIN_POSITIVE)).ln() / (2.0 * 1.96);
                median * (deviation * normal(&mut SplitMix64(random.samples.next_u64() ^ seed))).exp()
            }
        };
        // A coarse clock may report a time of 0.
        drawn.max(f64::MIN_POSITIVE)
    }
}

/// A standard normal number: the sum of twelve uniform ones, less their mean.
fn normal(random: &mut SplitMix64) -> f64 {
    let uniform = |_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..12).map(uniform).sum::<f64>() - 6.0
}

/// Bootstrap resamples of the ratio of medians, `new` over `base`, for an [`interval`]. Equal numbers of blocks draw
/// the same block indices: cases measured in the same rounds are resampled together, since a disturbance of a round
/// affects all of them.
pub(super) fn ratio_draws(base: &Median<'_>, new: &Median<'_>) -> Vec<f64> {
    draws(|random| {
        let base = base.draw(random);
        finite(new.draw(random) / base)
    })
}

/// The interval that holds 95 % of the resampled statistics.
pub(super) fn interval(mut draws: Vec<f64>) -> [f64; 2] {
    draws.sort_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    [quantile(&draws, tail), quantile(&draws, 1.0 - tail)]
}

/// The geometric mean of ratios. There is at least one.
pub(super) fn geometric_mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    finite((ratios.map(f64::ln).sum::<f64>() / count).exp())
}

/// Clamps a ratio to finite positive numbers: JSON has no infinities.
pub(super) fn finite(ratio: f64) -> f64 {
    ratio.clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// A linear model of the time of a run: a fixed cost, and a cost per element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearFit {
    /// Nanoseconds of a run of no elements; at least 0.
    pub fixed_ns: f64,
    /// Nanoseconds of an element; at least 0.
    pub per_element_ns: f64,
    /// The largest relative deviation from the line.
    pub worst_deviation: f64,
}

impl LinearFit {
    /// Fits pairs of an element count and a time in nanoseconds by least squares of the *relative* deviations: absolute
    /// ones would let the largest counts decide alone. Times are above 0. `None` for fewer than two distinct counts.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let [mut w, mut wx, mut wxx, mut wt, mut wxt] = [0.0; 5];
        for &(x, t) in points {
            let weight = 1.0 / (t * t);
            w += weight;
            wx += weight * x;
            wxx += weight * x * x;
            wt += weight * t;
            wxt += weight * x * t;
        }
        let determinant = w * wxx - wx * wx;
        if points.len() < 2 || determinant <= f64::EPSILON * w * wxx {
            return None;
        }
        let (fixed_ns, per_element_ns) =
            match ((wxx * wt - wx * wxt) / determinant, (w * wxt - wx * wt) / determinant) {
                // Neither cost is negative.
                (..0.0, _) => (0.0, wxt / wxx),
                (_, ..0.0) => (wt / w, 0.0),
                line => line,
            };
        let deviations = points.iter().map(|(x, t)| ((fixed_ns + per_element_ns * x - t) / t).abs());
        Some(Self { fixed_ns, per_element_ns, worst_deviation: deviations.fold(0.0, f64::max) })
    }
}

/// Random numbers for blocks and for samples in separate streams, so that block lengths do not affect the choice of
/// blocks.
struct Random {
    blocks: SplitMix64,
    samples: SplitMix64,
}

fn draws(mut statistic: impl FnMut(&mut Random) -> f64) -> Vec<f64> {
    let mut random = Random { blocks: SplitMix64(SEED), samples: SplitMix64(!SEED) };
    (0..RESAMPLES).map(|_| statistic(&mut random)).collect()
}

fn resample(blocks: &[&[f64]], random: &mut Random) -> Vec<f64> {
    let mut drawn = Vec::with_capacity(blocks.iter().map(|block| block.len()).sum());
    for _ in blocks {
        let block = blocks[draw(blocks.len(), &mut random.blocks)];
        drawn.extend(block.iter().map(|_| block[draw(block.len(), &mut random.samples)]));
    }
    drawn
}

/// A random index below `count`: the high half of a product, uniform up to 64 bits.
fn draw(count: usize, random: &mut SplitMix64) -> usize {
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_the_median_and_narrows_with_more_samples() {
        let mut random = SplitMix64(1);
        let mut samples = |count: usize| -> Vec<f64> {
            (0..count).map(|_| 100.0 + (random.next_u64() >> 40) as f64 / f64::from(1 << 24)).collect()
        };
        let [few, many] = [samples(10), samples(1000)];
        let widths = [few, many].map(|samples| {
            let [low, high] = median_interval(&[&samples]);
            let middle = median(&mut samples.clone());
            assert!(low <= middle && middle <= high, "{low} {middle} {high}");
            high - low
        });
        assert!(widths[1] < widths[0] / 3.0, "{widths:?}");
        assert_eq!(median_interval(&[&[7.0]]), [7.0; 2]);
        assert_eq!(median_interval(&[&[7.0; 20]]), [7.0; 2]);
    }

    #[test]
    fn a_summary_has_the_ratios_of_its_samples() {
        let mut random = SplitMix64(9);
        let mut samples = |median: f64| -> Vec<f64> {
            (0..40).map(|_| median * (1.0 + 0.05 * normal(&mut random))).collect()
        };
        let [base, new] = [samples(100.0), samples(120.0)];
        let sampled = |samples| Median::Sampled(vec![samples]);
        let summarised = |samples: &[f64]| Median::Summarised {
            median: median(&mut samples.to_vec()),
            interval: median_interval(&[samples]),
            seed: samples[0].to_bits(),
        };
        let [low, high] = interval(ratio_draws(&sampled(&base), &sampled(&new)));
        let [summary_low, summary_high] = interval(ratio_draws(&summarised(&base), &summarised(&new)));
        assert!((low - summary_low).abs() < 0.02 && (high - summary_high).abs() < 0.02);
        assert!(summary_low > 1.1 && summary_high < 1.3, "{summary_low} {summary_high}");
    }

    /// 95 % of the intervals cover the true median.
    #[test]
    fn intervals_cover_the_median_at_their_confidence() {
        let mut random = SplitMix64(3);
        let trials = 400;
        let held = (0..trials).filter(|_| {
            // The median of these is 0.5.
            let samples: Vec<f64> =
                (0..41).map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64).collect();
            let [low, high] = median_interval(&[&samples]);
            low <= 0.5 && 0.5 <= high
        });
        let share = held.count() as f64 / f64::from(trials);
        assert!((0.90..=0.99).contains(&share), "{share}");
    }

    /// Coverage with blocks whose common error is ten times the error of the samples.
    #[test]
    fn an_interval_accounts_for_blocks() {
        let mut random = SplitMix64(5);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let (trials, lengths) = (200, [3; 12]);
        let mut held = [0, 0];
        for _ in 0..trials {
            let block = |_| {
                let common = uniform();
                [(); 3].map(|()| common + 0.1 * uniform())
            };
            let samples: Vec<f64> = (0..12).flat_map(block).collect();
            for (held, lengths) in held.iter_mut().zip([&lengths[..], &[]]) {
                let [low, high] = median_interval(&blocks(&samples, lengths));
                *held += u32::from(low <= 0.0 && 0.0 <= high);
            }
        }
        let [with_blocks, without_blocks] = held.map(|held| f64::from(held) / f64::from(trials));
        assert!(with_blocks > 0.9 && without_blocks < 0.85, "{with_blocks} {without_blocks}");
    }

    #[test]
    fn a_median_is_the_middle_quantile() {
        let mut random = SplitMix64(7);
        for count in 1..40 {
            let mut samples: Vec<f64> = (0..count).map(|_| (random.next_u64() % 16) as f64).collect();
            let mut sorted = samples.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(median(&mut samples), quantile(&sorted, 0.5), "{sorted:?}");
        }
    }

    #[test]
    fn blocks_are_all_of_the_samples() {
        let samples = [1.0, 2.0, 3.0];
        assert_eq!(blocks(&samples, &[2, 0, 1]), [&samples[..2], &samples[2..]]);
        for lengths in [&[][..], &[2], &[2, 2], &[0], &[u32::MAX, 4]] {
            assert_eq!(blocks(&samples, lengths), [&samples[..]]);
        }
    }

    #[test]
    fn a_line_is_found_again_and_never_goes_below_nothing() {
        let line = |x: f64| (x, 5_000.0 + 0.25 * x);
        let fit = LinearFit::fit(&[256.0, 4096.0, 65_536.0, 1_048_576.0].map(line)).unwrap();
        assert!((fit.fixed_ns - 5_000.0).abs() < 1e-3 && (fit.per_element_ns - 0.25).abs() < 1e-9, "{fit:?}");
        assert!(fit.worst_deviation < 1e-9, "{fit:?}");
        let steep = LinearFit::fit(&[(1.0, 1.0), (2.0, 8.0), (3.0, 27.0)]).unwrap();
        assert!(
            steep.fixed_ns == 0.0 && steep.per_element_ns > 0.0 && steep.worst_deviation > 0.1,
            "{steep:?}"
        );
        let falling = LinearFit::fit(&[(1.0, 9.0), (2.0, 8.0), (3.0, 7.0)]).unwrap();
        assert!(falling.per_element_ns == 0.0 && (7.0..9.0).contains(&falling.fixed_ns), "{falling:?}");
        assert_eq!(LinearFit::fit(&[(7.0, 1.0)]), None);
        assert_eq!(LinearFit::fit(&[(7.0, 1.0), (7.0, 2.0)]), None);
    }

    /// The number of samples per round does not narrow the uncertainty between rounds.
    #[test]
    fn blocks_are_drawn_together_whatever_their_lengths() {
        let mut random = SplitMix64(9);
        let rounds: Vec<f64> = (0..20).map(|_| 100.0 + (random.next_u64() >> 60) as f64).collect();
        let of_length = |length: usize| -> Vec<f64> {
            rounds.iter().flat_map(|&time| std::iter::repeat_n(time, length)).collect()
        };
        let draws_of = |length: usize| {
            let samples = of_length(length);
            let median = || Median::Sampled(blocks(&samples, &[length as u32; 20]));
            ratio_draws(&median(), &median())
        };
        let [one, three] = [1, 3].map(draws_of);
        assert_eq!(one, three);
        assert!(one.iter().any(|&ratio| ratio != 1.0));
    }

    #[test]
    fn a_ratio_is_that_of_the_medians() {
        let base: Vec<f64> = (0..50).map(|i| 100.0 + f64::from(i % 7)).collect();
        let new: Vec<f64> = base.iter().map(|time| 1.2 * time).collect();
        let [low, high] = interval(ratio_draws(&Median::Sampled(vec![&base]), &Median::Sampled(vec![&new])));
        assert!(low > 1.1 && high < 1.3 && low <= 1.2 && 1.2 <= high, "{low} {high}");
    }
}
