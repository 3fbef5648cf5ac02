//! The files of a command, by option. That they go together is checked here alone.

use super::output::{OutputError, Outputs};
use super::{Destination, Output, Source, identity};
use crate::error::{CommandError, usage};

/// What a command reads and writes. It is declared, then [checked](Self::checked) before anything is read, and
/// [prepared](Self::prepare) before a device is opened.
#[derive(Debug, Default)]
pub struct Job<'a> {
    inputs: Vec<Input<'a>>,
    /// The destinations that are given, with their options.
    outputs: Vec<(&'static str, Destination)>,
}

#[derive(Debug)]
struct Input<'a> {
    option: &'static str,
    source: &'a Source,
    /// Whether the device takes its elements as they are.
    is_array: bool,
}

impl<'a> Job<'a> {
    /// A job that writes its result to `-o`, by default to standard output.
    pub fn new(output: &Option<Destination>) -> Self {
        Self::default().output("-o", output.as_ref().unwrap_or(&Destination::Stdout))
    }

    /// Adds an input of elements, if it is given, by its option or the name of its argument.
    pub fn input(mut self, option: &'static str, source: impl Into<Option<&'a Source>>) -> Self {
        self.inputs.extend(source.into().map(|source| Input { option, source, is_array: true }));
        self
    }

    /// Adds an input of row numbers, if it is given. A file may have 64 bits for each, and the device takes 32.
    pub fn row_numbers(mut self, option: &'static str, source: impl Into<Option<&'a Source>>) -> Self {
        self.inputs.extend(source.into().map(|source| Input { option, source, is_array: false }));
        self
    }

    /// Adds an output, if it is given.
    pub fn output<'b>(mut self, option: &'static str, file: impl Into<Option<&'b Destination>>) -> Self {
        self.outputs.extend(file.into().map(|file| (option, file.clone())));
        self
    }

    /// Refuses two inputs that are standard input, two outputs that are one file or standard output, and any two that are one
    /// pipe, for which the command would wait for ever.
    pub fn checked(self) -> Result<Self, CommandError> {
        if let Some(input) = self.inputs.iter().filter(|input| *input.source == Source::Stdin).nth(1) {
            return Err(usage!("standard input is read once; name a file for {}", input.option));
        }
        for (index, (first, destination)) in self.outputs.iter().enumerate() {
            for (second, other) in &self.outputs[index + 1..] {
                if [destination, other] == [&Destination::Stdout; 2] {
                    return Err(usage!(
                        "standard output is written once; name a file with {first} or {second}"
                    ));
                }
                if destination.is_same_file_as(other) {
                    return Err(usage!("{first} and {second} name the same file; give each its own"));
                }
            }
        }
        let pipes = self.pipes();
        for (index, (first, pipe)) in pipes.iter().enumerate() {
            if let Some((second, _)) = pipes[index + 1..].iter().find(|(_, other)| other == pipe) {
                return Err(usage!("{first} and {second} name the same pipe; give each its own"));
            }
        }
        Ok(self)
    }

    /// Leaves out the output of `option`, which has been checked: the command prints it.
    pub fn prints(mut self, option: &'static str) -> Self {
        self.outputs.retain(|(other, _)| *other != option);
        self
    }

    /// The inputs and outputs that are pipes by their paths.
    fn pipes(&self) -> Vec<(&'static str, (u64, u64))> {
        let inputs = self.inputs.iter().filter_map(|input| match input.source {
            Source::File(path) => Some((input.option, path)),
            Source::Stdin => None,
        });
        let outputs = self.outputs.iter().filter_map(|(option, destination)| match destination {
            Destination::File(path) => Some((*option, path)),
            Destination::Stdout => None,
        });
        inputs.chain(outputs).filter_map(|(option, path)| Some((option, identity::of_pipe(path)?))).collect()
    }

    /// All inputs.
    pub fn sources(&self) -> Vec<&'a Source> {
        self.inputs.iter().map(|input| input.source).collect()
    }

    /// All outputs, with their options.
    pub fn outputs(&self) -> &[(&'static str, Destination)] {
        &self.outputs
    }

    /// Inputs whose elements the device takes as they are.
    pub fn arrays(&self) -> impl Iterator<Item = &'a Source> {
        self.inputs.iter().filter(|input| input.is_array).map(|input| input.source)
    }

    /// Prepares the outputs.
    ///
    /// # Errors
    /// One cannot be written, or is an input.
    pub fn prepare(&self) -> Result<Outputs, OutputError> {
        let sources = self.sources();
        let mut outputs = Vec::new();
        for (option, destination) in &self.outputs {
            outputs.push(Output::prepare(destination, option, &sources)?);
        }
        Ok(Outputs(outputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_stream_has_one_use() {
        let (file, output) = (Source::File("in".into()), Some(Destination::Stdout));
        let refusal = |job: Job<'_>| job.checked().err().map(|error| error.to_string());
        let job = || Job::new(&None).input("INPUT", &Source::Stdin);
        assert_eq!(refusal(job().input("--values", &file).output("--indices", &None)), None);
        let twice = job().input("--values", &file).row_numbers("--segments", &Source::Stdin);
        let text = "standard input is read once; name a file for --segments";
        assert_eq!(refusal(twice).as_deref(), Some(text));
        let text = "standard output is written once; name a file with -o or --indices";
        assert_eq!(refusal(job().output("--indices", &output)).as_deref(), Some(text));
    }

    #[test]
    fn an_option_that_is_not_given_names_no_file() {
        let (file, none) = (Source::File("in".into()), None);
        let job = Job::new(&None).input("INPUT", &file).input("--values", &none);
        let job = job.row_numbers("--segments", &Source::Stdin).output("--indices", &None);
        assert_eq!(job.sources(), [&file, &Source::Stdin]);
        assert_eq!(job.arrays().collect::<Vec<_>>(), [&file]);
        assert_eq!(job.outputs, [("-o", Destination::Stdout)]);
    }
}
