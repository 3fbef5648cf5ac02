//! Which faults are tried, and how.

use anyhow::{Result, bail};

use super::table::Fault;
use crate::Stop;
use crate::process::git;

pub const USAGE: &str = "\
usage: tools/mutants [OPTIONS]
  --list            lists the faults that the other options select, and runs nothing
  --only PATTERN    faults whose name or file contains PATTERN
  --touched BASE    faults in files that differ from commit BASE
  --sample N        a random sample of N faults, by --seed S (default 1)
  --again           ignores kept results
  --clean           runs the table's checks on the unchanged sources: each must pass
  --checks          runs only the table's checks, and not tools/test on survivors
Exit codes: 0 at least 95 % found, 1 fewer, or a fault that cannot be applied, 2 bad usage.";

#[derive(Default)]
pub struct Options {
    pub is_list: bool,
    pub is_again: bool,
    pub is_clean: bool,
    pub only_checks: bool,
    only: String,
    touched: Option<String>,
    sample: Option<usize>,
    seed: Option<u64>,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or(Stop::BadUsage);
            match argument.as_str() {
                "--list" => options.is_list = true,
                "--again" => options.is_again = true,
                "--clean" => options.is_clean = true,
                "--checks" => options.only_checks = true,
                "--only" => options.only = value()?,
                "--touched" => options.touched = Some(value()?),
                "--sample" => options.sample = Some(value()?.parse().or(Err(Stop::BadUsage))?),
                "--seed" => options.seed = Some(value()?.parse().or(Err(Stop::BadUsage))?),
                "-h" | "--help" => bail!(Stop::Help),
                _ => bail!(Stop::BadUsage),
            }
        }
        Ok(options)
    }

    /// The faults that are meant, in the order of the table.
    pub fn select(&self, mut faults: Vec<Fault>) -> Result<Vec<Fault>> {
        faults.retain(|fault| fault.name.contains(&self.only) || fault.file.contains(&self.only));
        if let Some(base) = &self.touched {
            if git(&["rev-parse", "--quiet", "--verify", &format!("{base}^{{commit}}")]).is_err() {
                bail!(Stop::Refused(format!("'{base}' is not a commit")));
            }
            let touched = git(&["diff", "--name-only", base])?;
            faults.retain(|fault| touched.lines().any(|file| file == fault.file));
        }
        let count = self.sample.unwrap_or(faults.len());
        Ok(sample(faults, count, self.seed.unwrap_or(1)))
    }
}

/// Those with the smallest of random numbers, in their order.
fn sample<T>(all: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let number = |index| split_mix_64(split_mix_64(seed) ^ index as u64);
    let mut indices: Vec<_> = (0..all.len()).collect();
    indices.sort_by_key(|&index| number(index));
    indices.truncate(count);
    let all = all.into_iter().enumerate();
    all.filter(|(index, _)| indices.contains(index)).map(|(_, one)| one).collect()
}

/// The number of a state of SplitMix64, a different one for each.
fn split_mix_64(state: u64) -> u64 {
    let mut bits = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_in_order_and_as_its_seed() {
        let of = |count, seed| sample((0..100).collect(), count, seed);
        assert_eq!((of(7, 1).len(), of(0, 1).len(), of(200, 1).len()), (7, 0, 100));
        assert!(of(7, 1).is_sorted() && of(7, 1) == of(7, 1) && of(7, 1) != of(7, 2));
    }

    #[test]
    fn options_take_their_values() {
        let parse = |text: &str| Options::parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let options = parse("--only sort --sample 3 --seed 9 --checks").unwrap();
        assert_eq!((&*options.only, options.sample, options.seed), ("sort", Some(3), Some(9)));
        assert!(options.only_checks && !options.is_list);
        for text in ["--only", "--sample x", "--what", "--seed -1"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
