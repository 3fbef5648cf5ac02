use super::*;

#[test]
fn generations_of_nvidia_are_known_by_their_device_ids() {
    let named = [
        // RTX 2080 Ti, GTX 1650, A100, RTX 3090, RTX 3060, H100, H200, RTX 4090, RTX 4060, B200, RTX 5090.
        (0x1e07, Some(Generation::Turing)),
        (0x2182, Some(Generation::Turing)),
        (0x20b2, Some(Generation::Ampere)),
        (0x2204, Some(Generation::Ampere)),
        (0x2503, Some(Generation::Ampere)),
        (0x2330, Some(Generation::Hopper)),
        (0x2335, Some(Generation::Hopper)),
        (0x2684, Some(Generation::Ada)),
        (0x2882, Some(Generation::Ada)),
        (0x2901, Some(Generation::Blackwell)),
        (0x2b85, Some(Generation::Blackwell)),
        // V100.
        (0x1db1, None),
    ];
    for (device_id, generation) in named {
        let mut capabilities = Capabilities::default();
        capabilities.identity.device_id = device_id;
        assert_eq!(capabilities.generation(), None, "another vendor's {device_id:#x}");
        capabilities.identity.vendor_id = 0x10de;
        assert_eq!(capabilities.generation(), generation, "{device_id:#x}");
    }
}
