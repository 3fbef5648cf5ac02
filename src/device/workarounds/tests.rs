use super::*;

fn lavapipe(driver_info: &str) -> DeviceIdentity {
    DeviceIdentity {
        driver_id: vk::DriverId::MESA_LLVMPIPE,
        driver_version: 1,
        driver_info: driver_info.into(),
        ..DeviceIdentity::default()
    }
}

#[test]
fn each_bug_has_a_flag_a_name_and_a_reproducer_of_its_own() {
    let mut seen = 0;
    for (at, bug) in DRIVER_BUGS.iter().enumerate() {
        assert!(bug.workaround.0.is_power_of_two() && seen & bug.workaround.0 == 0, "{}", bug.name);
        seen |= bug.workaround.0;
        assert_eq!(bug.workaround.names().collect::<Vec<_>>(), [bug.name]);
        for other in &DRIVER_BUGS[..at] {
            assert!(other.name != bug.name && other.reproducer != bug.reproducer, "{}", bug.name);
        }
        for affected in bug.drivers {
            assert!(!affected.versions.is_empty() && !affected.subgroup_sizes.is_empty(), "{}", bug.name);
        }
    }
}

#[test]
fn a_range_begins_with_the_bug_and_ends_before_the_first_without() {
    let has = |info| Workarounds::for_driver(&lavapipe(info), 8).contains(Workarounds::LOOPS_END_AT_65535);
    assert!(has("Mesa 22.3.6 (LLVM 15.0.6)"));
    assert!(has("Mesa 25.0.6 (LLVM 15.0.6)"));
    assert!(!has("Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)"));
    assert!(!has("Mesa 25.1.0-devel (git-0123456789)"));
    assert!(has("a build of one's own"));
}

#[test]
fn lanes_and_driver_decide_too() {
    let mut identity = lavapipe("Mesa 25.0.7");
    let at = |lanes| format!("{:?}", Workarounds::for_driver(&identity, lanes));
    assert_eq!(at(16), r#"{"NO_INDIRECT_BEHIND_BASE"}"#);
    assert_eq!(at(32), r#"{"NO_INDIRECT_BEHIND_BASE", "LANES_END_AT_16"}"#);
    identity.driver_info = "Mesa 25.0.7-subsweep-wide (LLVM 15.0.6)".into();
    assert_eq!(format!("{:?}", Workarounds::for_driver(&identity, 32)), r#"{"NO_INDIRECT_BEHIND_BASE"}"#);
    identity.driver_id = vk::DriverId::MESA_RADV;
    assert!(Workarounds::for_driver(&identity, 64).is_empty());
    identity.driver_id = vk::DriverId::MOLTENVK;
    assert!(Workarounds::for_driver(&identity, 32).is_empty());
    assert_eq!(format!("{:?}", Workarounds::for_driver(&identity, 64)), r#"{"LANES_END_AT_32"}"#);
    identity.driver_id = vk::DriverId::GOOGLE_SWIFTSHADER;
    let names: Vec<_> = Workarounds::for_driver(&identity, 4).names().collect();
    assert_eq!(names, ["NO_RESULT_OUT_OF_DIVERGENT_LOOP"]);
}
