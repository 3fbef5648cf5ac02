//! The twin of `glsl/sort/survey.comp`, and of the words of `schedule.glsl` that it writes.

use super::Digit;

/// An array of keys or values, by the name that a route has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Array {
    /// The caller's.
    Callers = 0,
    /// The one in scratch.
    Aside = 1,
    /// Of keys: the second in scratch. Of values, before a pass: none, for they are the keys' places.
    Other = 2,
}

/// Between which arrays a pass goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Of keys: before, and after.
    pub keys: (Array, Array),
    /// Of values.
    pub values: (Array, Array),
    /// The region of statuses that is in use.
    pub region: u32,
}

impl Route {
    /// `route_word`.
    pub fn word(&self) -> u32 {
        let names = [self.keys.0, self.keys.1, self.values.0, self.values.1];
        let arrays = names.iter().rev().fold(0, |word, &name| word << 2 | name as u32);
        arrays | self.region << 8
    }
}

/// One dispatch of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled {
    /// Tiles, none if it is left out.
    pub tile_count: usize,
    /// Keys in the last tile.
    pub last_extent: usize,
    /// Between which arrays it goes.
    pub route: Route,
}

impl Scheduled {
    /// `schedule_dispatch`: the words that the device finds, but for the last, which nobody writes. There is room for
    /// `max_row` workgroups in a row, and `radix` digits.
    pub fn words(&self, max_row: usize, radix: usize) -> [u32; 7] {
        let rows = self.tile_count.div_ceil(max_row).max(1);
        let words = [
            self.tile_count.div_ceil(rows),
            rows,
            1,
            self.tile_count,
            self.last_extent,
            self.route.word() as usize,
            self.tile_count * radix,
        ];
        words.map(|word| word as u32)
    }
}

/// Where the result is to be: push constant `aim`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Where the keys were; passes in which all agree are left out.
    InPlace = 0,
    /// Where the last pass leaves it; all passes run.
    Anywhere = 1,
    /// The keys stay, and their places are told.
    Places = 2,
}

/// The push constants of a survey.
#[derive(Debug, Clone, Copy)]
pub struct Survey {
    /// Keys in a tile of a pass.
    pub pass_tile_items: usize,
    /// Tiles of a dispatch, at most.
    pub portion_tiles: usize,
    /// Dispatches of a pass.
    pub portion_count: usize,
    /// The first bit to sort by.
    pub begin_bit: u32,
    /// The bit behind the last.
    pub end_bit: u32,
    /// Specialization constant `PASS_COUNT`.
    pub pass_count: u32,
    /// Where the result is to be.
    pub aim: Aim,
}

/// What is known before the keys at hand are looked at: of none, but where counts are to go beyond a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before {
    /// How many keys others have looked at, which show in the schedule alone.
    pub keys: u64,
    /// How many keys of each digit the bins of each pass have.
    pub of_each_digit: u64,
}

/// What a survey finds.
#[derive(Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// Bits of the order that some key has.
    pub set: u64,
    /// And that some key lacks.
    pub clear: u64,
    /// The dispatches of every pass, portion by portion, and behind them that of the copy.
    pub schedule: Vec<Scheduled>,
    /// Where the first key of each digit goes, for each pass.
    pub bins: Vec<Vec<u64>>,
}

impl Survey {
    /// `digit_of_pass`, of each pass.
    pub fn digits(&self) -> Vec<Digit> {
        let bits = self.end_bit - self.begin_bit;
        let (least, wider) = (bits / self.pass_count, bits % self.pass_count);
        let digit = |pass| {
            let width = least + u32::from(pass < wider);
            let shift = self.begin_bit + pass * least + wider.min(pass);
            Digit { shift: if width == 0 { 0 } else { shift }, mask: (1 << width) - 1 }
        };
        (0..self.pass_count).map(digit).collect()
    }

    /// `survey.comp`: of the orders of all keys, of which there is at least one, in digits of so many values.
    pub fn of(&self, orders: &[u64], key_bits: u32, radix: usize) -> Surveyed {
        self.behind(Before::default(), orders, key_bits, radix)
    }

    /// The same, as the last of those who look at keys.
    pub fn behind(&self, before: Before, orders: &[u64], key_bits: u32, radix: usize) -> Surveyed {
        let all = u64::MAX >> (64 - key_bits);
        let set = orders.iter().fold(0, |set, order| set | order);
        let clear = orders.iter().fold(0, |clear, order| clear | !order & all);
        let digits = self.digits();
        let of = |order: u64, digit: &Digit| (order >> digit.shift) as usize & digit.mask as usize;
        let bins = |digit: &Digit| {
            let mut bins = vec![before.of_each_digit; radix];
            orders.iter().for_each(|&order| bins[of(order, digit)] += 1);
            let mut first = 0;
            bins.iter_mut().for_each(|bin| first += std::mem::replace(bin, first));
            bins
        };
        let mut runs: Vec<bool> =
            digits.iter().map(|digit| self.aim == Aim::Anywhere || of(set & clear, digit) != 0).collect();
        // Somebody must tell the places.
        if self.aim == Aim::Places && !runs.contains(&true) {
            runs[0] = true;
        }
        Surveyed {
            set,
            clear,
            schedule: self.schedule(&runs, before.keys as usize + orders.len()),
            bins: digits.iter().map(bins).collect(),
        }
    }

    /// `schedule_passes`, of which some run, over `count` keys.
    fn schedule(&self, runs: &[bool], count: usize) -> Vec<Scheduled> {
        let tile_count = count.div_ceil(self.pass_tile_items);
        let last_extent = count - (tile_count - 1) * self.pass_tile_items;
        let mut schedule = Vec::new();
        let (mut before, mut left) = (0, runs.iter().filter(|&&is_run| is_run).count());
        for &is_run in runs {
            let route = self.route(before, left);
            for portion in 0..self.portion_count {
                let tiles = if is_run { tile_count } else { 0 };
                let behind = tiles.saturating_sub(portion * self.portion_tiles);
                let is_full = behind > self.portion_tiles;
                schedule.push(Scheduled {
                    tile_count: behind.min(self.portion_tiles),
                    last_extent: if is_full { self.pass_tile_items } else { last_extent },
                    route,
                });
            }
            before += usize::from(is_run);
            left -= usize::from(is_run);
        }
        let is_copied = self.aim == Aim::InPlace && before % 2 == 1;
        let back = (Array::Aside, Array::Callers);
        let route = Route { keys: back, values: back, region: 0 };
        schedule.push(Scheduled { tile_count: if is_copied { tile_count } else { 0 }, last_extent, route });
        schedule
    }

    /// Of a pass before which so many have run, and so many are left with itself.
    fn route(&self, before: usize, left: usize) -> Route {
        let (is_even, region) = (before.is_multiple_of(2), before as u32 % 2);
        let turn = if is_even { (Array::Callers, Array::Aside) } else { (Array::Aside, Array::Callers) };
        if self.aim != Aim::Places {
            return Route { keys: turn, values: turn, region };
        }
        let keys = match (before, is_even) {
            (0, _) => (Array::Callers, Array::Aside),
            (_, true) => (Array::Other, Array::Aside),
            (_, false) => (Array::Aside, Array::Other),
        };
        // The last of all writes the caller's.
        let (near, far) =
            if left % 2 == 1 { (Array::Callers, Array::Aside) } else { (Array::Aside, Array::Callers) };
        Route { keys, values: (if before == 0 { Array::Other } else { far }, near), region }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(aim: Aim, count: u32) -> Survey {
        let (begin_bit, end_bit) = (0, 8 * count);
        Survey {
            pass_tile_items: 4,
            portion_tiles: 2,
            portion_count: 3,
            begin_bit,
            end_bit,
            pass_count: count,
            aim,
        }
    }

    /// Follows the routes of those dispatches that run; where keys and values end.
    fn ends(schedule: &[Scheduled]) -> (Array, Option<Array>) {
        let (mut keys, mut values) = (Array::Callers, None);
        for scheduled in schedule.iter().filter(|scheduled| scheduled.tile_count > 0) {
            let route = scheduled.route;
            // The portions of a pass share its route.
            if route.keys.1 != keys {
                assert_eq!(route.keys.0, keys);
                assert!(values.is_none_or(|values| route.values.0 == values));
            }
            assert_ne!(route.keys.0, route.keys.1);
            assert_ne!(route.values.0, route.values.1);
            (keys, values) = (route.keys.1, Some(route.values.1));
        }
        (keys, values)
    }

    #[test]
    fn keys_and_places_end_where_they_are_wanted() {
        // Digits 0, 2 and 3 differ; then no two keys; then all.
        for orders in [[0u64, 0x0101_0001, 5], [7, 7, 7], [0, u64::MAX, 1]] {
            for count in 1..=4 {
                let in_place = survey(Aim::InPlace, count).of(&orders, 32, 256);
                assert_eq!(ends(&in_place.schedule).0, Array::Callers);
                let places = survey(Aim::Places, count).of(&orders, 32, 256);
                assert_eq!(ends(&places.schedule).1, Some(Array::Callers));
                let keys = places.schedule.iter().filter(|scheduled| scheduled.tile_count > 0);
                assert!(keys.clone().all(|scheduled| scheduled.route.keys.1 != Array::Callers));
                let anywhere = survey(Aim::Anywhere, count).of(&orders, 32, 256);
                let aside = if count.is_multiple_of(2) { Array::Callers } else { Array::Aside };
                assert_eq!(ends(&anywhere.schedule).0, aside);
            }
        }
    }

    #[test]
    fn portions_share_the_tiles() {
        let orders: Vec<u64> = (0..21).collect();
        let schedule = survey(Aim::InPlace, 1).of(&orders, 32, 256).schedule;
        let tiles: Vec<_> =
            schedule.iter().map(|dispatch| (dispatch.tile_count, dispatch.last_extent)).collect();
        assert_eq!(tiles, [(2, 4), (2, 4), (2, 1), (6, 1)]);
    }

    #[test]
    fn a_dispatch_of_many_workgroups_has_rows() {
        let route =
            Route { keys: (Array::Aside, Array::Other), values: (Array::Other, Array::Callers), region: 1 };
        let words = Scheduled { tile_count: 11, last_extent: 3, route }.words(4, 16);
        assert_eq!(words, [4, 3, 1, 11, 3, 1 | 2 << 2 | 2 << 4 | 1 << 8, 176]);
    }
}
