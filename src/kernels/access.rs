//! What a kernel does to the memory behind one of its pointers. Shared with `build.rs`, which derives it.

use std::fmt;

/// What a kernel does to the memory behind one push-constant pointer, as derived from its instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access {
    /// It loads, atomically or not.
    pub read: bool,
    /// It stores, atomically or not.
    pub write: bool,
    /// At least one of its loads or stores is atomic.
    pub atomic: bool,
}

impl Access {
    /// The kernel never follows the pointer.
    pub const NONE: Self = Self { read: false, write: false, atomic: false };
    /// Loads alone.
    pub const READ: Self = Self { read: true, ..Self::NONE };
    /// Stores alone.
    pub const WRITE: Self = Self { write: true, ..Self::NONE };
    /// Loads and stores.
    pub const READ_WRITE: Self = Self { read: true, write: true, atomic: false };
    /// Atomic loads alone.
    pub const ATOMIC_READ: Self = Self { read: true, write: false, atomic: true };
    /// Atomic stores alone.
    pub const ATOMIC_WRITE: Self = Self { read: false, write: true, atomic: true };
    /// Atomic read-modify-writes.
    pub const ATOMIC: Self = Self { read: true, write: true, atomic: true };

    const NAMES: [(Self, &'static str); 7] = [
        (Self::NONE, "none"),
        (Self::READ, "read"),
        (Self::WRITE, "write"),
        (Self::READ_WRITE, "read+write"),
        (Self::ATOMIC_READ, "atomic-read"),
        (Self::ATOMIC_WRITE, "atomic-write"),
        (Self::ATOMIC, "atomic"),
    ];

    /// Both kinds of access together.
    pub const fn union(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            atomic: self.atomic || other.atomic,
        }
    }

    /// The access that [`Display`](fmt::Display) writes as `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, n)| *n == name).map(|(access, _)| *access)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(access, _)| access == self).map(|(_, name)| *name);
        f.pad(name.unwrap_or("none"))
    }
}
