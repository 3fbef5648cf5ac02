//! Commands in process groups of their own, which end with the run: after an error, a signal or their time.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::Stop;

/// Between two looks at what runs.
const PAUSE: Duration = Duration::from_millis(50);

/// What a command may take to end after the first signal.
const GRACE: Duration = Duration::from_secs(5);

/// The signal that ends the run, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// From now on a signal makes the next [`pause`] an error, so that everything is dropped.
pub fn catch_signals() {
    #[cfg(unix)]
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        extern "C" fn note(signal: libc::c_int) {
            SIGNAL.store(signal, Ordering::Relaxed);
        }
        let handler = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: all that the handler does is to store to an atomic. A signal that was ignored, as by `nohup`, stays so.
        unsafe {
            if libc::signal(signal, handler) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// Waits for a moment, or fails if a signal has come.
pub fn pause() -> Result<()> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => thread::sleep(PAUSE),
        signal => bail!(Stop::Signal(signal as u8)),
    }
    Ok(())
}

/// A command and all that it starts. If it still runs when this is dropped, it is ended.
pub struct Group {
    child: Child,
    is_over: bool,
}

impl Group {
    /// Starts a command, without standard input.
    pub fn start(command: &mut Command) -> Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.with_context(|| command.get_program().display().to_string())?;
        Ok(Self { child, is_over: false })
    }

    /// The exit status, if the command has ended.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        self.is_over = status.is_some();
        Ok(status)
    }

    /// Waits for the end of the command. Before each pause, and at the end, something else is done.
    pub fn wait_with(mut self, mut task: impl FnMut() -> Result<()>) -> Result<ExitStatus> {
        loop {
            let status = self.try_wait()?;
            task()?;
            match status {
                Some(status) => return Ok(status),
                None => pause()?,
            }
        }
    }

    /// Asks the command, and all that it has started, to end.
    pub fn terminate(&self) {
        #[cfg(unix)]
        self.signal(libc::SIGTERM);
    }

    #[cfg(unix)]
    fn signal(&self, signal: libc::c_int) {
        // SAFETY: a call without pointers. A negative number names a process group, which ran a moment ago.
        unsafe { libc::kill(-(self.child.id() as libc::pid_t), signal) };
    }

    pub fn wait(self) -> Result<ExitStatus> {
        self.wait_with(|| Ok(()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        #[cfg(unix)]
        for signal in [libc::SIGTERM, libc::SIGKILL] {
            self.signal(signal);
            let start = Instant::now();
            while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < GRACE {
                thread::sleep(PAUSE);
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command that says itself why it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = Group::start(command)?.wait()?;
    if !status.success() {
        bail!(Stop::Command(status.code().unwrap_or(1) as u8));
    }
    Ok(())
}

/// What a short command prints, without the ends of its last lines.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| command.get_program().display().to_string())?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// What git prints.
pub fn git(arguments: &[&str]) -> Result<String> {
    output(Command::new("git").args(arguments))
}

/// A hash of a text, of 16 hexadecimal digits.
pub fn hash(text: &str) -> Result<String> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), text)?;
    let digits = output(Command::new("git").args(["hash-object", "--no-filters"]).arg(file.path()))?;
    Ok(digits.chars().take(16).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_group_ends_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("child");
        let script = format!("sleep 600 & echo $! > '{}'; wait", file.display());
        let group = Group::start(Command::new("sh").args(["-c", &script])).unwrap();
        while !std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
            pause().unwrap();
        }
        let child: libc::pid_t = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        drop(group);
        // An orphan may take a moment to die, and the system another to reap it, when it is a zombie.
        let state = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let has_ended = |state: String| state.is_empty() || state.contains(") Z ");
        let asked = std::time::Instant::now();
        while !has_ended(state()) {
            assert!(asked.elapsed() < std::time::Duration::from_secs(60), "{}", state());
            pause().unwrap();
        }
    }
}
