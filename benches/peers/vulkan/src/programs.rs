//! Programs of other peers, from a folder that the user names: each verifies and times its own sorts.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::Measured;
use crate::inputs::Work;

/// What every program in the folder measures of a work at a count, which is a power of two.
///
/// A program is run with `PEER_MODES=keys` or `pairs` and `PEER_SIZES=16`, the binary logarithm of the count. It prints
/// a line of words for the work, with its name first: `NAME keys_u32 n=2^16 median_ms=0.0631 … ok`, in which the last word
/// is `WRONG` where a result is. Other lines are not read.
pub fn measure(folder: &Path, work: Work, count: usize) -> Result<Vec<Measured>> {
    let mode = match work {
        Work::Keys => "keys",
        Work::Pairs => "pairs",
        Work::Scan => return Ok(Vec::new()),
    };
    if !count.is_power_of_two() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let mut measured = Vec::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let mut command = Command::new(path);
        command.env("PEER_MODES", mode).env("PEER_SIZES", count.ilog2().to_string());
        let output = command.output().with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        match text.lines().find_map(|line| of_line(line, count)) {
            Some(found) => measured.push(found),
            None => eprintln!("vulkan: {} has measured nothing: {}", path.display(), output.status),
        }
    }
    Ok(measured)
}

/// The measurement of a line, if the line is one of the count.
fn of_line(line: &str, count: usize) -> Option<Measured> {
    let words: Vec<_> = line.split_whitespace().collect();
    let size = format!("n=2^{}", count.ilog2());
    let name = words.first().filter(|_| words.contains(&size.as_str()))?;
    let milliseconds = words.iter().find_map(|word| word.strip_prefix("median_ms="))?.parse::<f64>().ok()?;
    let median = Duration::try_from_secs_f64(milliseconds / 1e3).ok()?;
    let is_wrong = words.last() == Some(&"WRONG");
    Some(Measured { name: (*name).to_owned(), median: (!is_wrong).then_some(median) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_name_a_count_and_a_time() {
        let line = "sorter keys_u32 n=2^16 median_ms=0.0631 min_ms=0.0620 ok";
        let found = of_line(line, 1 << 16).unwrap();
        assert_eq!((found.name.as_str(), found.median), ("sorter", Some(Duration::from_nanos(63_100))));
        assert!(
            of_line(line, 1 << 20).is_none()
                && of_line("sorter keys n=2^16 skipped: memory", 1 << 16).is_none()
        );
        let wrong = of_line("sorter keys_u32 n=2^16 median_ms=0.1 WRONG", 1 << 16).unwrap();
        assert!(wrong.median.is_none());
    }
}
