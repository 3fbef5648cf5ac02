//! `subsweep-build INCLUDE NAME USE… > NAME.h`: compiles functions into kernels, and writes them as a C header.

use std::io::{self, Write};
use std::process::ExitCode;

use subsweep_build::{Functions, c_header, uses};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [include, name, names @ ..] = &arguments[..] else {
        eprintln!("usage: subsweep-build INCLUDE NAME USE...\n\nuses, and the functions of each:");
        for (name, functions) in uses() {
            let optional = if functions.contains(&"combine") { " [, transform] [, store]" } else { "" };
            eprintln!("  {name:<16}{}{optional}", functions.join(", "));
        }
        return ExitCode::from(2);
    };
    match Functions::new(include).uses(names).modules() {
        Ok(compiled) => match io::stdout().write_all(c_header(&compiled, name).as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("subsweep-build: standard output: {error}");
                ExitCode::from(2)
            }
        },
        Err(error) => {
            eprintln!("subsweep-build: {error}");
            ExitCode::from(2)
        }
    }
}
