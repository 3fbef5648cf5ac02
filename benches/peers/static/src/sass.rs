//! Instruction counts in listings of `nvdisasm -c`.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result, bail};

/// A function of a listing.
#[derive(Debug, Default)]
pub struct Function {
    /// Without predicates, which are separate fields.
    instructions: Vec<Instruction>,
    /// Index of the instruction after each label.
    labels: HashMap<String, usize>,
}

#[derive(Debug)]
struct Instruction {
    opcode: String,
    is_predicated: bool,
    targets: Vec<String>,
}

/// The functions of a listing, by their names.
pub fn functions(listing: &str) -> HashMap<String, Function> {
    let mut functions: HashMap<String, Function> = HashMap::new();
    let mut current = None;
    for line in listing.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix(".section\t") {
            current =
                section.strip_prefix(".text.").map(|rest| rest.split(',').next().unwrap_or(rest).to_owned());
            continue;
        }
        let Some(name) = &current else { continue };
        let function = functions.entry(name.clone()).or_default();
        if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with(".L")) {
            function.labels.insert(label.to_owned(), function.instructions.len());
        } else if let Some(instruction) = Instruction::parse(line) {
            function.instructions.push(instruction);
        }
    }
    functions
}

impl Instruction {
    /// Parses `/*00b0*/ @!P0 BRA `(.L_x_3) ;`; `None` for any other line.
    fn parse(line: &str) -> Option<Self> {
        let (address, text) = line.strip_prefix("/*")?.split_once("*/")?;
        if address.is_empty() || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let text = text.trim();
        let (is_predicated, text) = match text.strip_prefix('@') {
            Some(rest) => (true, rest.split_once(' ')?.1.trim_start()),
            None => (false, text),
        };
        let opcode = text.split([' ', ';']).next()?.to_owned();
        let targets =
            text.split("`(").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect();
        // A branch may also have its predicate among the operands.
        let is_branch = opcode.starts_with("BRA");
        let has_predicate = text.split([' ', ',']).any(|word| {
            let word = word.trim_start_matches('!');
            matches!(word.strip_prefix("UP").or(word.strip_prefix('P')), Some(rest) if rest.parse::<u32>().is_ok())
        });
        Some(Self { opcode, is_predicated: is_predicated || (is_branch && has_predicate), targets })
    }
}

impl Function {
    /// All instructions except padding.
    pub fn static_instructions(&self) -> u32 {
        self.instructions.iter().filter(|one| one.opcode != "NOP").count() as u32
    }

    /// The instructions reachable while the lanes of each warp are converged: targets of BRA.DIV, which reconverge
    /// lanes, are excluded. Both sides of every other branch count, and loop bodies once.
    ///
    /// # Errors
    /// A missing label; an indirect branch.
    pub fn reachable_instructions(&self) -> Result<u32> {
        let (mut seen, mut next) = (HashSet::new(), vec![0]);
        while let Some(index) = next.pop() {
            let Some(instruction) = self.instructions.get(index) else { continue };
            if !seen.insert(index) {
                continue;
            }
            let kind = instruction.opcode.split('.').next().unwrap_or_default();
            let ends = match kind {
                "EXIT" | "RET" => true,
                "BRA" if instruction.opcode.starts_with("BRA.DIV") => false,
                "BRA" | "CALL" => {
                    for target in &instruction.targets {
                        next.push(*self.labels.get(target).with_context(|| format!("no label {target}"))?);
                    }
                    kind == "BRA"
                }
                "BRX" | "JMX" => bail!("an indirect branch, which the count does not follow"),
                _ => false,
            };
            if !ends || instruction.is_predicated {
                next.push(index + 1);
            }
        }
        Ok(seen.iter().filter(|&&index| self.instructions[index].opcode != "NOP").count() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "
\t.section\t.text.main_path,\"ax\",@progbits
\t.sectioninfo\t@\"SHI_REGISTERS=8\"
.text.main_path:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_0) ;
        /*0020*/                   IADD3 R1, R1, 0x1, RZ ;
        /*0030*/                   BRA.DIV UR4, `(.L_x_1) ;
.L_x_0:
        /*0040*/                   BRA P1, `(.L_x_0) ;
        /*0050*/                   EXIT ;
.L_x_1:
        /*0060*/                   WARPSYNC.COLLECTIVE R65, `(.L_x_2) ;
.L_x_2:
        /*0070*/                   BRA `(.L_x_0) ;
        /*0080*/                   NOP;
\t.section\t.nv.info,\"a\"
        /*0000*/ \t.byte\t0x04, 0x2f
";

    #[test]
    fn both_branches_count_and_reconvergence_does_not() {
        let functions = functions(LISTING);
        let function = &functions["main_path"];
        assert_eq!(functions.len(), 1);
        assert_eq!(function.static_instructions(), 8);
        assert_eq!(function.reachable_instructions().unwrap(), 6);
    }
}
