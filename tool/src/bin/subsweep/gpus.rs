//! `--device gpu:NAME`: commands that only compile, in a child process for each GPU.
//!
//! The program starts itself again through [`CompileOnlyGpu::command`] with the same arguments. The environment
//! variable [`CHILD`] makes the child use the only device that it finds.

use std::fmt::Write;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::num::NonZeroUsize;
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::{Context as _, Result};
use subsweep_tool::harness::gpus::{CompileOnlyGpu, NotSetUp, is_noise};

use crate::Command;
use crate::args::Common;
use crate::command::Need;
use crate::error::{CommandError, Exit, usage};
use crate::files::output::print;
use crate::terminal::{self, Progress};

/// Environment variable of a child: the GPU's name.
const CHILD: &str = "SUBSWEEP_GPU_CHILD";

/// Environment variable of a child: its number of compiler threads.
const THREADS: &str = "SUBSWEEP_GPU_THREADS";

/// Environment variable of a child: the parent's process id.
const PARENT: &str = "SUBSWEEP_GPU_PARENT";

/// The GPU of this process, if it is a child.
pub fn of_child() -> Option<&'static CompileOnlyGpu> {
    std::env::var(CHILD).ok().and_then(|name| CompileOnlyGpu::find(&name))
}

/// Makes a child end with its parent, as nothing else would end it.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Some(parent) = std::env::var(PARENT).ok().and_then(|id| id.parse::<u32>().ok()) {
        // The parent's thread that starts a child waits for it, so the signal comes when the parent process ends.
        // SAFETY: the call takes a signal number, touches no memory, and affects only this process.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
        // No signal comes if the parent has ended already.
        if std::os::unix::process::parent_id() != parent {
            std::process::exit(Exit::Failed as i32);
        }
    }
}

/// Number of compiler threads: all cores, or a child's share of them.
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
            Err(NotSetUp::Elsewhere { .. }) => "no: on Linux (x86-64) only",
            Err(_) => "no: run tools/setup gpus",
        };
        row(gpu.name, gpu.what, gpu.driver, state);
    }
    Ok(print(&table)?)
}

/// Runs the command once for each of `gpus`, if compile-only GPUs suffice for it; none for a command without a
/// device.
///
/// # Errors
/// The command runs kernels, a GPU is not set up, or a child fails.
pub fn run(gpus: &[&'static CompileOnlyGpu], command: &Command, common: &Common) -> Option<Result<()>> {
    match command.need() {
        Need::Nothing => None,
        Need::Hardware => Some(Err(usage!(
            "gpu: devices only compile, and {} has to run; name a device of subsweep devices",
            command.name()
        )
        .into())),
        Need::Compiler => {
            Some(command.check_for_children(common).and_then(|stdin| run_all(gpus, command, &stdin)))
        }
    }
}

/// The result of a child, or of the attempt to start it.
struct Ran {
    exit: Exit,
    /// Its standard output.
    stdout: String,
    /// The reason of a failure.
    reason: Option<String>,
}

/// Runs children on all cores, and prints their output in the order of `gpus`.
fn run_all(gpus: &[&'static CompileOnlyGpu], command: &Command, stdin: &[u8]) -> Result<()> {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN).get();
    let child_count = cores.min(gpus.len());
    let share = NonZeroUsize::new(cores.div_ceil(child_count)).unwrap_or(NonZeroUsize::MIN);
    let progress = match gpus {
        [gpu] => Progress::of_one(format_args!("gpu:{}", gpu.name)),
        _ => Progress::new(gpus.len()).ticking(),
    };
    // A channel for each GPU, as results are printed in the order of `gpus`.
    let (senders, receivers): (Vec<_>, Vec<_>) = gpus.iter().map(|_| mpsc::channel()).unzip();
    let jobs = Mutex::new(gpus.iter().zip(senders));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((gpu, sender)) = next() {
            progress.show(format!("gpu:{}", gpu.name));
            let ran = run_one(gpu, share, stdin, &progress);
            progress.end();
            // Nothing is received after an error of printing.
            let _ = sender.send(ran);
        }
    };
    let joins_json = gpus.len() > 1 && command.prints_json();
    let (json, failures) = (joins_json.then(Vec::new), Vec::new());
    let mut printer = Printer { command, gpus, progress: &progress, json, failures };
    thread::scope(|scope| {
        for _ in 0..child_count {
            scope.spawn(work);
        }
        let printed = receivers
            .into_iter()
            .enumerate()
            .try_for_each(|(at, receiver)| receiver.recv().map_or(Ok(()), |ran| printer.print(at, ran)));
        // After an error no child is started.
        printed.inspect_err(|_| while next().is_some() {})
    })?;
    printer.finish()
}

/// Runs one child and collects its output; standard error is forwarded except for the final error.
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

/// Waits for a child: its output and result.
fn wait_for(mut child: Child, stdin: &[u8], progress: &Progress) -> io::Result<Ran> {
    let (pipe, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut printed, mut reason) = (String::new(), None);
    let read = thread::scope(|scope| {
        // A child that does not read all its input reports why.
        scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(stdin)));
        scope.spawn(|| {
            forward(stderr.into_iter(), |line| match line.strip_prefix("subsweep: ") {
                Some(word) => reason = Some(word.trim_end().to_owned()),
                None => progress.suspend(|| terminal::print(line)),
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

/// Whether a process failed to start because of its executable, which is the loader.
fn is_of_loader(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOEXEC) {
        return true;
    }
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// Calls `line` for every line of a child's standard error, line end included, except a shim's messages.
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

/// A child's exit by its code, or an error text for a code that this program does not use.
fn exit_of(status: ExitStatus, has_module: bool) -> Result<Exit, String> {
    match status.code() {
        Some(code @ (126 | 127)) => Err(format!("its loader does not start ({code}); run tools/setup gpus")),
        Some(code) => Exit::of_code(code).ok_or_else(|| format!("its process ended with {status}")),
        None if has_module => Err(format!("its driver crashed ({status}); check the module with spirv-val")),
        None => Err(format!("its driver crashed ({status})")),
    }
}

/// Joins the output of children.
struct Printer<'a> {
    command: &'a Command,
    gpus: &'a [&'static CompileOnlyGpu],
    progress: &'a Progress,
    /// The elements of the array, with `--json` and several GPUs.
    json: Option<Vec<String>>,
    /// Exits and reasons of children that failed.
    failures: Vec<(Exit, String)>,
}

impl Printer<'_> {
    /// Prints the output for a GPU.
    fn print(&mut self, at: usize, ran: Ran) -> Result<()> {
        let gpu = self.gpus[at];
        // With one GPU the child's output is complete.
        let stdout = match &ran.reason {
            Some(reason) if self.gpus.len() > 1 => self.command.refusal(gpu, reason)?,
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
        Ok(self.progress.suspend(|| print(&format!("{blank}{stdout}")))?)
    }

    fn finish(self) -> Result<()> {
        if let Some(json) = self.json {
            let array = format!("[\n{}\n]\n", json.join(",\n"));
            self.progress.suspend(|| print(&array))?;
        }
        let has_output = self.failures.len() < self.gpus.len();
        // With several GPUs, one that is not set up or has no such pipeline is no failure.
        let is_harmless = |exit| has_output && matches!(exit, Exit::NoDevice | Exit::Usage);
        match self.failures.into_iter().find(|(exit, _)| !is_harmless(*exit)) {
            Some((exit, text)) => Err(CommandError::with(exit, text).into()),
            None => Ok(()),
        }
    }
}

/// The text between the brackets of a JSON array that this program has printed.
fn elements(array: &str) -> &str {
    let trimmed = array.trim();
    let inner = trimmed.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(trimmed);
    inner.trim_matches('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_several_children_are_joined() {
        let arrays = [r#"[1]"#, "[\n  {\n    \"a\": [2]\n  }\n]\n"].map(elements);
        assert_eq!(arrays, ["1", "  {\n    \"a\": [2]\n  }"]);
    }

    #[test]
    fn messages_of_shims_are_filtered() {
        let mut lines = Vec::new();
        let stderr = &b"DRM_SHIM: odd\nsubsweep: no\nUnknown DRM_IOCTL 5\n\xff\nlast"[..];
        forward([stderr].into_iter(), |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["subsweep: no\n", "\u{fffd}\n", "last"]);
    }
}
