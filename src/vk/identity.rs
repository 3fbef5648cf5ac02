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
