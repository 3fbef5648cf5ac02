//! `subsweep verify`.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use subsweep::harness::{Case, Outcome, SelfTest, VerifiedCase, verify_case, verify_cases};
use subsweep::headless::Gpu;

use crate::args::{Common, SuiteArgs};
use crate::reports::Format;
use crate::suite::{self, Suite, Tally};
use crate::words::Progress;

/// Lines about cases that did not pass; a report names all of them.
const MAX_LINES: u64 = 20;

/// Holds devices to the oracle.
pub fn run(args: &SuiteArgs, common: &Common) -> Result<()> {
    suite::run(args, &[(Format::Json, &args.json)], common, on_device)
}

fn on_device(suite: &mut Suite, gpu: &Gpu) -> Result<Tally> {
    let cases = suite.select(verify_cases(suite.effort(), gpu.capabilities()))?;
    let self_test = SelfTest::run(gpu)?;
    suite.print(&format!("  self-test {self_test}\n"))?;
    suite.device_report().self_test = Some(self_test.to_string());
    let mut groups = BTreeMap::<String, Tally>::new();
    let mut line_count = 0;
    let progress = Progress::new(cases.len());
    for case in &cases {
        let id = case.id();
        progress.begin(&id);
        let outcome = outcome(gpu, case)?;
        let again = suite.again("verify", gpu, &id);
        let group = groups.entry(case.group()).or_default();
        match &outcome {
            Outcome::Pass => group.right += 1,
            Outcome::Fail(_) => group.wrong += 1,
            Outcome::NotSupported(_) => group.not_supported += 1,
        }
        if outcome != Outcome::Pass {
            line_count += 1;
            if line_count <= MAX_LINES {
                let mut text = format!("  {id}\n    {outcome}\n");
                if let Outcome::Fail(_) = outcome {
                    let _ = writeln!(text, "    again: {again}");
                }
                progress.aside(|| suite.print(&text))?;
            }
        }
        suite.device_report().verified.push(VerifiedCase::new(id, &outcome, &again));
        suite.save()?;
    }
    drop(progress);
    if line_count > MAX_LINES {
        suite.print(&format!("  and {} more; --json FILE names all of them\n", line_count - MAX_LINES))?;
    }
    let total = groups.values().fold(Tally::default(), |total, tally| total.and(*tally));
    suite.print(&table(&groups, total))?;
    // A device that fails it is wrong, whatever luck the cases had.
    Ok(Tally { wrong: total.wrong + u64::from(!self_test.is_passed()), ..total })
}

fn outcome(gpu: &Gpu, case: &Case) -> Result<Outcome> {
    match suite::lacking_memory(gpu, case) {
        Some(reason) => Ok(Outcome::NotSupported(reason)),
        None => Ok(verify_case(gpu, case)?),
    }
}

fn table(groups: &BTreeMap<String, Tally>, total: Tally) -> String {
    let width = groups.keys().map(String::len).max().unwrap_or(0).max("total".len());
    let rows = groups.iter().map(|(group, tally)| (group.as_str(), *tally)).chain([("total", total)]);
    let mut text = format!("  {:width$}   passed   failed   not supported\n", "");
    for (name, Tally { right, wrong, not_supported }) in rows {
        let _ = writeln!(text, "  {name:width$}   {right:>6}   {wrong:>6}   {not_supported:>13}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_ends_with_its_total() {
        let tally = Tally { right: 12, wrong: 1, not_supported: 3 };
        let groups = BTreeMap::from([("scan:inclusive".to_owned(), tally)]);
        assert_eq!(
            table(&groups, tally),
            "                   passed   failed   not supported\n  \
             scan:inclusive       12        1               3\n  \
             total                12        1               3\n"
        );
    }
}
