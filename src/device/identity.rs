//! Identity of a device and its driver, for reports.

use std::fmt::Display;

use ash::vk;

/// Identity of a device and its driver: names, IDs, versions and UUIDs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceIdentity {
    /// `deviceName`.
    pub name: String,
    /// `deviceType`: discrete, integrated, virtual or CPU.
    pub device_type: vk::PhysicalDeviceType,
    /// `vendorID`: of PCI, or from Khronos's registry.
    pub vendor_id: u32,
    /// `deviceID`, given by the vendor.
    pub device_id: u32,
    /// `apiVersion`, packed.
    pub api_version: u32,
    /// `driverVersion`, packed in the vendor's own format.
    pub driver_version: u32,
    /// `driverID`.
    pub driver_id: vk::DriverId,
    /// `driverName`.
    pub driver_name: String,
    /// `driverInfo`: the driver's version as text.
    pub driver_info: String,
    /// `conformanceVersion`: the version of the conformance suite that the driver passed; `0.0.0.0` if none.
    pub conformance_version: [u8; 4],
    /// `deviceUUID`: equal for one device under every driver and in every process.
    pub device_uuid: [u8; 16],
    /// `driverUUID`: equal for one build of a driver.
    pub driver_uuid: [u8; 16],
    /// `pipelineCacheUUID`: equal where data of pipeline caches is compatible.
    pub pipeline_cache_uuid: [u8; 16],
}

/// Release version of a driver; ordered as its vendor orders releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion(pub [u32; 3]);

impl DriverVersion {
    /// Less than or equal to every version.
    pub const MIN: Self = Self([0; 3]);
    /// Greater than or equal to every version.
    pub const MAX: Self = Self([u32::MAX; 3]);

    /// Parses the leading numbers of a text: `25.0.7-2~bpo12+1`, `535.104`.
    fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut numbers = [0; 3];
        let parts = text[..end].split('.').filter(|part| !part.is_empty());
        let parts: Vec<u32> = parts.map(str::parse).collect::<Result<_, _>>().ok()?;
        numbers.iter_mut().zip(&parts).for_each(|(number, part)| *number = *part);
        (!parts.is_empty()).then_some(Self(numbers))
    }
}

impl DeviceIdentity {
    /// `apiVersion` as `1.3.230`.
    pub fn api_version_text(&self) -> String {
        let version = self.api_version;
        dotted([
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version),
        ])
    }

    /// `driverVersion`, unpacked in its vendor's format. Most drivers pack it as Vulkan packs `apiVersion`.
    pub fn driver_version_text(&self) -> String {
        let packed = self.driver_version;
        match self.driver_id {
            vk::DriverId::NVIDIA_PROPRIETARY => {
                let numbers = [packed >> 22, packed >> 14 & 0xff, packed >> 6 & 0xff, packed & 0x3f];
                // NVIDIA writes two digits for the second and third number, and omits trailing zeros.
                match numbers {
                    [major, minor, 0, 0] => format!("{major}.{minor:02}"),
                    [major, minor, patch, 0] => format!("{major}.{minor:02}.{patch:02}"),
                    numbers => dotted(numbers),
                }
            }
            vk::DriverId::INTEL_PROPRIETARY_WINDOWS => dotted([packed >> 14, packed & 0x3fff]),
            _ => dotted([packed >> 22, packed >> 12 & 0x3ff, packed & 0xfff]),
        }
    }

    /// Release version of the driver, if reported. Mesa's drivers report it in `driverInfo`, and not all in
    /// `driverVersion`: lavapipe's is always 0.0.1.
    pub fn driver_release(&self) -> Option<DriverVersion> {
        match self.driver_info.split_once("Mesa ") {
            Some((_, release)) => DriverVersion::parse(release),
            None if self.driver_id == vk::DriverId::MESA_LLVMPIPE => None,
            None => DriverVersion::parse(&self.driver_version_text()),
        }
    }

    /// Driver and version: `driverName` and `driverInfo`, or `driverVersion` where that is empty.
    pub fn driver_text(&self) -> String {
        let info = self.driver_info.trim();
        if info.is_empty() {
            format!("{}, {}", self.driver_name, self.driver_version_text())
        } else {
            format!("{}, {info}", self.driver_name)
        }
    }

    /// `conformanceVersion` as `1.3.1.1`.
    pub fn conformance_version_text(&self) -> String {
        dotted(self.conformance_version)
    }

    /// `deviceUUID` in the usual groups.
    pub fn device_uuid_text(&self) -> String {
        uuid(&self.device_uuid)
    }

    /// `driverUUID` in the usual groups.
    pub fn driver_uuid_text(&self) -> String {
        uuid(&self.driver_uuid)
    }

    /// `pipelineCacheUUID` in the usual groups.
    pub fn pipeline_cache_uuid_text(&self) -> String {
        uuid(&self.pipeline_cache_uuid)
    }
}

fn dotted<T: Display>(numbers: impl IntoIterator<Item = T>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(".")
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests;
