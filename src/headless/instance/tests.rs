use super::*;

/// The families of an H200, of a Radeon under RADV, of lavapipe, and of a device that has no queue for copies alone.
#[test]
fn copies_have_a_queue_of_their_own_where_there_is_one() {
    let [graphics, compute, transfer, sparse, video] = [
        vk::QueueFlags::GRAPHICS,
        vk::QueueFlags::COMPUTE,
        vk::QueueFlags::TRANSFER,
        vk::QueueFlags::SPARSE_BINDING,
        vk::QueueFlags::VIDEO_DECODE_KHR,
    ];
    let all = graphics | compute | transfer | sparse;
    for (families, expected) in [
        (vec![all, transfer | sparse | video, compute | transfer | sparse, transfer | sparse], Some(3)),
        (vec![all, compute | transfer | sparse, video, sparse, transfer], Some(4)),
        (vec![graphics | compute | transfer], None),
        (vec![all, compute | transfer, sparse], None),
    ] {
        assert_eq!(copy_family_of(&families), expected, "{families:?}");
    }
}
