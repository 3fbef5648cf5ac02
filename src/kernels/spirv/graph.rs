//! Data flow of a kernel: a graph over ids, and its fixpoint.

use super::Id;
use std::collections::{HashMap, HashSet};

/// A set of push-constant members, one bit each, and possibly [`UNTRACED`] and [`ROUNDED`].
pub type Roots = u64;

/// The mark of an address that comes, or may come, from no push constant.
pub const UNTRACED: Roots = 1 << MAX_MEMBERS;

/// The mark of an address that is, or may be, rounded down to a word.
pub const ROUNDED: Roots = UNTRACED << 1;

/// The maximum of members of a block.
pub const MAX_MEMBERS: u32 = 62;

/// Values, and the flow between them.
#[derive(Debug)]
pub struct Graph {
    /// In instruction order, so that one pass over them suffices without loops.
    edges: Vec<Edge>,
    roots: HashMap<Id, Roots>,
    constants: HashSet<Id>,
    next: Id,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Id,
    to: Id,
    choice: bool,
    /// What an address gets on its way.
    mark: Roots,
}

impl Graph {
    /// A graph whose additional nodes are numbered from `bound`.
    pub fn new(bound: Id) -> Self {
        Self { edges: Vec::new(), roots: HashMap::new(), constants: HashSet::new(), next: bound }
    }

    /// Adds a value without an id: the result of a load.
    pub fn source(&mut self, roots: Roots) -> Id {
        let id = self.next;
        self.next += 1;
        self.roots.insert(id, roots);
        id
    }

    /// Marks a value as constant: it is not an address of other memory where it meets an address.
    pub fn constant(&mut self, id: Id) {
        self.constants.insert(id);
    }

    /// `to` is computed from `from`, and possibly from more: an address and an offset make an address.
    pub fn operand(&mut self, from: Id, to: Id) {
        self.edges.push(Edge { from, to, choice: false, mark: 0 });
    }

    /// `to` is `from` rounded down to a word.
    pub fn rounded(&mut self, from: Id, to: Id) {
        self.edges.push(Edge { from, to, choice: false, mark: ROUNDED });
    }

    /// `to` is either `from` or another value that flows into it.
    pub fn choice(&mut self, from: Id, to: Id) {
        self.edges.push(Edge { from, to, choice: true, mark: 0 });
    }

    /// The roots of every value with any. `pointers` are the device addresses among the values.
    pub fn solve(mut self, pointers: impl IntoIterator<Item = Id>) -> HashMap<Id, Roots> {
        self.flow();
        for id in pointers {
            if self.roots_of(id) == 0 && !self.constants.contains(&id) {
                self.roots.insert(id, UNTRACED);
            }
        }
        // A choice between an address and another value makes the latter an address, too.
        for index in 0..self.edges.len() {
            let Edge { from, to, choice, .. } = self.edges[index];
            let other = self.roots_of(from) == 0 && !self.constants.contains(&from);
            if choice && other && self.roots_of(to) != 0 {
                self.roots.entry(to).and_modify(|roots| *roots |= UNTRACED);
            }
        }
        self.flow();
        self.roots
    }

    fn roots_of(&self, id: Id) -> Roots {
        self.roots.get(&id).copied().unwrap_or(0)
    }

    fn flow(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for &Edge { from, to, mark, .. } in &self.edges {
                let more = self.roots.get(&from).copied().unwrap_or(0);
                if more != 0 {
                    let more = more | mark;
                    let roots = self.roots.entry(to).or_default();
                    changed |= *roots | more != *roots;
                    *roots |= more;
                }
            }
        }
    }
}
