//! Words for people, on standard error: standard output belongs to the data.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One line. Where standard error is closed nobody wants it.
pub fn say(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "subsweep: {text}");
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
