//! Jobs in parallel, each of which prints when it ends.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::process::{Command, ExitStatus};
use std::time::Instant;

use anyhow::Result;

use super::record::Record;
use crate::print;
use crate::process::{Group, pause};

struct Job<'a> {
    name: String,
    group: Group,
    log: File,
    start: Instant,
    record: Option<&'a Record>,
}

pub struct Jobs<'a> {
    max_running: usize,
    running: Vec<Job<'a>>,
    pub have_failed: bool,
}

impl<'a> Jobs<'a> {
    pub fn new(max_running: usize) -> Self {
        Self { max_running, running: Vec::new(), have_failed: false }
    }

    /// Starts a job, as soon as one may be started; its success is recorded.
    pub fn start(&mut self, name: &str, command: &mut Command, record: Option<&'a Record>) -> Result<()> {
        while self.running.len() >= self.max_running {
            self.wait_for_one()?;
        }
        let log = tempfile::tempfile()?;
        let group = Group::start(command.stdout(log.try_clone()?).stderr(log.try_clone()?))?;
        self.running.push(Job { name: name.to_owned(), group, log, start: Instant::now(), record });
        Ok(())
    }

    pub fn finish(&mut self) -> Result<()> {
        while !self.running.is_empty() {
            self.wait_for_one()?;
        }
        Ok(())
    }

    fn wait_for_one(&mut self) -> Result<()> {
        loop {
            for index in 0..self.running.len() {
                if let Some(status) = self.running[index].group.try_wait()? {
                    self.have_failed |= !status.success();
                    return self.running.swap_remove(index).report(status);
                }
            }
            pause()?;
        }
    }
}

impl Job<'_> {
    fn report(mut self, status: ExitStatus) -> Result<()> {
        let (mut log, elapsed) = (Vec::new(), self.start.elapsed());
        self.log.rewind()?;
        self.log.read_to_end(&mut log)?;
        io::stdout().write_all(&log)?;
        let end = if status.success() { "ok" } else { "FAILED" };
        print(format_args!("test: {}: {end}, {} s", self.name, elapsed.as_secs()))?;
        match self.record.filter(|_| status.success()) {
            Some(record) => record.keep(&self.name, &String::from_utf8_lossy(&log), elapsed),
            None => Ok(()),
        }
    }
}
