//! Device floor: what every primitive needs of Vulkan. It names no primitive.
//!
//! [`DeviceRequirements`] before a device exists, a [`Device`] created or adopted, its [`Capabilities`] read once,
//! memory by device address, pipelines without descriptors, and a [`Recorder`] for every command. Objects created here
//! are destroyed on drop; adopted handles never are.

pub(crate) mod architecture;
mod barrier;
mod buffer;
mod capabilities;
mod features;
mod identity;
mod logical;
mod phases;
mod pipeline;
pub(crate) mod push_constants;
mod recorder;
mod registry;
mod requirements;
mod self_test;
pub(crate) mod statistics;
mod timestamps;
mod trace;
mod workarounds;

pub use architecture::{Architecture, Generation};
pub use barrier::{Access, Barrier};
pub use buffer::{AddressRange, Buffer, BufferRange};
#[cfg(feature = "headless")]
pub(crate) use capabilities::text;
pub use capabilities::{Capabilities, MemoryHeap, TunedNumber};
pub use features::FeatureChain;
pub use identity::{DeviceIdentity, DriverVersion};
pub use logical::{Device, OpenOptions};
pub use phases::TimestampSlots;
pub(crate) use pipeline::module_of;
pub use pipeline::{Pipeline, PipelineOptions, Specialization};
pub(crate) use push_constants::push;
pub use push_constants::{PushBlock, PushConstants, PushField};
pub(crate) use recorder::MAX_WATCHED;
#[cfg(feature = "headless")]
pub(crate) use recorder::SubmissionSplitter;
pub use recorder::{CommandCounts, Recorder};
pub use registry::PipelineCounts;
#[cfg(feature = "headless")]
pub(crate) use requirements::NOT_ASKED;
pub use requirements::{DeviceRequirements, EnabledFeatures};
pub use self_test::{SelfTest, SelfTestVerdict};
pub use statistics::{Representation, Statistic, StatisticValue};
pub use timestamps::Timestamps;
pub use trace::{Command, Trace, Workgroups};
pub use workarounds::{Affected, DRIVER_BUGS, DriverBug, Workarounds};
