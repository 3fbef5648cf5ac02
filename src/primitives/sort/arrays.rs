//! Ping-pong buffers of keys and values.
//!
//! In place, and for an argsort, a pass that the device leaves out changes the buffers of later passes: all passes have
//! the same arrays, and their dispatch arguments select among them. In the other forms every pass runs, from the primary
//! arrays to the alternate ones, and the host chooses both for each pass:
//!
//! ```text
//!   double buffer:   keys ──► keys_alt ──► keys ──► …
//!   out of place:    keys ──► output, or, with more passes:  keys ──► … ──► scratch ──► output
//!   destroys input:  keys ──► output ──► keys ──► …  and a copy to the output after an even number of passes
//! ```

use super::config::{Form, SortBuffers, SortConfig};
use crate::device::AddressRange;
use crate::primitives::ScratchCursor;

/// Offsets of the arrays in scratch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AltLayout {
    /// Alternate arrays of keys; an argsort has two, since it does not change the caller's.
    keys: [u64; 2],
    values: u64,
}

impl AltLayout {
    pub(super) fn take(cursor: &mut ScratchCursor, config: &SortConfig, pass_count: u32, count: u64) -> Self {
        if !has_array_in_scratch(config.form, pass_count) {
            return Self::default();
        }
        let size = count.saturating_mul(config.key_size());
        let first = cursor.take("alternate keys", size);
        let second = if config.is_argsort() { cursor.take("second alternate keys", size) } else { first };
        let values = cursor.take("alternate values", count.saturating_mul(config.value_size()));
        Self { keys: [first, second], values }
    }
}

/// Whether passes use scratch in addition to the caller's arrays.
fn has_array_in_scratch(form: Form, pass_count: u32) -> bool {
    match form {
        Form::InPlace => true,
        Form::OutOfPlace => pass_count > 1,
        Form::DoubleBuffer | Form::DestroysInput => false,
    }
}

/// Arrays of keys and values of all passes.
#[derive(Debug)]
pub(super) struct Arrays {
    form: Form,
    pass_count: u32,
    input: Array,
    /// The caller's other array.
    output: Array,
    in_scratch: Array,
    /// The second alternate keys of an argsort.
    keys_alt2: AddressRange,
}

#[derive(Debug, Clone, Copy)]
struct Array {
    keys: AddressRange,
    values: AddressRange,
}

/// Arrays for the kernels of one pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassArrays {
    pub(super) keys: AddressRange,
    pub(super) keys_alt: AddressRange,
    pub(super) keys_alt2: AddressRange,
    pub(super) values: AddressRange,
    pub(super) values_alt: AddressRange,
}

impl Arrays {
    pub(super) fn new(
        config: &SortConfig,
        pass_count: u32,
        buffers: &SortBuffers,
        alt: &AltLayout,
        count: u64,
    ) -> Self {
        let SortBuffers { keys, values, keys_alt, values_alt, scratch, .. } = *buffers;
        let in_scratch = |offset: u64, size: u64| scratch.slice(offset, count * size).addresses();
        let [first, second] = alt.keys;
        Self {
            form: config.form,
            pass_count,
            input: Array { keys, values },
            output: Array { keys: keys_alt, values: values_alt },
            in_scratch: if has_array_in_scratch(config.form, pass_count) {
                Array {
                    keys: in_scratch(first, config.key_size()),
                    values: in_scratch(alt.values, config.value_size()),
                }
            } else {
                Array { keys, values }
            },
            keys_alt2: if config.is_argsort() {
                in_scratch(second, config.key_size())
            } else {
                AddressRange::NONE
            },
        }
    }

    /// The arrays of a pass.
    pub(super) fn of_pass(&self, pass: u32) -> PassArrays {
        let Self { form, pass_count, input, output, in_scratch, .. } = *self;
        let is_even = pass.is_multiple_of(2);
        let last_is_even = pass_count % 2 == 1;
        match form {
            Form::InPlace => self.pair(input, in_scratch),
            Form::DoubleBuffer | Form::DestroysInput if is_even => self.pair(input, output),
            Form::DoubleBuffer | Form::DestroysInput => self.pair(output, input),
            Form::OutOfPlace => {
                // The last pass writes the output.
                let (from, to) =
                    if is_even == last_is_even { (in_scratch, output) } else { (output, in_scratch) };
                self.pair(if pass == 0 { input } else { from }, to)
            }
        }
    }

    /// The arrays of the copy after the passes, from the alternate to the primary one; `None` if there is none.
    pub(super) fn of_copy(&self) -> Option<PassArrays> {
        match self.form {
            Form::InPlace => Some(self.pair(self.input, self.in_scratch)),
            Form::DestroysInput if self.pass_count.is_multiple_of(2) => {
                Some(self.pair(self.output, self.input))
            }
            Form::DestroysInput | Form::DoubleBuffer | Form::OutOfPlace => None,
        }
    }

    fn pair(&self, from: Array, to: Array) -> PassArrays {
        PassArrays {
            keys: from.keys,
            keys_alt: to.keys,
            keys_alt2: self.keys_alt2,
            values: from.values,
            values_alt: to.values,
        }
    }
}
