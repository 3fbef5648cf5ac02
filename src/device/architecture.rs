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

/// Generation of an architecture, where the tables distinguish generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Generation {
    /// NVIDIA's compute capability 7.5.
    Turing,
    /// NVIDIA's compute capability 8.0 to 8.7.
    Ampere,
    /// NVIDIA's compute capability 8.9.
    Ada,
    /// NVIDIA's compute capability 9.0.
    Hopper,
    /// NVIDIA's compute capability 10.0 and more.
    Blackwell,
}

impl Generation {
    /// The generation of an NVIDIA GPU by its PCI device ID; `None` for an unlisted one.
    const fn of_nvidia(device_id: u32) -> Option<Self> {
        match device_id {
            0x1e00..=0x1fff | 0x2180..=0x21ff => Some(Self::Turing),
            0x20b0..=0x20ff | 0x2200..=0x22ff | 0x2400..=0x25ff => Some(Self::Ampere),
            0x2300..=0x23ff => Some(Self::Hopper),
            0x2680..=0x28ff => Some(Self::Ada),
            0x2900..=0x29ff | 0x2b80..=0x2fff | 0x3180..=0x31ff => Some(Self::Blackwell),
            _ => None,
        }
    }
}

/// `VK_DRIVER_ID_MESA_HONEYKRISP`, which `ash` has under an older name. Its devices report Mesa's vendor ID.
pub const HONEYKRISP: vk::DriverId = vk::DriverId::from_raw(26);

impl Capabilities {
    /// Generation of the device; `None` for one that the tables do not distinguish.
    pub fn generation(&self) -> Option<Generation> {
        match self.architecture() {
            Some(Architecture::Nvidia) => Generation::of_nvidia(self.identity.device_id),
            _ => None,
        }
    }

    /// Whether the driver executes branches that specialization constants rule out, with all lanes inactive: slow, but right,
    /// and so no [bug](super::workarounds).
    pub(super) fn keeps_dead_branches(&self) -> bool {
        self.architecture() == Some(Architecture::SwiftShader)
    }

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

#[cfg(test)]
mod tests;
