//! The printed table.

use std::fmt;

use crate::occupancy::{Multiprocessor, Needs};

/// The work by which kernels are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    Keys,
    Pairs,
    Keys64,
    Scan,
}

impl Work {
    pub const ALL: [Self; 4] = [Self::Keys, Self::Pairs, Self::Keys64, Self::Scan];

    /// The name in a peer's text file.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Pairs => "pairs",
            Self::Keys64 => "keys64",
            Self::Scan => "scan",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Keys => "u32 keys, one 8-bit pass",
            Self::Pairs => "u32 keys with 4-byte values, one 8-bit pass",
            Self::Keys64 => "u64 keys, one 8-bit pass",
            Self::Scan => "scan of u32",
        }
    }
}

/// Instructions on the main path.
#[derive(Debug, Clone, Copy)]
pub enum MainPath {
    /// Of a build with the main path only.
    Build(u32),
    /// Of such builds, for the subgroup that looks back and for the others.
    Builds { first: u32, others: u32 },
    /// Upper bound: the whole kernel.
    Whole(u32),
    /// Unknown: subgroups are specialised, and shared memory is sized at launch.
    Specialized,
}

/// A kernel compiled by one compiler.
#[derive(Debug)]
pub struct Row {
    pub work: Work,
    pub name: String,
    pub compiler: String,
    /// The multiprocessor of its GPU.
    pub multiprocessor: Multiprocessor,
    pub needs: Needs,
    pub items: u32,
    pub static_instructions: u32,
    pub main_path: MainPath,
    pub spills: u32,
}

impl MainPath {
    fn text(self, items: u32) -> String {
        let per_item = |instructions: u32| {
            let value = f64::from(instructions) / f64::from(items);
            if value < 20.0 { format!("{value:.1}") } else { format!("{value:.0}") }
        };
        match self {
            Self::Build(instructions) => per_item(instructions),
            Self::Builds { first, others } => format!("{}; {}", per_item(first), per_item(others)),
            Self::Whole(instructions) => format!("≤ {}", per_item(instructions)),
            Self::Specialized => "-".to_owned(),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Needs { workgroup_size, lanes, registers, shared_memory } = self.needs;
        let (shared, resident) = if matches!(self.main_path, MainPath::Specialized) {
            ("at launch".to_owned(), "-".to_owned())
        } else {
            let workgroups = self.multiprocessor.resident_workgroups(self.needs);
            let room = self.multiprocessor.invocations(lanes);
            (shared_memory.to_string(), format!("{workgroups} × {workgroup_size} of {room}"))
        };
        let spills = if self.spills > 0 { format!(", {} spills", self.spills) } else { String::new() };
        write!(
            f,
            "| {} | {} | {workgroup_size} × {} | {} | {} | {registers}{spills} | {shared} | {resident} |",
            self.name,
            self.compiler,
            self.items,
            self.static_instructions,
            self.main_path.text(self.items),
        )
    }
}

/// Prints all rows, by work and then in the given order.
pub fn print(mut rows: Vec<Row>) {
    rows.sort_by_key(|row| row.work);
    println!(
        "| kernel | compiler | workgroup × items | instructions | main path, per item | registers | shared memory, bytes | \
         resident workgroups |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for work in Work::ALL {
        let rows: Vec<_> = rows.iter().filter(|row| row.work == work).collect();
        if !rows.is_empty() {
            println!("| **{}** | | | | | | | |", work.title());
        }
        for row in rows {
            println!("{row}");
        }
    }
}
