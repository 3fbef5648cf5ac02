//! Known driver bugs and the named workarounds for them.
//!
//! [`DRIVER_BUGS`] has a row for each bug. Its reproducer is a small kernel in `src/kernels/fixtures`, which the driver
//! matrix runs on every driver: it must fail on the affected ones, and pass on all others. So the matrix detects a bug
//! that is fixed, and its range of versions is narrowed.
//!
//! One bug cannot be detected from a device, and has no row: Mesa's shader cache returns kernels compiled for another
//! `LP_NATIVE_VECTOR_WIDTH`. Set a `MESA_SHADER_CACHE_DIR` for each width.

use std::fmt;
use std::ops::Range;

use ash::vk;

use super::identity::{DeviceIdentity, DriverVersion};

/// A set of workarounds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Workarounds(u32);

impl Workarounds {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// No memory fence, and no atomic access with memory semantics, in control flow that subgroups of a workgroup
    /// execute a different number of times.
    pub const NO_FENCE_IN_DIVERGENT_FLOW: Self = Self(1 << 0);
    /// At most 65,535 iterations of all loops of an invocation together.
    pub const LOOPS_END_AT_65535: Self = Self(1 << 1);
    /// No value loaded or shuffled in the last iteration of a loop that lanes leave at different iterations is used
    /// after it.
    pub const NO_RESULT_OUT_OF_DIVERGENT_LOOP: Self = Self(1 << 2);
    /// No subgroups of more than 16 lanes.
    pub const LANES_END_AT_16: Self = Self(1 << 3);
    /// No indirect dispatch directly after `vkCmdDispatchBase`.
    pub const NO_INDIRECT_BEHIND_BASE: Self = Self(1 << 4);
    /// No subgroups of 64 lanes of which 32 are executed.
    pub const LANES_END_AT_32: Self = Self(1 << 5);

    /// Workarounds for a driver at a subgroup size.
    pub fn for_driver(identity: &DeviceIdentity, subgroup_size: u32) -> Self {
        let found = DRIVER_BUGS.iter().filter(|bug| bug.is_in(identity, subgroup_size));
        found.fold(Self::NONE, |all, bug| Self(all.0 | bug.workaround.0))
    }

    /// Whether the set contains all of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Names of the flags, in the order of the table.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        DRIVER_BUGS.iter().filter(move |bug| self.contains(bug.workaround)).map(|bug| bug.name)
    }
}

impl fmt::Debug for Workarounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// A known driver bug.
#[derive(Debug)]
#[non_exhaustive]
pub struct DriverBug {
    /// Flag of the workaround.
    pub workaround: Workarounds,
    /// Name of the flag.
    pub name: &'static str,
    /// The faulty behaviour.
    pub what: &'static str,
    /// How the kernels avoid it.
    pub avoided: &'static str,
    /// The reproducer: kernel `src/kernels/fixtures/NAME.comp`.
    pub reproducer: &'static str,
    /// Affected drivers.
    pub drivers: &'static [Affected],
}

/// A driver with a bug.
#[derive(Debug)]
#[non_exhaustive]
pub struct Affected {
    /// The driver.
    pub driver: vk::DriverId,
    /// Affected versions, up to but excluding the first without the bug.
    pub versions: Range<DriverVersion>,
    /// Affected subgroup sizes.
    pub subgroup_sizes: Range<u32>,
    /// Text in `driverInfo` of a build without the bug.
    pub mended_build: Option<&'static str>,
    /// Tested versions and results.
    pub seen: &'static str,
}

const ALWAYS: Range<DriverVersion> = DriverVersion::MIN..DriverVersion::MAX;
const ANY_SUBGROUP: Range<u32> = 0..u32::MAX;
const LAVAPIPE_BEFORE_25_0_7: Affected = Affected {
    driver: vk::DriverId::MESA_LLVMPIPE,
    versions: DriverVersion::MIN..DriverVersion([25, 0, 7]),
    subgroup_sizes: ANY_SUBGROUP,
    mended_build: None,
    seen: "wrong in Mesa 22.3.6, right in 25.0.7; no other version was tried",
};

/// All known driver bugs.
pub static DRIVER_BUGS: &[DriverBug] = &[
    DriverBug {
        workaround: Workarounds::NO_FENCE_IN_DIVERGENT_FLOW,
        name: "NO_FENCE_IN_DIVERGENT_FLOW",
        what: "a memory fence is treated as a barrier: where one subgroup executes it more often than another, as in \
               a loop that subgroups leave at different iterations, the workgroup ends before the others have stored",
        avoided: "no kernel has a fence, or an atomic access with memory semantics, but at a barrier; status words \
                  carry their payload, so that nothing needs ordering",
        reproducer: "bug_fence",
        drivers: &[LAVAPIPE_BEFORE_25_0_7],
    },
    DriverBug {
        workaround: Workarounds::LOOPS_END_AT_65535,
        name: "LOOPS_END_AT_65535",
        what: "the loops of an invocation have 65,535 iterations together: then the current loop ends, every later \
               one has a single iteration, and the kernel continues",
        avoided: "no kernel loops over more than its tile, the tiles of its look-back, the dispatches and tiles of a queue, \
                  or the words of its values, of which a policy allows 2^15 an invocation: more elements are more \
                  workgroups",
        reproducer: "bug_loop",
        drivers: &[LAVAPIPE_BEFORE_25_0_7],
    },
    DriverBug {
        workaround: Workarounds::NO_RESULT_OUT_OF_DIVERGENT_LOOP,
        name: "NO_RESULT_OUT_OF_DIVERGENT_LOOP",
        what: "a value that a lane loads from memory or other lanes in its last iteration of a loop is overwritten by \
               later iterations of other lanes",
        avoided: "the lanes of a subgroup leave such a loop together, and a lane that is done keeps its result under \
                  a condition",
        reproducer: "bug_result",
        drivers: &[
            LAVAPIPE_BEFORE_25_0_7,
            Affected {
                driver: vk::DriverId::GOOGLE_SWIFTSHADER,
                versions: ALWAYS,
                subgroup_sizes: ANY_SUBGROUP,
                mended_build: None,
                seen: "wrong in that of Chromium 156; every recent SwiftShader reports version 5.0.0",
            },
        ],
    },
    DriverBug {
        workaround: Workarounds::NO_INDIRECT_BEHIND_BASE,
        name: "NO_INDIRECT_BEHIND_BASE",
        what: "gl_WorkGroupID of an indirect dispatch starts at the base of the last vkCmdDispatchBase of the command \
               buffer, not at 0",
        avoided: "a dispatch without workgroups follows the parts of a split dispatch, and resets the base",
        reproducer: "bug_base",
        drivers: &[Affected {
            driver: vk::DriverId::MESA_LLVMPIPE,
            versions: ALWAYS,
            subgroup_sizes: ANY_SUBGROUP,
            mended_build: None,
            seen: "wrong in Mesa 22.3.6 and 25.0.7, the only ones that were tried",
        }],
    },
    DriverBug {
        workaround: Workarounds::LANES_END_AT_16,
        name: "LANES_END_AT_16",
        what: "in a subgroup of more than 16 lanes (LP_NATIVE_VECTOR_WIDTH=1024 and more) lanes from 16 on take no part \
               in subgroup operations, and are inactive after a loop",
        avoided: "not at all: the self-test fails",
        reproducer: "bug_lanes",
        drivers: &[Affected {
            driver: vk::DriverId::MESA_LLVMPIPE,
            versions: ALWAYS,
            subgroup_sizes: 17..u32::MAX,
            // tool/tests/drivers/lavapipe-wide.patch, which `tools/setup wide` builds.
            mended_build: Some("subsweep-wide"),
            seen: "wrong in Mesa 22.3.6 and 25.0.7, the only ones that were tried; right in 25.0.7 with the patch",
        }],
    },
    DriverBug {
        workaround: Workarounds::LANES_END_AT_32,
        name: "LANES_END_AT_32",
        what: "a subgroup of 64 lanes has lanes 0 to 31 alone, and a shuffle from another one is undefined: on AMD's GPUs a \
               SIMD group of Metal may have 32 threads",
        avoided: "not at all: the self-test fails",
        reproducer: "bug_shuffle",
        drivers: &[Affected {
            driver: vk::DriverId::MOLTENVK,
            versions: ALWAYS,
            // A later MoltenVK reports 32.
            subgroup_sizes: 33..u32::MAX,
            mended_build: None,
            seen: "not seen here: issues 1553, 2750 and 2756 of MoltenVK",
        }],
    },
];

impl DriverBug {
    /// Whether a driver has the bug at a subgroup size. A driver of unknown version is treated as having the bugs of
    /// all versions.
    pub fn is_in(&self, identity: &DeviceIdentity, subgroup_size: u32) -> bool {
        let version = identity.driver_release();
        self.drivers.iter().any(|affected| {
            affected.driver == identity.driver_id
                && affected.subgroup_sizes.contains(&subgroup_size)
                && version.is_none_or(|version| affected.versions.contains(&version))
                && !affected.mended_build.is_some_and(|mark| identity.driver_info.contains(mark))
        })
    }
}

#[cfg(test)]
mod tests;
