//! Where the values of a kernel come from: a graph over ids, and its fixpoint.

use super::Id;
use std::collections::{HashMap, HashSet};

/// A set of push-constant members, one bit each, and perhaps [`UNTRACED`].
pub type Roots = u64;

/// The mark of an address that comes from no push constant, or perhaps from none.
pub const UNTRACED: Roots = 1 << MAX_MEMBERS;

/// How many members of a block have a bit.
pub const MAX_MEMBERS: u32 = 63;

/// Values, and which of them flow into which.
#[derive(Debug)]
pub struct Graph {
    /// In the order of the instructions, so that all but loops are solved in one turn.
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
}

impl Graph {
    /// A graph whose own nodes are numbered from `bound`.
    pub fn new(bound: Id) -> Self {
        Self { edges: Vec::new(), roots: HashMap::new(), constants: HashSet::new(), next: bound }
    }

    /// A value that no instruction names: what a load gives.
    pub fn source(&mut self, roots: Roots) -> Id {
        let id = self.next;
        self.next += 1;
        self.roots.insert(id, roots);
        id
    }

    /// A value behind which no memory lies, so that nothing is lost where it meets an address.
    pub fn constant(&mut self, id: Id) {
        self.constants.insert(id);
    }

    /// `to` is computed from `from`, and perhaps from more: an address and a count make an address.
    pub fn operand(&mut self, from: Id, to: Id) {
        self.edges.push(Edge { from, to, choice: false });
    }

    /// `to` is `from`, or else another value that flows into it.
    pub fn choice(&mut self, from: Id, to: Id) {
        self.edges.push(Edge { from, to, choice: true });
    }

    /// The roots of every value that has any. `pointers` are the device addresses among the values.
    pub fn solve(mut self, pointers: impl IntoIterator<Item = Id>) -> HashMap<Id, Roots> {
        self.flow();
        for id in pointers {
            if self.roots_of(id) == 0 && !self.constants.contains(&id) {
                self.roots.insert(id, UNTRACED);
            }
        }
        // Where an address and some other value may be in one place, that value would be followed as an address too.
        for index in 0..self.edges.len() {
            let Edge { from, to, choice } = self.edges[index];
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
            for &Edge { from, to, .. } in &self.edges {
                let more = self.roots.get(&from).copied().unwrap_or(0);
                if more != 0 {
                    let roots = self.roots.entry(to).or_default();
                    changed |= *roots | more != *roots;
                    *roots |= more;
                }
            }
        }
    }
}
