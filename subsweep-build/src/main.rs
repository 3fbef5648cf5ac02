//! `subsweep-build [--compiler PATH] INCLUDE NAME USE… > NAME.h`: compiles functions into kernels, and writes them as a C header.

use std::io::{self, Write};
use std::process::ExitCode;

use subsweep_build::{Compiler, Functions, c_header, uses};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (program, arguments) = match &arguments[..] {
        [option, program, rest @ ..] if option == "--compiler" => (Some(program), rest),
        rest => (None, rest),
    };
    let [include, name, names @ ..] = arguments else {
        eprintln!(
            "usage: subsweep-build [--compiler PATH] INCLUDE NAME USE...\n\nPATH is the path of glslc or glslangValidator."
        );
        eprintln!("uses, and the functions of each:");
        for (name, functions) in uses() {
            let optional = if functions.contains(&"combine") { " [, transform] [, store]" } else { "" };
            eprintln!("  {name:<16}{}{optional}", functions.join(", "));
        }
        return ExitCode::from(2);
    };
    let functions = Functions::new(include).uses(names);
    let functions = match program.map(|program| (program, Compiler::at(program))) {
        None => functions,
        Some((_, Some(compiler))) => functions.compiler(compiler),
        Some((program, None)) => return failed(&format!("{program} is neither glslc nor glslangValidator")),
    };
    match functions.modules() {
        Ok(compiled) => match io::stdout().write_all(c_header(&compiled, name).as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&format!("standard output: {error}")),
        },
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(why: &str) -> ExitCode {
    eprintln!("subsweep-build: {why}");
    ExitCode::from(2)
}
