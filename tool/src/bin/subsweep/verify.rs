//! `subsweep verify`: every case against the CPU reference.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Result;
use clap::Args;
use subsweep::device::{Capabilities, PipelineCounts};
use subsweep::headless::Gpu;
use subsweep_tool::harness::{
    Case, Effort, LargeCase, LargeResult, Outcome, VerifiedCase, repeated, verify_cases,
};

use crate::args::Common;
use crate::bench;
use crate::command::Run;
use crate::device;
use crate::reports::Format;
use crate::suite::{self, Opened, Suite, SuiteArgs, Tally};
use crate::terminal::{Progress, escaped};
use crate::workers::{Event, Workers};

/// Verify devices, case by case
///
/// Every case of the table runs twice, in buffers with guard ranges, and is compared with a sequential loop on the CPU.
/// --quick takes a covering set of cases: every kernel of default plans, and every pair of values of the parameters
/// (type, order, in place or not, alignment, indirect count, input and others), in up to 65537 elements. Without it the
/// cases are every specialization of a kernel that a policy can choose. Cases that a device does not support are
/// counted and listed. Exits with 1 if any case is wrong.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Print the ids of the cases, one on a line, and run nothing
    #[arg(long, conflicts_with = "json")]
    pub list: bool,

    /// Only cases in which workgroups wait for others, or may
    #[arg(long)]
    pub waiting: bool,

    /// Only cases whose policy is the one that a plan chooses by itself on the device
    #[arg(long, conflicts_with_all = ["algorithm", "policy"])]
    pub default_policies: bool,

    /// Verify each case N times, each time with 11 elements less and so with other numbers, as far as it has them
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Verify instead a sort of N keys with large counts, scans of N and a selection of N in chunks, of u32: by what their
    /// results must be, without the reference [default of N: 4294967299]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        allow_negative_numbers = true,
        default_missing_value = "4294967299",
        value_parser = clap::value_parser!(u64).range(1..=1 << 40),
        conflicts_with_all = ["list", "waiting", "default_policies", "repeat", "measure", "quick", "full"]
    )]
    pub large: Option<u64>,

    /// Also measure a scan and sorts of 2^20 elements, on a GPU of 2^26 as well, and end with a short table
    #[arg(long, conflicts_with = "list")]
    pub measure: bool,
}

/// Limit of printed failures and of printed reasons; a report names all of them.
const MAX_LISTED: usize = 20;

impl Run for VerifyArgs {
    fn run(&self, common: &Common) -> Result<()> {
        let VerifyArgs { suite, list, measure, .. } = self;
        if *list {
            let ids = |cases: &[Case], _: &Capabilities| cases.iter().map(|case| case.id() + "\n").collect();
            return suite::list(
                &suite.cases,
                &self.excluding(),
                common,
                |effort, capabilities| self.cases(effort, capabilities),
                ids,
            );
        }
        suite::run(suite, &[(Format::Json, &suite.json)], common, |suite, opened| {
            if let Some(count) = self.large {
                return on_device_large(suite, opened, count);
            }
            let tally = on_device(suite, opened, self)?;
            if !*measure {
                return Ok(tally);
            }
            let (measured, table) = bench::first_look(suite, &opened.gpu)?;
            suite.print(&format!("\n{}{table}", summary(&opened.gpu, tally)))?;
            Ok(Tally { wrong: tally.wrong + measured.wrong, ..tally })
        })
    }

    fn runs_drivers(&self) -> bool {
        !self.list
    }
}

impl VerifyArgs {
    /// The cases of an effort, before `--filter`.
    fn cases(&self, effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
        let mut cases = verify_cases(effort, capabilities);
        cases.retain(|Case { work, .. }| {
            (!self.waiting || work.depends_on_progress(capabilities))
                && (!self.default_policies || work.has_default_policy(capabilities))
        });
        repeated(cases, self.repeat)
    }

    /// The options of this command, as given, that leave out cases.
    fn excluding(&self) -> Vec<&'static str> {
        let options = [(self.waiting, "--waiting"), (self.default_policies, "--default-policies")];
        options.into_iter().filter_map(|(is_given, option)| is_given.then_some(option)).collect()
    }

    /// The command that verifies the same cases, up to its filter.
    fn command(&self) -> String {
        match self.repeat {
            1 => "verify".to_owned(),
            times => format!("verify --repeat {times}"),
        }
    }
}

fn on_device(suite: &mut Suite, opened: &Opened, args: &VerifyArgs) -> Result<Tally> {
    let gpu: &Gpu = &opened.gpu;
    let effort = suite.effort();
    let cases = suite.select(args.cases(effort, gpu.capabilities()), &args.excluding())?;
    let self_test = gpu.self_test()?;
    suite.print(&format!("  self-test {self_test}\n"))?;
    suite.device_report().self_test = Some(self_test.to_string());
    let mut groups = BTreeMap::<String, Tally>::new();
    let mut lacking = BTreeMap::<String, Lacking>::new();
    // Indices of ended cases, sorted: the report keeps the table's order.
    let mut ended = Vec::new();
    let mut wrong_count = 0;
    let progress = Progress::new(cases.len());
    let workers = Workers::new(opened, cases.len());
    // Indices of running cases in the order of their start; the first is shown.
    let mut running = Vec::new();
    workers.verify(&cases, |event| {
        let (index, outcome) = match event {
            Event::Ended(index, outcome) => (index, outcome),
            Event::Begun(_) | Event::Tick => {
                running.extend(if let Event::Begun(index) = event { Some(index) } else { None });
                let id = running.first().map(|&index| cases[index].id());
                progress.show(progress_text(
                    gpu.capabilities().is_cpu(),
                    workers.pipeline_counts(),
                    id.as_deref(),
                ));
                return Ok(());
            }
        };
        progress.end();
        running.retain(|&other| other != index);
        let case = &cases[index];
        let id = case.id();
        let again = suite.again(&args.command(), gpu, &id);
        let group = groups.entry(case.group()).or_default();
        match &outcome {
            Outcome::Pass => group.right += 1,
            Outcome::Fail(_) => {
                group.wrong += 1;
                wrong_count += 1;
                if wrong_count <= MAX_LISTED {
                    let text = format!("  {id}\n    {outcome}\n    again: {again}\n");
                    progress.suspend(|| suite.print(&text))?;
                }
            }
            Outcome::NotSupported(reason) => {
                group.not_supported += 1;
                let first = || Lacking { case_count: 0, first: id.clone() };
                lacking.entry(reason.clone()).or_insert_with(first).case_count += 1;
            }
        }
        let at = ended.partition_point(|&before| before < index);
        ended.insert(at, index);
        suite.device_report().verified.insert(at, VerifiedCase::new(id, &outcome, &again));
        suite.save()
    })?;
    drop(progress);
    suite.print(&(and_more(wrong_count) + &reasons(&lacking)))?;
    let total = groups.values().fold(Tally::default(), |total, tally| total.and(*tally));
    suite.print(&table(&groups, total))?;
    // A device that fails the self-test is wrong, even if all cases passed.
    Ok(Tally { is_unfit: !self_test.is_passed(), ..total })
}

/// Verifies works on any number of elements.
fn on_device_large(suite: &mut Suite, opened: &Opened, count: u64) -> Result<Tally> {
    let gpu: &Gpu = &opened.gpu;
    let mut total = Tally::default();
    for case in suite.select_large(LargeCase::all(count))? {
        let id = case.to_string();
        let LargeResult { outcome, time_ns } = match device::check_memory(gpu, case.size(), "the arrays") {
            Ok(()) => case.verify(gpu)?,
            Err(error) => LargeResult { outcome: Outcome::of_error(error)?, time_ns: None },
        };
        match outcome {
            Outcome::Pass => total.right += 1,
            Outcome::Fail(_) => total.wrong += 1,
            Outcome::NotSupported(_) => total.not_supported += 1,
        }
        let time = time_ns.map_or(String::new(), |ns| format!(", GPU time {:.1} ms", ns / 1e6));
        suite.print(&format!("  {id}\n    {outcome}{time}\n"))?;
        let again = suite.again(&format!("verify --large {count}"), gpu, &id);
        suite.device_report().verified.push(VerifiedCase::new(id, &outcome, &again));
        suite.save()?;
    }
    Ok(total)
}

/// Progress text: pipeline counts, and the id of the case that has run longest. Drivers of CPUs compile a pipeline at
/// its first dispatch, others at its creation.
fn progress_text(is_cpu: bool, counts: PipelineCounts, id: Option<&str>) -> String {
    let PipelineCounts { created, dispatched } = counts;
    let compiled = if is_cpu { dispatched } else { created };
    let id = id.map(|id| format!(": {id}")).unwrap_or_default();
    format!("{created} pipelines, {compiled} compiled{id}")
}

/// Cases that a device does not support for one reason.
struct Lacking {
    case_count: u64,
    /// Id of the first case.
    first: String,
}

/// Reasons of unsupported cases; many cases often share one.
fn reasons(lacking: &BTreeMap<String, Lacking>) -> String {
    let mut text = String::new();
    for (reason, Lacking { case_count, first }) in lacking.iter().take(MAX_LISTED) {
        let cases = if *case_count == 1 { "1 case:" } else { &format!("{case_count} cases, such as") };
        let _ = writeln!(text, "  not supported: {reason}\n    {cases} {first}");
    }
    text + &and_more(lacking.len())
}

/// The number of entries that were not listed, if any.
fn and_more(count: usize) -> String {
    match count.saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!("  and {more} more; --json FILE names all of them\n"),
    }
}

/// The device and its results, printed above the measurements.
fn summary(gpu: &Gpu, Tally { right, wrong, not_supported, .. }: Tally) -> String {
    let identity = gpu.identity();
    format!(
        "  device    {}, {} lanes\n  driver    {}\n  verified  {right} passed, {wrong} failed, {not_supported} not supported\n",
        escaped(&identity.name),
        gpu.capabilities().subgroup_size,
        escaped(&identity.driver_text())
    )
}

fn table(groups: &BTreeMap<String, Tally>, total: Tally) -> String {
    let width = groups.keys().map(String::len).max().unwrap_or(0).max("total".len());
    let rows = groups.iter().map(|(group, tally)| (group.as_str(), *tally)).chain([("total", total)]);
    let mut text = format!("  {:width$}   passed   failed   not supported\n", "");
    for (name, Tally { right, wrong, not_supported, .. }) in rows {
        let _ = writeln!(text, "  {name:width$}   {right:>6}   {wrong:>6}   {not_supported:>13}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_listed_once_for_its_cases() {
        let of = |case_count, first: &str| Lacking { case_count, first: first.to_owned() };
        let lacking =
            BTreeMap::from([("it lacks a".to_owned(), of(43, "x")), ("it lacks b".to_owned(), of(1, "y"))]);
        assert_eq!(
            reasons(&lacking),
            "  not supported: it lacks a\n    43 cases, such as x\n  not supported: it lacks b\n    1 case: y\n"
        );
        let many: BTreeMap<_, _> = (0..=MAX_LISTED).map(|n| (format!("{n:2}"), of(1, "x"))).collect();
        assert_eq!(reasons(&many).lines().count(), 2 * MAX_LISTED + 1);
    }

    #[test]
    fn progress_counts_compiled_pipelines() {
        let counts = PipelineCounts { created: 212, dispatched: 57 };
        assert_eq!(progress_text(true, counts, None), "212 pipelines, 57 compiled");
        assert_eq!(progress_text(false, counts, None), "212 pipelines, 212 compiled");
        assert_eq!(progress_text(true, counts, Some("scan")), "212 pipelines, 57 compiled: scan");
    }

    #[test]
    fn a_table_ends_with_its_total() {
        let tally = Tally { right: 12, wrong: 1, not_supported: 3, is_unfit: false };
        let groups = BTreeMap::from([("scan:inclusive".to_owned(), tally)]);
        assert_eq!(
            table(&groups, tally),
            "                   passed   failed   not supported\n  \
             scan:inclusive       12        1               3\n  \
             total                12        1               3\n"
        );
    }
}
