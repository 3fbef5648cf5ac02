//! Input of segment offsets.

use anyhow::Result;

use crate::error::Ended;
use crate::files::{self, Source};

/// Reads segment offsets, which ascend and are at most `count`. `verb` and `things` are words of the command for
/// its errors.
pub fn read(source: &Source, verb: &str, count: usize, things: &str) -> Result<Vec<u32>> {
    let begins = files::read_row_numbers(source, &format!("leave out --segments to {verb} all at once"))?;
    if let Some(i) = (1..begins.len()).find(|&i| begins[i] < begins[i - 1]) {
        let (before, after) = (begins[i - 1], begins[i]);
        return Err(Ended::usage(format!(
            "{source}: segments are not ascending: {after} at index {i} comes after {before}; sort them"
        ))
        .into());
    }
    match begins.last() {
        Some(&last) if last as usize > count => Err(Ended::usage(format!(
            "{source}: a segment begins at {last}, and there are {count} {things}; leave it out"
        ))
        .into()),
        _ => Ok(begins),
    }
}
