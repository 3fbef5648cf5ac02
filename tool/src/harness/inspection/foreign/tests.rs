//! Tests on modules; the first has two entry points, `one` and `two`, with different descriptors at one binding.

use subsweep::ash::vk::{DescriptorType, PhysicalDeviceLimits};

use super::ForeignModule;
use super::module::{Feature, ModuleError};
use subsweep::Error;

const STORAGE: u32 = 11;
const UNIFORM: u32 = 12;

fn instruction(opcode: u32, operands: &[u32]) -> Vec<u32> {
    [&[(operands.len() as u32 + 1) << 16 | opcode], operands].concat()
}

/// A module in which `one` calls a function that uses `called`; `interfaces` are the interfaces of `one` and `two`.
fn module(version: u32, called: &[u32], interfaces: [&[u32]; 2]) -> Result<ForeignModule, ModuleError> {
    let name = |text: &[u8; 4]| [u32::from_le_bytes(*text)];
    let function = |id: u32, body: &[Vec<u32>]| {
        let begin = [instruction(54, &[24, id, 0, 25]), instruction(248, &[id + 40])].concat();
        [begin, body.concat(), instruction(253, &[]), instruction(56, &[])].concat()
    };
    let copies: Vec<_> = called.iter().map(|id| instruction(83, &[22, id + 40, *id])).collect();
    let decorated = |id: u32| [instruction(71, &[id, 34, 1]), instruction(71, &[id, 33, 3])].concat();
    let parts = [
        vec![0x0723_0203, version, 0, 100, 0],
        instruction(15, &[&[5, 1], &name(b"one\0")[..], interfaces[0]].concat()),
        instruction(15, &[&[5, 2], &name(b"two\0")[..], interfaces[1]].concat()),
        instruction(16, &[1, 17, 8, 2, 1]),
        instruction(16, &[2, 17, 32, 1, 1]),
        decorated(STORAGE),
        decorated(UNIFORM),
        instruction(19, &[24]),
        instruction(33, &[25, 24]),
        instruction(21, &[20, 32, 0]),
        instruction(30, &[21, 20]),
        instruction(32, &[22, 12, 21]),
        instruction(32, &[23, 2, 21]),
        instruction(59, &[22, STORAGE, 12]),
        instruction(59, &[23, UNIFORM, 2]),
        function(1, &[instruction(57, &[24, 30, 3])]),
        function(2, &[instruction(83, &[23, 31, UNIFORM])]),
        function(3, &copies),
    ];
    let bytes: Vec<u8> = parts.concat().into_iter().flat_map(u32::to_ne_bytes).collect();
    ForeignModule::from_bytes(&bytes)
}

/// The descriptor type at the binding, for an entry point.
fn kind(module: &ForeignModule, entry_point: &str) -> Result<Option<DescriptorType>, ModuleError> {
    let specialized = module.specialize(Some(entry_point), &[])?;
    assert!(specialized.bindings.len() <= 1);
    Ok(specialized.bindings.get(&(1, 3)).map(|binding| binding.kind))
}

#[test]
fn an_entry_point_has_the_descriptors_that_its_functions_use() {
    let module = module(0x1_0300, &[STORAGE], [&[], &[]]).unwrap();
    assert_eq!(kind(&module, "one"), Ok(Some(DescriptorType::STORAGE_BUFFER)));
    assert_eq!(kind(&module, "two"), Ok(Some(DescriptorType::UNIFORM_BUFFER)));
    let size = |name| module.specialize(Some(name), &[]).unwrap().workgroup_size;
    assert_eq!([size("one"), size("two")], [Some([8, 2, 1]), Some([32, 1, 1])]);
}

#[test]
fn an_entry_point_has_the_descriptors_of_its_interface_from_1_4_on() {
    let module = module(0x1_0400, &[STORAGE, UNIFORM], [&[STORAGE], &[]]).unwrap();
    assert_eq!(kind(&module, "one"), Ok(Some(DescriptorType::STORAGE_BUFFER)));
    assert_eq!(kind(&module, "two"), Ok(None));
}

#[test]
fn a_binding_of_two_kinds_is_refused_where_one_entry_point_has_both() {
    for (version, interface) in [(0x1_0300, &[][..]), (0x1_0400, &[STORAGE, UNIFORM])] {
        let module = module(version, &[STORAGE, UNIFORM], [interface, &[]]).unwrap();
        let what = "it is of two kinds";
        assert_eq!(kind(&module, "one"), Err(ModuleError::Descriptor { set: 1, binding: 3, what }));
        assert!(kind(&module, "two").is_ok());
    }
}

/// A module whose shared array has a specialized length: three times constant 0.
fn module_of_sizes() -> ForeignModule {
    let [one, void, uint, ulong, length, block] = [1, 20, 21, 22, 32, 40];
    let parts = [
        vec![0x0723_0203, 0x1_0300, 0, 100, 0],
        instruction(17, &[1]),
        instruction(17, &[10]),
        instruction(15, &[5, one, u32::from_le_bytes(*b"one\0")]),
        instruction(16, &[one, 17, 8, 1, 1]),
        instruction(71, &[30, 1, 0]),
        instruction(72, &[block, 0, 35, 16]),
        instruction(19, &[void]),
        instruction(33, &[24, void]),
        instruction(21, &[uint, 32, 0]),
        instruction(21, &[ulong, 64, 0]),
        instruction(50, &[uint, 30, 10]),
        instruction(43, &[uint, 31, 3]),
        instruction(52, &[uint, length, 132, 30, 31]),
        instruction(28, &[33, uint, length]),
        instruction(23, &[34, uint, 3]),
        instruction(30, &[35, 33, 34]),
        instruction(30, &[block, ulong]),
        instruction(32, &[36, 4, 35]),
        instruction(32, &[37, 4, ulong]),
        instruction(32, &[41, 9, block]),
        instruction(59, &[36, 50, 4]),
        instruction(59, &[37, 51, 4]),
        instruction(59, &[41, 52, 9]),
        // A variable of no entry point.
        instruction(59, &[36, 53, 4]),
        instruction(54, &[void, one, 0, 24]),
        instruction(248, &[60]),
        instruction(61, &[35, 61, 50]),
        instruction(234, &[ulong, 62, 51, 31, 31, 31]),
        instruction(61, &[block, 63, 52]),
        instruction(253, &[]),
        instruction(56, &[]),
    ];
    let bytes: Vec<u8> = parts.concat().into_iter().flat_map(u32::to_ne_bytes).collect();
    ForeignModule::from_bytes(&bytes).unwrap()
}

#[test]
fn resource_sizes_follow_the_entry_point_and_its_constants() {
    let module = module_of_sizes();
    let specialized = module.specialize(None, &[]).unwrap();
    assert_eq!(specialized.shared_memory_size, Some(3 * 10 * 4 + 12 + 8));
    assert_eq!(specialized.push_constant_size, Some(16 + 8));
    assert_eq!(specialized.features, [Feature::Float64, Feature::SharedInt64Atomics]);
    let limits = PhysicalDeviceLimits {
        max_compute_shared_memory_size: 140,
        max_push_constants_size: 24,
        ..PhysicalDeviceLimits::default()
    };
    assert_eq!(specialized.resources_within(&limits), Ok(()));
    let exceeded = |what, needed, got| Err(Error::PolicyExceedsLimits { what, needed, got });
    let smaller = PhysicalDeviceLimits { max_push_constants_size: 20, ..limits };
    assert_eq!(specialized.resources_within(&smaller), exceeded("bytes of push constants", 24, 20));
    for (value, size) in [("100000", 1_200_020), ("4294967295", 0xffff_fffd * 4 + 20)] {
        let specialized = module.specialize(None, &[(0, value.to_owned())]).unwrap();
        assert_eq!(specialized.shared_memory_size, Some(size));
        let size = size.min(u32::MAX.into());
        assert_eq!(specialized.resources_within(&limits), exceeded("bytes of shared memory", size, 140));
    }
}

#[test]
fn the_highest_set_number_determines_the_number_of_descriptor_sets() {
    let module = module(0x1_0300, &[STORAGE], [&[], &[]]).unwrap();
    let specialized = module.specialize(Some("one"), &[]).unwrap();
    let limits = |max_bound_descriptor_sets| PhysicalDeviceLimits {
        max_bound_descriptor_sets,
        ..PhysicalDeviceLimits::default()
    };
    assert_eq!(specialized.resources_within(&limits(2)), Ok(()));
    let exceeded = Err(Error::PolicyExceedsLimits { what: "descriptor sets", needed: 2, got: 1 });
    assert_eq!(specialized.resources_within(&limits(1)), exceeded);
}
