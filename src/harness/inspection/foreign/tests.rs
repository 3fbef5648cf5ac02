//! A module of two entry points, `one` and `two`, which have different descriptors at one binding.

use ash::vk::DescriptorType;

use super::ForeignModule;
use super::module::ModuleError;

const STORAGE: u32 = 11;
const UNIFORM: u32 = 12;

fn instruction(opcode: u32, operands: &[u32]) -> Vec<u32> {
    [&[(operands.len() as u32 + 1) << 16 | opcode], operands].concat()
}

/// `one` calls a function that uses `called`; the interfaces are those of `one` and `two`.
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

/// The descriptor at the binding, as an entry point has it.
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
