//! Device architectures with tuned policies.

use ash::vk;

use super::capabilities::Capabilities;

/// Architecture of a device, as distinguished by the tables of tuned policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// NVIDIA GPUs: subgroups of 32 lanes.
    Nvidia,
    /// AMD RDNA 1 to 4: subgroups of 32 or 64 lanes.
    AmdRdna,
    /// AMD GCN and CDNA: subgroups of 64 lanes.
    AmdGcn,
    /// Intel GPUs up to Xe: subgroups of 8 lanes or more, and at 16 lanes half of the registers of Xe2.
    IntelXe,
    /// Intel GPUs from Xe2 on: subgroups of 16 lanes or more.
    IntelXe2,
    /// Qualcomm Adreno.
    Adreno,
    /// Apple GPUs.
    Apple,
    /// Mesa's CPU driver.
    Lavapipe,
    /// Google's CPU driver.
    SwiftShader,
}

/// `VK_DRIVER_ID_MESA_HONEYKRISP`, which `ash` has under an older name. Its devices report Mesa's vendor ID.
pub(crate) const HONEYKRISP: vk::DriverId = vk::DriverId::from_raw(26);

impl Capabilities {
    /// Architecture of the device; `None` for an unlisted one.
    pub fn architecture(&self) -> Option<Architecture> {
        let identity = &self.identity;
        match identity.driver_id {
            vk::DriverId::MESA_LLVMPIPE => return Some(Architecture::Lavapipe),
            vk::DriverId::GOOGLE_SWIFTSHADER => return Some(Architecture::SwiftShader),
            HONEYKRISP => return Some(Architecture::Apple),
            _ => {}
        }
        // PCI vendor IDs.
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
