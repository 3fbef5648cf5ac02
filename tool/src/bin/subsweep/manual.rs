//! `subsweep completions`, and the manual for packages: both are made from the arguments that the program parses.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::{Cli, Common};
use crate::command::{Need, Run};
use crate::error::usage;
use crate::files::output::print;
use crate::{INVOCATION, device};

/// Print completions of the command line for a shell
///
/// bash reads them from a file named subsweep in ~/.local/share/bash-completion/completions, zsh from one named _subsweep in a
/// folder of its fpath, fish from subsweep.fish in ~/.config/fish/completions.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl Run for CompletionsArgs {
    fn run(&self, _: &Common) -> Result<()> {
        device::check_none("completions")?;
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), INVOCATION, &mut script);
        Ok(print(&String::from_utf8(script)?)?)
    }

    fn need(&self) -> Need {
        Need::Nothing
    }
}

/// Write a page of the manual for each command into a folder
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct ManArgs {
    /// The folder, which is made if there is none
    folder: PathBuf,
}

impl Run for ManArgs {
    fn run(&self, _: &Common) -> Result<()> {
        device::check_none("man")?;
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), &self.folder));
        written.map_err(|error| {
            let folder = self.folder.display();
            usage!("the pages cannot be written to {folder} ({error}); name another folder").into()
        })
    }

    fn need(&self) -> Need {
        Need::Nothing
    }
}
