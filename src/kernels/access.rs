//! Accesses of a kernel to the memory behind a pointer. Shared with `build.rs`, which derives them.

use std::fmt;

/// The accesses of a kernel through one push-constant pointer, derived from its instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelAccess {
    /// Loads, atomic or not.
    pub read: bool,
    /// Stores, atomic or not.
    pub write: bool,
    /// At least one of its loads or stores is atomic.
    pub atomic: bool,
}

impl KernelAccess {
    /// No access.
    pub const NONE: Self = Self { read: false, write: false, atomic: false };
    /// Loads only.
    pub const READ: Self = Self { read: true, ..Self::NONE };
    /// Stores only.
    pub const WRITE: Self = Self { write: true, ..Self::NONE };
    /// Loads and stores.
    pub const READ_WRITE: Self = Self { read: true, write: true, atomic: false };
    /// Atomic loads only.
    pub const ATOMIC_READ: Self = Self { read: true, write: false, atomic: true };
    /// Atomic stores only.
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

    /// The union of both accesses.
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

impl fmt::Display for KernelAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(access, _)| access == self).map(|(_, name)| *name);
        f.pad(name.unwrap_or("none"))
    }
}
