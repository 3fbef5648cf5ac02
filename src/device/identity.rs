//! Who a device is, as a report must name it.

use std::fmt::Display;

use ash::vk;

/// Who made the device and its driver: what a report must name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceIdentity {
    /// `deviceName`.
    pub name: String,
    /// Discrete, integrated, virtual or CPU.
    pub device_type: vk::PhysicalDeviceType,
    /// PCI vendor id, or one from Khronos's registry.
    pub vendor_id: u32,
    /// The vendor's own id of the device.
    pub device_id: u32,
    /// The Vulkan version of the device, packed.
    pub api_version: u32,
    /// Packed as the vendor likes.
    pub driver_version: u32,
    /// Which driver, from Khronos's list.
    pub driver_id: vk::DriverId,
    /// The driver's name.
    pub driver_name: String,
    /// The driver's version in words.
    pub driver_info: String,
    /// The version of the conformance suite that the driver passed, `0.0.0.0` if none.
    pub conformance_version: [u8; 4],
    /// The same for the same device under every driver and process.
    pub device_uuid: [u8; 16],
    /// The same for the same driver build.
    pub driver_uuid: [u8; 16],
    /// The same where the data of pipeline caches is.
    pub pipeline_cache_uuid: [u8; 16],
}

/// The version of a driver's release, in numbers that compare as its makers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion(pub [u32; 3]);

impl DriverVersion {
    /// Before every version.
    pub const MIN: Self = Self([0; 3]);
    /// Behind every version.
    pub const MAX: Self = Self([u32::MAX; 3]);

    /// The numbers that a text begins with: `25.0.7-2~bpo12+1`, `535.104`.
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

    /// `driverVersion` in the numbers that its vendor would give. Most drivers pack it as Vulkan packs its own.
    pub fn driver_version_text(&self) -> String {
        let packed = self.driver_version;
        match self.driver_id {
            vk::DriverId::NVIDIA_PROPRIETARY => {
                let numbers = [packed >> 22, packed >> 14 & 0xff, packed >> 6 & 0xff, packed & 0x3f];
                // NVIDIA writes two digits after the first number, and no last numbers that are 0.
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

    /// The driver's release, if it tells. Mesa's drivers do so in `driverInfo`, and not all in `driverVersion`: lavapipe
    /// is 0.0.1 for ever.
    pub fn driver_release(&self) -> Option<DriverVersion> {
        match self.driver_info.split_once("Mesa ") {
            Some((_, release)) => DriverVersion::parse(release),
            None if self.driver_id == vk::DriverId::MESA_LLVMPIPE => None,
            None => DriverVersion::parse(&self.driver_version_text()),
        }
    }

    /// Which driver, and its version: `driverName` and `driverInfo`, or `driverVersion` where that is empty.
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
    for (at, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_in_groups() {
        let bytes = std::array::from_fn(|at| at as u8 * 17);
        assert_eq!(uuid(&bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn driver_versions_are_unpacked_as_their_vendors_pack_them() {
        for (driver_id, driver_version, text) in [
            (vk::DriverId::NVIDIA_PROPRIETARY, 550 << 22 | 54 << 14 | 14 << 6, "550.54.14"),
            (vk::DriverId::NVIDIA_PROPRIETARY, 535 << 22 | 104 << 14 | 5 << 6, "535.104.05"),
            (vk::DriverId::NVIDIA_PROPRIETARY, 531 << 22 | 9 << 14, "531.09"),
            (vk::DriverId::NVIDIA_PROPRIETARY, 470 << 22 | 62 << 14 | 6 << 6 | 1, "470.62.6.1"),
            (vk::DriverId::INTEL_PROPRIETARY_WINDOWS, 101 << 14 | 5186, "101.5186"),
            (vk::DriverId::MESA_RADV, 25 << 22 | 1 << 12 | 7, "25.1.7"),
        ] {
            let identity = DeviceIdentity { driver_id, driver_version, ..DeviceIdentity::default() };
            assert_eq!(identity.driver_version_text(), text);
        }
    }

    #[test]
    fn a_release_is_read_from_where_the_driver_tells_it() {
        let release = |driver_id, driver_info: &str| {
            let driver_version = 550 << 22 | 54 << 14 | 14 << 6;
            let identity = DeviceIdentity { driver_id, driver_version, ..DeviceIdentity::default() };
            DeviceIdentity { driver_info: driver_info.into(), ..identity }.driver_release()
        };
        let lavapipe = vk::DriverId::MESA_LLVMPIPE;
        for (info, expected) in [
            ("Mesa 22.3.6 (LLVM 15.0.6)", Some([22, 3, 6])),
            ("Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", Some([25, 0, 7])),
            ("Mesa 25.1.0-devel (git-0123456789)", Some([25, 1, 0])),
            ("Mesa of one's own", None),
            ("Mesa 99999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(release(lavapipe, info), expected.map(DriverVersion), "{info}");
        }
        let nvidia = release(vk::DriverId::NVIDIA_PROPRIETARY, "550.54.14");
        assert_eq!(nvidia, Some(DriverVersion([550, 54, 14])));
        assert!(DriverVersion([22, 3, 6]) < DriverVersion([25, 0, 7]));
    }

    #[test]
    fn a_driver_without_words_is_known_by_its_number() {
        let mut identity = DeviceIdentity {
            driver_name: "SwiftShader driver".into(),
            driver_version: 5 << 22,
            ..DeviceIdentity::default()
        };
        assert_eq!(identity.driver_text(), "SwiftShader driver, 5.0.0");
        identity.driver_info = "LLVM 16 ".into();
        assert_eq!(identity.driver_text(), "SwiftShader driver, LLVM 16");
    }
}
