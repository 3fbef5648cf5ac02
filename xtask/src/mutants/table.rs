//! The table of deliberate faults, `tools/mutants.txt`, which describes its format. `tests/mutants.rs` includes this file.

/// What a check runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A row of the driver matrix.
    Row(&'static str),
    /// Arguments of `cargo test`.
    Test(&'static [&'static str]),
}

/// Every target, by its name in the table.
const TARGETS: [(&str, Target); 17] = [
    ("4", Target::Row("lavapipe-4")),
    ("8", Target::Row("lavapipe-8")),
    ("16", Target::Row("lavapipe-16")),
    ("25", Target::Row("lavapipe-25-8")),
    ("32", Target::Row("lavapipe-wide-32")),
    ("swiftshader", Target::Row("swiftshader-4")),
    ("bounds", Target::Row("lavapipe-8-bounds")),
    ("races", Target::Row("lavapipe-8-races")),
    ("lib", Target::Test(&["--lib"])),
    ("bin", Target::Test(&["--bin", "subsweep"])),
    ("cli", Target::Test(&["--test", "cli"])),
    ("capi", Target::Test(&["--test", "capi"])),
    ("capi_header", Target::Test(&["--test", "capi_header"])),
    ("cluster", Target::Test(&["--test", "cluster"])),
    ("page", Target::Test(&["--test", "page"])),
    ("readme", Target::Test(&["--test", "readme"])),
    ("codegen", Target::Test(&["--test", "codegen"])),
];

/// A check, such as `8: scan/reduce`.
#[derive(Clone, Debug)]
pub struct Check {
    pub text: String,
    pub target: Target,
    /// A part of the names of its trials; without one, all trials run.
    pub words: Option<String>,
}

impl Check {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, words) = text.split_once(": ").map_or((text, None), |(name, words)| (name, Some(words)));
        let target = TARGETS.iter().find(|target| target.0 == name);
        let (_, target) = *target.ok_or_else(|| format!("not a check: {text}"))?;
        Ok(Self { text: text.to_owned(), target, words: words.map(str::to_owned) })
    }
}

/// A deliberate fault: a text in place of another.
#[derive(Clone, Debug)]
pub struct Fault {
    pub name: String,
    pub file: String,
    /// As in the table.
    pub checks_text: String,
    /// In the order in which they run.
    pub checks: Vec<Check>,
    /// As in the table.
    pub line: String,
    pub old: String,
    pub new: String,
}

impl Fault {
    fn parse(line: &str, file: &str, file_checks: &str) -> Result<Self, String> {
        let parts = || {
            let (name, rest) = line.split_at(line.find([':', ' '])?);
            let own = rest.strip_prefix(" {").and_then(|rest| rest.split_once('}'));
            let (checks, rest) = own.unwrap_or((file_checks, rest));
            let (old, new) = rest.strip_prefix(": ")?.split_once(" ==>")?;
            Some((name.to_owned(), checks.to_owned(), old, new.strip_prefix(' ').unwrap_or(new)))
        };
        let (name, checks_text, old, new) = parts().ok_or_else(|| format!("not a fault: {line}"))?;
        let checks = checks_text.split(", ").map(Check::parse).collect::<Result<_, _>>();
        let checks = checks.map_err(|why| format!("{name}: {why}"))?;
        let [old, new] = [old, new].map(|text| text.replace("\\n", "\n"));
        Ok(Self { name, file: file.to_owned(), checks_text, checks, line: line.to_owned(), old, new })
    }

    /// The source with the fault, or why it does not apply.
    pub fn apply(&self, source: &str) -> Result<String, String> {
        let Self { name, file, old, new, .. } = self;
        match source.matches(old).count() {
            1 if old == new => Err(format!("{name} changes nothing")),
            1 => Ok(source.replacen(old, new, 1)),
            count => Err(format!("{name}: {file} has {count} times: {old}")),
        }
    }
}

/// The faults of a table, or why a line is none.
pub fn parse(table: &str) -> Result<Vec<Fault>, String> {
    let (mut file, mut checks) = ("", "");
    let mut faults = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
            Some(head) => (file, checks) = head,
            None => faults.push(Fault::parse(line, file, checks)?),
        }
    }
    Ok(faults)
}
