use super::*;

#[test]
fn a_uuid_is_written_in_groups() {
    let bytes = std::array::from_fn(|index| index as u8 * 17);
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
fn a_release_is_read_from_the_field_that_has_it() {
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
