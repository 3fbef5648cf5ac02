//! Covering arrays: few rows that contain every pair of values of two axes.
//!
//! Most faults depend on at most two parameters, and the number of rows that cover all pairs grows with the product of
//! the two longest axes only. Built greedily, row by row, after Cohen, Dalal, Fredman and Patton, "The AETG System: An
//! Approach to Testing Based on Combinatorial Design", IEEE Transactions on Software Engineering 23(7), 1997, but
//! deterministic.

use std::collections::{BTreeSet, HashSet};

#[cfg(test)]
use super::primitive::Extent;
use super::primitive::PrimitiveCase;
use super::{Case, Work};
use crate::harness::inputs::Input;

/// A value of an axis, as the indices of axis and value.
pub(super) type Value = (usize, usize);

/// The values of a parameter, as functions that set them in a work.
pub(super) type Axis<W> = Vec<Box<dyn Fn(&mut W)>>;

/// The axis of `values`, stored into a work by `set`.
pub(super) fn axis<W: 'static, T: Clone + 'static>(values: &[T], set: fn(&mut W, T)) -> Axis<W> {
    let of = |value: &T| -> Box<dyn Fn(&mut W)> {
        let value = value.clone();
        Box::new(move |work| set(work, value.clone()))
    };
    values.iter().map(of).collect()
}

/// Works that differ in the values of axes: every pair of two axes' values that is valid is in one of them.
pub(super) struct CoveringSet<W> {
    plain: W,
    axes: Vec<Axis<W>>,
    required: Vec<Vec<Value>>,
    is_valid: Box<dyn Fn(&W) -> bool>,
    /// Inputs of which each is combined with every value.
    inputs: Vec<Input>,
    /// The work of the set that a case's work belongs to.
    #[cfg_attr(not(test), expect(dead_code, reason = "the check of pairs is a test"))]
    of_case: fn(W) -> W,
}

/// A work of a covering set.
pub(super) struct Covering<W> {
    pub(super) work: W,
    /// Index of its value on each axis.
    row: Vec<usize>,
}

impl<W: Clone> CoveringSet<W> {
    /// Variants of `plain`, of which those that are not valid are left out.
    pub(super) fn new(
        plain: W,
        axes: impl Into<Vec<Axis<W>>>,
        is_valid: impl Fn(&W) -> bool + 'static,
    ) -> Self {
        let axes = axes.into();
        let (required, inputs) = (Vec::new(), Vec::new());
        Self { plain, axes, required, is_valid: Box::new(is_valid), inputs, of_case: |work| work }
    }

    /// The set whose cases have works that `of_case` maps to works of the set.
    pub(super) fn of_cases(self, of_case: fn(W) -> W) -> Self {
        Self { of_case, ..self }
    }

    /// The set in which each of `required` is in at least one work, if valid.
    pub(super) fn with(self, required: Vec<Vec<Value>>) -> Self {
        Self { required, ..self }
    }

    /// The set whose cases combine each of `inputs` with every value.
    pub(super) fn on(self, inputs: &[Input]) -> Self {
        Self { inputs: inputs.to_vec(), ..self }
    }

    /// `plain` with these values.
    fn work(&self, values: &[Value]) -> W {
        let mut work = self.plain.clone();
        values.iter().for_each(|&(axis, value)| self.axes[axis][value](&mut work));
        work
    }

    fn lengths(&self) -> Vec<usize> {
        self.axes.iter().map(Vec::len).collect()
    }

    fn allows(&self, a: Value, b: Value) -> bool {
        (self.is_valid)(&self.work(&[a, b]))
    }

    /// The works: few that cover every pair, found greedily.
    pub(super) fn works(&self) -> Vec<Covering<W>> {
        let rows = covering_rows(&self.lengths(), &self.required, &|a, b| self.allows(a, b));
        rows.into_iter()
            .map(|row| Covering {
                work: self.work(&row.iter().copied().enumerate().collect::<Vec<_>>()),
                row,
            })
            .collect()
    }
}

/// Round-robin of inputs, until each was combined with every value of every axis of a covering set.
pub(super) struct InputTurns {
    inputs: Vec<Input>,
    /// Axis, value and input index of each combination so far.
    met: HashSet<(usize, usize, usize)>,
    /// Breaks ties round-robin: the input after the last one taken.
    next: usize,
}

impl InputTurns {
    pub(super) fn new(inputs: impl IntoIterator<Item = Input>) -> Self {
        Self { inputs: inputs.into_iter().collect(), met: HashSet::new(), next: 0 }
    }

    /// The input combined with the fewest values of a work so far.
    pub(super) fn take<W>(&mut self, covering: &Covering<W>) -> Input {
        let count = self.inputs.len();
        let turns = (0..count).map(|turn| (self.next + turn) % count);
        // `max_by_key` returns the last of equals: reversed, the first in turn.
        let index = turns.rev().max_by_key(|&index| self.gain(covering, index)).expect("there are inputs");
        self.met.extend(covering.row.iter().enumerate().map(|(axis, &value)| (axis, value, index)));
        self.next = index + 1;
        self.inputs[index]
    }

    /// Whether an input was not combined with a value of a work yet.
    pub(super) fn is_open<W>(&self, covering: &Covering<W>) -> bool {
        (0..self.inputs.len()).any(|index| self.gain(covering, index) > 0)
    }

    fn gain<W>(&self, covering: &Covering<W>, index: usize) -> usize {
        let values = covering.row.iter().enumerate();
        values.filter(|&(axis, &value)| !self.met.contains(&(axis, value, index))).count()
    }
}

impl<W: PrimitiveCase + Clone + Into<Work>> CoveringSet<W> {
    /// A case of each work, with the counts that `tile_and_counts` returns after the rows of its tile; then with the rows of
    /// several tiles, until each value was combined with each of the inputs.
    pub(super) fn tiled_cases(&self, tile_and_counts: impl Fn(&W) -> (u64, Vec<u64>)) -> Vec<Case> {
        let mut inputs = InputTurns::new(self.inputs.iter().copied());
        let mut cases = Vec::new();
        for covering in self.works() {
            let work = &covering.work;
            let (tile, counts) = tile_and_counts(work);
            cases.extend(counts.into_iter().map(|count| work.case(count, inputs.take(&covering))));
            while inputs.is_open(&covering) {
                cases.push(work.case(2 * tile + 5, inputs.take(&covering)));
            }
        }
        cases
    }
}

#[cfg(test)]
impl<W: PrimitiveCase + Clone + PartialEq> CoveringSet<W> {
    /// Works with a pair of values, and with a value an input, that none of the cases has though it is valid.
    pub(super) fn missing(&self, cases: &[(W, Input)]) -> Vec<String> {
        let cases: Vec<_> =
            cases.iter().map(|(work, input)| ((self.of_case)(work.clone()), *input)).collect();
        let mut pairs = HashSet::new();
        let mut on_inputs = HashSet::new();
        for Covering { work, row } in self.works() {
            let values: Vec<Value> = row.into_iter().enumerate().collect();
            for (_, input) in cases.iter().filter(|(other, _)| *other == work) {
                on_inputs.extend(values.iter().map(|&value| (value, *input)));
                pairs.extend(values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))));
            }
        }
        let lengths = self.lengths();
        let is_missing = |&(a, b): &(Value, Value)| self.allows(a, b) && !pairs.contains(&(a, b));
        let missing = pairs_of(&lengths).filter(is_missing).map(|(a, b)| self.work(&[a, b]).to_string());
        let on_input = |value| self.inputs.iter().map(move |&input| (value, input));
        let is_missing =
            |of: &(Value, Input)| (self.is_valid)(&self.work(&[of.0])) && !on_inputs.contains(of);
        let inputs = values_of(&lengths).flat_map(on_input).filter(is_missing);
        missing.chain(inputs.map(|(value, input)| format!("{};input={input}", self.work(&[value])))).collect()
    }

    /// The number of values of each axis, and the number of pairs that are not valid.
    pub(super) fn extent(&self) -> Extent {
        let lengths = self.lengths();
        let refused = pairs_of(&lengths).filter(|&(a, b)| !self.allows(a, b)).count();
        (lengths, refused)
    }
}

/// All values of axes with these numbers of values.
fn values_of(lengths: &[usize]) -> impl Iterator<Item = Value> {
    lengths.iter().enumerate().flat_map(|(axis, &length)| (0..length).map(move |value| (axis, value)))
}

/// All pairs of values of two of the axes, the value of the first axis first.
fn pairs_of(lengths: &[usize]) -> impl Iterator<Item = (Value, Value)> {
    let others = move |a: Value| values_of(lengths).filter(move |b| b.0 > a.0).map(move |b| (a, b));
    values_of(lengths).flat_map(others)
}

/// Rows of a value per axis that cover every pair of two axes' values in any row whose values are pairwise allowed.
/// `lengths` are the numbers of values of the axes. Each of `required` is in at least one row, if a row can contain it.
fn covering_rows(
    lengths: &[usize],
    required: &[Vec<Value>],
    allows: &dyn Fn(Value, Value) -> bool,
) -> Vec<Vec<usize>> {
    let mut search = Search { lengths, open: pairs_of(lengths).collect(), allows };
    let mut rows = Vec::new();
    let mut add = |search: &mut Search<'_>, start: &[Value]| {
        if let Some(row) = search.complete(start) {
            search.close(&row);
            rows.push(row);
        }
    };
    for start in required {
        add(&mut search, start);
    }
    while let Some(&(a, b)) = search.open.first() {
        add(&mut search, &[a, b]);
        // Covered now, or in no valid row.
        search.open.remove(&(a, b));
    }
    rows
}

struct Search<'a> {
    lengths: &'a [usize],
    /// Pairs that no row covers yet, the value of the first axis first.
    open: BTreeSet<(Value, Value)>,
    /// Of a pair, the value of the first axis first.
    allows: &'a dyn Fn(Value, Value) -> bool,
}

impl Search<'_> {
    fn allows(&self, a: Value, b: Value) -> bool {
        (self.allows)(a.min(b), a.max(b))
    }

    /// A row that contains `start` and greedily covers many open pairs, axis by axis.
    fn complete(&self, start: &[Value]) -> Option<Vec<usize>> {
        let is_consistent = |(index, &a): (usize, &Value)| start[..index].iter().all(|&b| self.allows(a, b));
        if !start.iter().enumerate().all(is_consistent) {
            return None;
        }
        let mut row = vec![None; self.lengths.len()];
        start.iter().for_each(|&(axis, value)| row[axis] = Some(value));
        // Long axes first: they have the most pairs.
        let mut axes: Vec<_> = (0..row.len()).filter(|&axis| row[axis].is_none()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(self.lengths[axis]));
        self.fill(&axes, &mut row).then(|| row.into_iter().flatten().collect())
    }

    /// Completes `row` with values of `axes`. Returns whether that is possible.
    fn fill(&self, axes: &[usize], row: &mut [Option<usize>]) -> bool {
        let Some((&axis, rest)) = axes.split_first() else { return true };
        let set = |row: &[Option<usize>]| -> Vec<Value> {
            row.iter().enumerate().filter_map(|(axis, value)| Some((axis, (*value)?))).collect()
        };
        let others = set(row);
        let is_allowed = |value: &usize| others.iter().all(|&other| self.allows((axis, *value), other));
        let mut values: Vec<_> = (0..self.lengths[axis]).filter(is_allowed).collect();
        let gain = |value| others.iter().filter(|&&other| self.is_open((axis, value), other)).count();
        // Open pairs with the remaining axes break ties.
        let future = |value| {
            let others = rest.iter().flat_map(|&other| (0..self.lengths[other]).map(move |at| (other, at)));
            others.filter(|&other| self.is_open((axis, value), other)).count()
        };
        values.sort_by_key(|&value| std::cmp::Reverse((gain(value), future(value))));
        for value in values {
            row[axis] = Some(value);
            if self.fill(rest, row) {
                return true;
            }
        }
        row[axis] = None;
        false
    }

    fn is_open(&self, a: Value, b: Value) -> bool {
        self.open.contains(&(a.min(b), a.max(b)))
    }

    /// Removes the pairs of a row.
    fn close(&mut self, row: &[usize]) {
        self.open.retain(|&((a, i), (b, j))| row[a] != i || row[b] != j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row that `allows` permits.
    fn all_rows(lengths: &[usize], allows: impl Fn(Value, Value) -> bool) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new()];
        for &length in lengths {
            let longer = |row: Vec<usize>| (0..length).map(move |value| [row.clone(), vec![value]].concat());
            rows = rows.into_iter().flat_map(longer).collect();
        }
        let is_allowed = |row: &Vec<usize>| {
            let values: Vec<Value> = row.iter().copied().enumerate().collect();
            let before = |index: usize| values[..index].iter().map(move |&a| (a, index));
            (0..values.len()).flat_map(before).all(|(a, index)| allows(a, values[index]))
        };
        rows.into_iter().filter(is_allowed).collect()
    }

    fn pairs(rows: &[Vec<usize>]) -> std::collections::BTreeSet<(Value, Value)> {
        let of_row = |row: &Vec<usize>| {
            let values: Vec<Value> = row.iter().copied().enumerate().collect();
            let after = |index: usize| values[index + 1..].iter().map(|&b| (values[index], b)).collect();
            (0..values.len()).flat_map(|index| -> Vec<_> { after(index) }).collect::<Vec<_>>()
        };
        rows.iter().flat_map(of_row).collect()
    }

    /// Compares the covered pairs with those found by brute force.
    #[track_caller]
    fn expect_covering(lengths: &[usize], max_rows: usize, allows: impl Fn(Value, Value) -> bool) {
        let rows = covering_rows(lengths, &[], &allows);
        let possible = all_rows(lengths, &allows);
        assert!(rows.iter().all(|row| possible.contains(row)));
        assert_eq!(pairs(&rows), pairs(&possible));
        assert!(rows.len() <= max_rows, "{} rows", rows.len());
        assert_eq!(rows, covering_rows(lengths, &[], &allows), "the same again");
    }

    #[test]
    fn rows_hold_every_pair() {
        expect_covering(&[3, 2], 6, |_, _| true);
        expect_covering(&[3, 3, 3, 3], 12, |_, _| true);
        expect_covering(&[7, 6, 2, 4, 3, 1], 46, |_, _| true);
        expect_covering(&[5], 0, |_, _| true);
        expect_covering(&[4, 0, 2], 0, |_, _| true);
    }

    #[test]
    fn rows_hold_every_pair_that_any_row_can_hold() {
        // As floats and bitwise operators, and an algorithm that takes one value of other axes alone.
        expect_covering(&[6, 7, 2, 3, 4], 60, |(a, i), (b, j)| match (a, b) {
            (0, 1) => !(i == 2 || i == 5) || j < 4,
            (3, 4) => i < 2 || j == 0,
            (1, 3) => j < 2 || i == 0,
            _ => true,
        });
        // (0, 0) and (1, 0) are allowed together, but with no value of the third axis.
        let blocked = |(a, i): Value, (b, j): Value| match (a, b) {
            (0, 2) => i > 0 || j == 0,
            (1, 2) => i > 0 || j == 1,
            _ => true,
        };
        expect_covering(&[2, 2, 2], 8, blocked);
        assert!(!pairs(&covering_rows(&[2, 2, 2], &[], &blocked)).contains(&((0, 0), (1, 0))));
    }

    #[test]
    fn required_values_are_in_a_row() {
        let required = [vec![(0, 2), (1, 2), (2, 2)], vec![(0, 1), (1, 1), (2, 1)], vec![(0, 0), (1, 0)]];
        let rows = covering_rows(&[3, 3, 3], &required, &|a, b| (a, b) != ((0, 0), (1, 0)));
        for values in &required[..2] {
            assert!(rows.iter().any(|row| values.iter().all(|&(axis, value)| row[axis] == value)));
        }
        assert!(!rows.iter().any(|row| row[..2] == [0, 0]), "no row can hold the last");
    }
}
