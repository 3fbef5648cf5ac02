//! Messages on standard error; standard output carries data.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Prints one line, with foreign text escaped. Errors of writing are ignored.
pub fn print_line(text: impl fmt::Display) {
    // In one write: lines of several processes may go to one pipe.
    print(&format!("subsweep: {}\n", escaped(&text.to_string())));
}

/// Foreign text with control characters escaped, so that it stays on its line and cannot control the terminal.
pub fn escaped(text: &str) -> String {
    let escape = |c: char| {
        let escaped = c.is_control().then(|| c.escape_default());
        escaped.into_iter().flatten().chain((!c.is_control()).then_some(c))
    };
    text.chars().flat_map(escape).collect()
}

/// `1 pipeline`, `2 pipelines`.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Prints text as it is, line ends included.
pub fn print(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A progress bar, shown on a terminal until dropped.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `count` steps.
    pub fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} ({elapsed}, {eta} to go) {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// A spinner for a single step: its name and the elapsed time.
    pub fn of_one(name: impl fmt::Display) -> Self {
        let bar = ProgressBar::new(1).with_message(name.to_string());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        Self(bar).ticking()
    }

    /// A bar of bytes, of which `size` are expected, with their rate.
    pub fn of_bytes(name: impl fmt::Display, size: Option<u64>) -> Self {
        let progress = Self(ProgressBar::no_length().with_message(name.to_string()));
        progress.expect_bytes(size);
        progress.ticking()
    }

    fn expect_bytes(&self, size: Option<u64>) {
        let template = match size {
            Some(_) => "{msg}: {bytes} of {total_bytes} ({bytes_per_sec}, {eta} to go)",
            None => "{msg}: {bytes} ({bytes_per_sec}, {elapsed})",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.0.set_style(style);
        }
        match size {
            Some(size) => self.0.set_length(size),
            None => self.0.unset_length(),
        }
    }

    /// Shows how many bytes of the phase `name` are done, and once some are, an estimate of the time.
    pub fn show_bytes(&self, name: String, done_size: u64, size: Option<u64>) {
        if self.0.message() != name {
            self.0.reset();
            self.0.set_message(name);
        }
        let size = size.filter(|_| done_size > 0);
        if self.0.length() != size {
            self.expect_bytes(size);
        }
        self.0.set_position(done_size);
    }

    /// Counts the bytes that are read from `reader`.
    pub fn reads<R: Read>(&self, reader: R) -> impl Read + use<R> {
        self.0.wrap_read(reader)
    }

    /// Redraws the bar periodically, for long steps.
    pub fn ticking(self) -> Self {
        self.0.enable_steady_tick(Duration::from_millis(100));
        self
    }

    /// Shows the current step.
    pub fn show(&self, text: String) {
        self.0.set_message(text);
        self.0.tick();
    }

    /// Counts a step as ended.
    pub fn end(&self) {
        self.0.inc(1);
    }

    /// Shows and counts the next `count` steps, which run together.
    pub fn begin_all(&self, name: &str, count: usize) {
        self.0.set_message(name.to_owned());
        self.0.inc(count as u64);
    }

    /// Hides the bar while `write` writes to the terminal.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
