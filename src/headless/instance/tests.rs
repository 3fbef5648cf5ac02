use super::*;

/// The families of an H200, of a Radeon under RADV, of a Mac, of lavapipe, and of a device with an engine for video.
#[test]
fn copies_have_a_queue_of_their_own_where_there_is_one() {
    let [graphics, compute, transfer, sparse, video] = [
        vk::QueueFlags::GRAPHICS,
        vk::QueueFlags::COMPUTE,
        vk::QueueFlags::TRANSFER,
        vk::QueueFlags::SPARSE_BINDING,
        vk::QueueFlags::VIDEO_DECODE_KHR,
    ];
    let (all, works) = (graphics | compute | transfer | sparse, compute | transfer | sparse);
    for (families, compute_family, expected) in [
        (vec![all, transfer | sparse, works, transfer | sparse | video], 2, 1),
        (vec![all, works, video, sparse, transfer], 1, 4),
        (vec![all, works], 1, 0),
        (vec![all; 4], 0, 1),
        (vec![graphics | compute | transfer], 0, 0),
        (vec![all, sparse, transfer | video], 0, 0),
    ] {
        assert_eq!(copy_family_of(&families, compute_family), expected, "{families:?}");
    }
}
