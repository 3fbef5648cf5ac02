//! Kinds of devices that are tuned for by name.

use ash::vk;

use super::capabilities::Capabilities;

/// A device's architecture, as far as the shape of kernels depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// NVIDIA's GPUs, whose subgroups have 32 lanes.
    Nvidia,
    /// AMD's GPUs whose subgroups have 32 or 64 lanes: RDNA.
    AmdRdna,
    /// AMD's GPUs whose subgroups have 64 lanes: GCN and CDNA.
    AmdGcn,
    /// Intel's GPUs up to Xe, whose subgroups have 8 lanes or more: half of the registers of Xe2 at 16 lanes.
    IntelXe,
    /// Intel's GPUs from Xe2 on, whose subgroups have 16 lanes or more.
    IntelXe2,
    /// Qualcomm's Adreno.
    Adreno,
    /// Apple's GPUs.
    Apple,
    /// Mesa's driver for CPUs.
    Lavapipe,
    /// Google's driver for CPUs.
    SwiftShader,
}

/// `VK_DRIVER_ID_MESA_HONEYKRISP`, which the bindings have by an older name, and whose devices have Mesa's number of a vendor.
pub(crate) const HONEYKRISP: vk::DriverId = vk::DriverId::from_raw(26);

impl Capabilities {
    /// The device's architecture; `None` if it is none that is known.
    pub fn architecture(&self) -> Option<Architecture> {
        let identity = &self.identity;
        match identity.driver_id {
            vk::DriverId::MESA_LLVMPIPE => return Some(Architecture::Lavapipe),
            vk::DriverId::GOOGLE_SWIFTSHADER => return Some(Architecture::SwiftShader),
            HONEYKRISP => return Some(Architecture::Apple),
            _ => {}
        }
        // PCI's numbers of vendors.
        match identity.vendor_id {
            0x10de => Some(Architecture::Nvidia),
            0x1002 if self.min_subgroup_size < 64 => Some(Architecture::AmdRdna),
            0x1002 => Some(Architecture::AmdGcn),
            0x8086 if self.min_subgroup_size < 16 => Some(Architecture::IntelXe),
            0x8086 => Some(Architecture::IntelXe2),
            0x5143 => Some(Architecture::Adreno),
            0x106b => Some(Architecture::Apple),
            _ => None,
        }
    }
}
