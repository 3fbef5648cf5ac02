//! `--device gpu:NAME`: commands that only compile, in a process of their own for each such device.
//!
//! The program starts itself again by [`CompileOnlyGpu::command`] with the arguments that it has, and [`CHILD`] in the
//! environment, which tells the child that the one device it finds is the one that is meant.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::num::NonZeroUsize;
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context as _, Result};
use subsweep::harness::gpus::{CompileOnlyGpu, NotSetUp, is_noise};

use crate::args::{Command, Common};
use crate::error::{Ended, Exit};
use crate::files::output::print;
use crate::words::{self, Progress};
use crate::{device, devices, inspect, tune};

/// The name of the GPU, in a child's environment.
const CHILD: &str = "SUBSWEEP_GPU_CHILD";

/// On how many threads a child compiles, in its environment.
const THREADS: &str = "SUBSWEEP_GPU_THREADS";

/// The process that started a child, in its environment.
const PARENT: &str = "SUBSWEEP_GPU_PARENT";

/// What a command does with its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It opens none.
    Nothing,
    /// It compiles, or asks what the device is: a compile-only GPU will do.
    Compiler,
    /// It runs kernels.
    Hardware,
}

/// Which commands take a compile-only GPU: here and nowhere else.
fn need(command: &Command) -> Need {
    match command {
        Command::Compare(_) => Need::Nothing,
        Command::Devices(_) | Command::Inspect(_) | Command::Tune(_) => Need::Compiler,
        Command::Scan(_) | Command::Sort(_) | Command::Gather(_) | Command::Verify(_) | Command::Bench(_) => {
            Need::Hardware
        }
    }
}

/// The GPU that this process was started for as a child, if it was.
pub fn of_child() -> Option<&'static CompileOnlyGpu> {
    std::env::var(CHILD).ok().and_then(|name| CompileOnlyGpu::find(&name))
}

/// Ends a child with the process that started it: by then nobody reads what it prints, and nobody else would end it.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Some(parent) = std::env::var(PARENT).ok().and_then(|id| id.parse::<u32>().ok()) {
        // The parent's thread that starts a child waits for its end, so that the signal comes with the end of the process.
        // SAFETY: it takes a signal, touches no memory, and its effect is on this process alone.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
        // Of a parent that had ended before no signal comes.
        if std::os::unix::process::parent_id() != parent {
            std::process::exit(Exit::Failed as i32);
        }
    }
}

/// Threads to compile on: all, but of several children each has its share.
pub fn compiler_threads() -> NonZeroUsize {
    let share = std::env::var(THREADS).ok().and_then(|count| count.parse().ok());
    share.or(thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// Prints the table of `--list-gpus`.
pub fn list() -> Result<()> {
    let all = CompileOnlyGpu::all();
    let width = |text: fn(&CompileOnlyGpu) -> &str| all.iter().map(|gpu| text(gpu).len()).max().unwrap_or(0);
    let widths = [width(|gpu| gpu.name), width(|gpu| gpu.what), width(|gpu| gpu.driver)];
    let mut table = String::new();
    let mut row = |name, what, driver, state: &str| {
        let [a, b, c] = widths;
        let _ = writeln!(table, "{name:a$}  {what:b$}  {driver:c$}  {state}");
    };
    row("gpu:", "stands for", "Mesa's driver", "set up");
    for gpu in all {
        let state = match gpu.check() {
            Ok(()) => "yes",
            Err(_) => "no: run tools/setup gpus",
        };
        row(gpu.name, gpu.what, gpu.driver, state);
    }
    Ok(print(&table)?)
}

/// Runs the command once for each of `gpus`, if it is one that compile-only GPUs will do for; none for a command that opens
/// no device.
///
/// # Errors
/// That the command runs kernels, or that a GPU is not set up; the child's.
pub fn run(gpus: &[&'static CompileOnlyGpu], command: &Command, common: &Common) -> Option<Result<()>> {
    match (need(command), gpus) {
        (Need::Nothing, _) => None,
        (Need::Hardware, _) => Some(Err(Ended::usage(format!(
            "gpu: devices only compile, and {} has to run; name a device of subsweep devices",
            command.name()
        ))
        .into())),
        (Need::Compiler, [_, _, ..]) if matches!(command, Command::Tune(_)) => {
            let text = format!("tune takes one device, and {} lists several; name one", device::said_by());
            Some(Err(Ended::usage(text).into()))
        }
        (Need::Compiler, gpus) => {
            Some(check(command, common).and_then(|module| run_all(gpus, command, &module)))
        }
    }
}

/// Refuses what no child is needed to refuse, once. Returns what is on the standard input of each: a module, or nothing.
fn check(command: &Command, common: &Common) -> Result<Vec<u8>> {
    match command {
        Command::Inspect(args) => {
            Ok(inspect::check(args, common)?.map(|module| module.bytes).unwrap_or_default())
        }
        Command::Tune(args) => Ok(tune::check(args, common).map(|()| Vec::new())?),
        _ => Ok(Vec::new()),
    }
}

/// How a child, or what stands for it, has ended.
struct Ran {
    exit: Exit,
    /// What it printed.
    stdout: String,
    /// Why it ended otherwise than well.
    reason: Option<String>,
}

/// Children on all cores, whose output is printed in the order of `gpus`.
fn run_all(gpus: &[&'static CompileOnlyGpu], command: &Command, stdin: &[u8]) -> Result<()> {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN).get();
    let child_count = cores.min(gpus.len());
    let share = NonZeroUsize::new(cores.div_ceil(child_count)).unwrap_or(NonZeroUsize::MIN);
    let progress = match gpus {
        [gpu] => Progress::of_one(format!("gpu:{}", gpu.name)),
        _ => Progress::new(gpus.len()).ticking(),
    };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let work = |sender: mpsc::Sender<(usize, Ran)>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(gpu) = gpus.get(at) else { break };
            progress.show(format!("gpu:{}", gpu.name));
            let ran = run_one(gpu, share, stdin, &progress);
            progress.end();
            if sender.send((at, ran)).is_err() {
                break;
            }
        }
    };
    let joins_json = gpus.len() > 1 && prints_json(command);
    let (json, failures) = (joins_json.then(Vec::new), Vec::new());
    let mut printer = Printer { command, gpus, progress: &progress, json, failures };
    thread::scope(|scope| {
        for _ in 0..child_count {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        printer.print_all(receiver).inspect_err(|_| next.store(gpus.len(), Ordering::Relaxed))
    })?;
    printer.finish()
}

/// One child, with what it prints kept; what it says beside its last word goes on.
fn run_one(gpu: &'static CompileOnlyGpu, threads: NonZeroUsize, stdin: &[u8], progress: &Progress) -> Ran {
    let ended = |exit, reason| Ran { exit, stdout: String::new(), reason: Some(reason) };
    let mut command = match command_of(gpu, threads) {
        Ok(command) => command,
        Err(error) if error.is::<NotSetUp>() => return ended(Exit::NoDevice, error.to_string()),
        Err(error) => return ended(Exit::Failed, format!("{error:#}")),
    };
    match command.spawn() {
        Ok(child) => wait_for(child, stdin, progress)
            .unwrap_or_else(|error| ended(Exit::Failed, format!("its process is lost ({error})"))),
        Err(error) if is_of_loader(&error) => {
            ended(Exit::NoDevice, format!("its loader does not start ({error}); run tools/setup gpus"))
        }
        Err(error) => ended(Exit::Failed, format!("its process does not start ({error})")),
    }
}

/// What a started child prints, and how it ends.
fn wait_for(mut child: Child, stdin: &[u8], progress: &Progress) -> io::Result<Ran> {
    let (pipe, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut printed, mut reason) = (String::new(), None);
    let read = thread::scope(|scope| {
        // A child that does not read to the end says why.
        scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(stdin)));
        scope.spawn(|| {
            forward(stderr.into_iter(), |line| match line.strip_prefix("subsweep: ") {
                Some(word) => reason = Some(word.trim_end().to_owned()),
                None => progress.aside(|| words::print(line)),
            });
        });
        stdout.map_or(Ok(0), |mut stdout| stdout.read_to_string(&mut printed))
    });
    let status = child.wait()?;
    read?;
    let (exit, reason) = match exit_of(status, !stdin.is_empty()) {
        Ok(Exit::Done) => (Exit::Done, None),
        Ok(exit) => (exit, Some(reason.unwrap_or_else(|| format!("its process ended with {status}")))),
        Err(reason) => (Exit::Failed, Some(reason)),
    };
    Ok(Ran { exit, stdout: printed, reason })
}

fn command_of(gpu: &'static CompileOnlyGpu, threads: NonZeroUsize) -> Result<process::Command> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let mut command = gpu.command(program)?;
    command.args(std::env::args_os().skip(1)).env(CHILD, gpu.name).env(THREADS, threads.to_string());
    command.env(PARENT, process::id().to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// Whether a process does not start because of the file that it would be started from.
fn is_of_loader(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOEXEC) {
        return true;
    }
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// Gives `line` every line of a child's standard error but a shim's remarks, line end included.
fn forward(stderr: impl Iterator<Item = impl Read>, mut line: impl FnMut(&str)) {
    for stream in stderr {
        let mut reader = BufReader::new(stream);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&bytes);
            if !is_noise(&text) {
                line(&text);
            }
            bytes.clear();
        }
    }
}

/// How a child has ended, by its code; or in words, if the code is none of this program's.
fn exit_of(status: ExitStatus, has_module: bool) -> Result<Exit, String> {
    match status.code() {
        Some(code @ (126 | 127)) => Err(format!("its loader does not start ({code}); run tools/setup gpus")),
        Some(code) => Exit::of_code(code).ok_or_else(|| format!("its process ended with {status}")),
        None if has_module => Err(format!("its driver crashed ({status}); check the module with spirv-val")),
        None => Err(format!("its driver crashed ({status})")),
    }
}

/// Puts together what children print.
struct Printer<'a> {
    command: &'a Command,
    gpus: &'a [&'static CompileOnlyGpu],
    progress: &'a Progress,
    /// The elements of the array, with `--json` and several GPUs.
    json: Option<Vec<String>>,
    /// Of those who did not end well.
    failures: Vec<(Exit, String)>,
}

impl Printer<'_> {
    /// Takes all that comes, and prints each device as soon as those before it are printed.
    fn print_all(&mut self, receiver: mpsc::Receiver<(usize, Ran)>) -> Result<()> {
        let (mut waiting, mut next) = (BTreeMap::new(), 0);
        for (at, ran) in receiver {
            waiting.insert(at, ran);
            while let Some(ran) = waiting.remove(&next) {
                self.print_one(next, ran)?;
                next += 1;
            }
        }
        Ok(())
    }

    fn print_one(&mut self, at: usize, ran: Ran) -> Result<()> {
        let gpu = self.gpus[at];
        // What the child of one GPU prints is all that there is.
        let stdout = match &ran.reason {
            Some(reason) if self.gpus.len() > 1 => refusal(gpu, reason, self.command)?,
            _ => ran.stdout,
        };
        if let Some(reason) = ran.reason {
            let name = format!("gpu:{}", gpu.name);
            let text = if reason.contains(&name) { reason } else { format!("{name}: {reason}") };
            self.failures.push((ran.exit, text));
        }
        if let Some(json) = &mut self.json {
            json.push(elements(&stdout).to_owned());
            return Ok(());
        }
        let blank = if at > 0 { "\n" } else { "" };
        Ok(self.progress.aside(|| print(&format!("{blank}{stdout}")))?)
    }

    fn finish(self) -> Result<()> {
        if let Some(json) = self.json {
            let array = format!("[\n{}\n]\n", json.join(",\n"));
            self.progress.aside(|| print(&array))?;
        }
        let is_told = self.failures.len() < self.gpus.len();
        // A device that is not set up, or has no such pipeline, takes nothing from the others.
        let is_harmless = |exit| is_told && matches!(exit, Exit::NoDevice | Exit::Usage);
        match self.failures.into_iter().find(|(exit, _)| !is_harmless(*exit)) {
            Some((exit, text)) => Err(Ended::with(exit, text).into()),
            None => Ok(()),
        }
    }
}

fn prints_json(command: &Command) -> bool {
    match command {
        Command::Inspect(args) => args.json,
        Command::Devices(args) => args.json,
        _ => false,
    }
}

/// What the command prints for a GPU of which it has nothing but the reason.
fn refusal(gpu: &'static CompileOnlyGpu, reason: &str, command: &Command) -> Result<String> {
    match command {
        Command::Devices(args) => devices::refusal(gpu, reason, args),
        _ => inspect::refusal(gpu, reason, prints_json(command)),
    }
}

/// What is between the brackets of a JSON array that this program has printed.
fn elements(array: &str) -> &str {
    let trimmed = array.trim();
    let inner = trimmed.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(trimmed);
    inner.trim_matches('\n')
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn only_what_compiles_takes_such_a_device() {
        let need_of = |line: &str| {
            let cli = Cli::try_parse_from(["subsweep"].into_iter().chain(line.split(' '))).unwrap();
            need(&cli.command.unwrap())
        };
        for line in ["scan a", "sort a", "gather a --indices b", "verify", "bench"] {
            assert_eq!(need_of(line), Need::Hardware, "{line}");
        }
        for line in ["inspect", "devices", "tune sort"] {
            assert_eq!(need_of(line), Need::Compiler, "{line}");
        }
        assert_eq!(need_of("compare a b"), Need::Nothing);
    }

    #[test]
    fn arrays_of_several_children_make_one() {
        let arrays = [r#"[1]"#, "[\n  {\n    \"a\": [2]\n  }\n]\n"].map(elements);
        assert_eq!(arrays, ["1", "  {\n    \"a\": [2]\n  }"]);
    }

    #[test]
    fn remarks_of_shims_stay_behind() {
        let mut lines = Vec::new();
        let stderr = &b"DRM_SHIM: odd\nsubsweep: no\nUnknown DRM_IOCTL 5\n\xff\nlast"[..];
        forward([stderr].into_iter(), |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["subsweep: no\n", "\u{fffd}\n", "last"]);
    }
}
