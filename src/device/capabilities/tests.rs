use super::*;

fn device(sizes: [u32; 3], subgroup_size_control: bool) -> Capabilities {
    let [min_subgroup_size, subgroup_size, max_subgroup_size] = sizes;
    let enabled = EnabledFeatures { subgroup_size_control, ..EnabledFeatures::REQUIRED };
    let max_workgroup_subgroups = 32;
    Capabilities {
        subgroup_size,
        min_subgroup_size,
        max_subgroup_size,
        max_workgroup_subgroups,
        enabled,
        ..Capabilities::default()
    }
}

#[test]
fn an_array_is_one_allocation_or_several() {
    let array = |sparse_binding, max_buffer_size| {
        let enabled = EnabledFeatures { sparse_binding, ..EnabledFeatures::REQUIRED };
        let sizes = Capabilities {
            max_allocation_size: 4,
            max_buffer_size,
            sparse_address_space_size: 100,
            largest_heap_size: 50,
            ..Capabilities::default()
        };
        Capabilities { enabled, ..sizes }.max_array_size()
    };
    assert_eq!([array(false, u64::MAX), array(true, u64::MAX), array(true, 20)], [4, 50, 20]);
}

#[test]
fn a_subgroup_size_is_requested_only_where_there_is_a_choice() {
    let request = |sizes, control, asked| device(sizes, control).requested_subgroup_size(asked, 256);
    for control in [false, true] {
        assert_eq!(request([8, 8, 8], control, None), Ok(None));
        assert_eq!(request([8, 8, 8], control, Some(8)), Ok(None));
        assert!(matches!(request([8, 8, 8], control, Some(16)), Err(Error::InvalidPolicy { .. })));
    }
    assert_eq!(request([32, 64, 64], true, Some(64)), Ok(Some(64)));
    assert_eq!(request([32, 64, 64], true, Some(32)), Ok(Some(32)));
    assert_eq!(request([32, 64, 64], false, Some(64)), Ok(None));
    assert!(matches!(request([32, 64, 64], false, Some(32)), Err(Error::InvalidPolicy { .. })));
    for (asked, what) in [(128, "lanes in a subgroup"), (4, "subgroups in a workgroup")] {
        let refused = request([4, 32, 64], true, Some(asked));
        assert!(matches!(refused, Err(Error::PolicyExceedsLimits { what: got, .. }) if got == what));
    }
    assert!(matches!(request([4, 32, 64], true, Some(24)), Err(Error::InvalidPolicy { .. })));
}
