//! Words for people, on standard error: standard output belongs to the data.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One line, whatever foreign text it quotes. Where standard error is closed nobody wants it.
pub fn say(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "subsweep: {}", escaped(&text.to_string()));
}

/// Foreign text that stays on its line and steers no terminal: control characters are escaped.
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

/// Words as they are, line ends included.
pub fn print(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Shows what is being done until it is dropped; on a terminal only.
#[derive(Debug)]
pub struct Doing(ProgressBar);

impl Doing {
    /// Work of unknown length.
    pub fn new(what: impl fmt::Display) -> Self {
        let bar = ProgressBar::new_spinner().with_message(what.to_string());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }
}

impl Drop for Doing {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows how far many pieces of work have come, until it is dropped; on a terminal only.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Of `count` pieces.
    pub fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} ({elapsed}, {eta} to go) {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Of one piece of work: its name, and for how long it has been done.
    pub fn of_one(name: String) -> Self {
        let bar = ProgressBar::new(1).with_message(name);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        Self(bar).ticking()
    }

    /// Drawn again and again, for pieces that take long.
    pub fn ticking(self) -> Self {
        self.0.enable_steady_tick(Duration::from_millis(100));
        self
    }

    /// What is being done now.
    pub fn show(&self, text: String) {
        self.0.set_message(text);
        self.0.tick();
    }

    /// One more piece has ended.
    pub fn end(&self) {
        self.0.inc(1);
    }

    /// The next piece begins.
    pub fn begin(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(1);
    }

    /// The next `count` pieces begin, all at once.
    pub fn begin_all(&self, name: &str, count: usize) {
        self.0.set_message(name.to_owned());
        self.0.inc(count as u64);
    }

    /// Does what writes to the terminal itself.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
