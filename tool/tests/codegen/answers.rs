//! What compilers said of pipelines. A compiler that is the same says the same of the same module and constants, so that
//! what it said in a row that passed is kept in `$SUBSWEEP_CACHE/codegen`, and is not asked again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use subsweep::device::Pipeline;
use subsweep_tool::harness::InspectedExecutable;

/// What a compiler said of one pipeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer {
    pub executables: Vec<InspectedExecutable>,
    /// Instructions that access 16 bytes of memory for each lane, where the assembly is AMD's.
    pub wide_accesses: Option<u64>,
}

/// The answers of a row, by [what was asked](question).
pub struct Answers {
    row: String,
    kept: BTreeMap<String, Answer>,
    of_run: BTreeMap<String, Answer>,
}

impl Answers {
    /// The answers that are kept for a row.
    pub fn of_row(row: &str) -> Self {
        let text = path(row, KEPT).and_then(|path| fs::read(path).ok()).unwrap_or_default();
        // A file that is cut off, or of another version of this program, has none.
        let kept = serde_json::from_slice(&text).unwrap_or_default();
        Self { row: row.to_owned(), kept, of_run: BTreeMap::new() }
    }

    /// What is kept of a pipeline, or else what `ask` finds.
    pub fn of(&mut self, pipeline: &Pipeline, ask: impl FnOnce() -> Result<Answer>) -> Result<Answer> {
        let question = question(pipeline);
        let answer = self.kept.remove(&question).map_or_else(ask, Ok)?;
        self.of_run.insert(question, answer.clone());
        Ok(answer)
    }

    /// Writes the answers of this run, which [`keep`] then keeps.
    pub fn write(&self) -> Result<()> {
        if let Some(path) = path(&self.row, OF_RUN) {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, serde_json::to_vec(&self.of_run)?)?;
        }
        Ok(())
    }
}

/// Keeps the answers of a row that has passed: its compiler complained of nothing.
pub fn keep(row: &str) {
    if let Some((of_run, kept)) = path(row, OF_RUN).zip(path(row, KEPT)) {
        // Without them the next run asks again.
        let _ = fs::rename(of_run, kept);
    }
}

const KEPT: &str = "json";
const OF_RUN: &str = "run";

/// The file of a row, where `tools/env` has set the cache; none while `SUBSWEEP_KERNELS`
/// replaces modules, which a question would not tell from those of the build.
fn path(row: &str, extension: &str) -> Option<PathBuf> {
    if env::var_os("SUBSWEEP_KERNELS").is_some() {
        return None;
    }
    let folder = PathBuf::from(env::var_os("SUBSWEEP_CACHE")?).join("codegen");
    Some(folder.join(format!("{row}.{extension}")))
}

/// The compiler, the module by its hash, and its specialization.
fn question(pipeline: &Pipeline) -> String {
    let identity = &pipeline.device().capabilities().identity;
    let words = pipeline.kernel().words();
    let hash = subsweep::kernels::hash::fnv1a(words.iter().flat_map(|word| word.to_le_bytes()));
    format!(
        "{}, {}: {} {hash:016x} {}",
        identity.name,
        identity.driver_text(),
        pipeline.kernel().name,
        pipeline.specialization()
    )
}
