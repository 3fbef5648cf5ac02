use super::*;

#[test]
fn every_element_type_has_a_number() {
    let numbers = [
        (SUBSWEEP_ELEMENT_TYPE_U32, ElementType::U32),
        (SUBSWEEP_ELEMENT_TYPE_I32, ElementType::I32),
        (SUBSWEEP_ELEMENT_TYPE_F32, ElementType::F32),
        (SUBSWEEP_ELEMENT_TYPE_U64, ElementType::U64),
        (SUBSWEEP_ELEMENT_TYPE_I64, ElementType::I64),
        (SUBSWEEP_ELEMENT_TYPE_F64, ElementType::F64),
        (SUBSWEEP_ELEMENT_TYPE_U8, ElementType::U8),
        (SUBSWEEP_ELEMENT_TYPE_I8, ElementType::I8),
        (SUBSWEEP_ELEMENT_TYPE_U16, ElementType::U16),
        (SUBSWEEP_ELEMENT_TYPE_I16, ElementType::I16),
        (SUBSWEEP_ELEMENT_TYPE_F16, ElementType::F16),
        (SUBSWEEP_ELEMENT_TYPE_BF16, ElementType::Bf16),
    ];
    assert_eq!(numbers.map(|(_, element)| element), ElementType::ALL);
    for (value, expected) in numbers {
        assert_eq!(element_type("element_type", value).unwrap(), expected);
    }
    let beyond = ElementType::ALL.len() as u32;
    for value in [beyond, u32::MAX] {
        assert!(matches!(element_type("it", value), Err(Failure::UnknownValue { what: "it", .. })));
    }
}

#[test]
fn ranges_that_cannot_be_are_refused() {
    let range = |offset, size, address| {
        let (buffer, usage) = (ash::vk::Handle::from_raw(1), VkBufferUsageFlags::TRANSFER_DST);
        SubsweepBufferRange { buffer, offset, size, address, usage }.scratch()
    };
    assert!(range(4, 16, 16).is_ok());
    for (offset, size, address) in [(0, 32, u64::MAX - 15), (u64::MAX - 3, 16, 16)] {
        let refused = range(offset, size, address);
        assert!(matches!(refused, Err(Failure::Library(Error::AddressOverflow { .. }))), "{refused:?}");
    }
    let null = Error::NullAddress { what: "scratch", size: 16 };
    assert!(matches!(range(0, 16, 0), Err(Failure::Library(error)) if error == null));
    let (buffer, usage) = (VkBuffer::null(), VkBufferUsageFlags::empty());
    let none = SubsweepBufferRange { buffer, offset: 3, size: 0, address: 7, usage };
    assert_eq!(none.scratch().unwrap(), BufferRange::NONE);
    assert!(matches!(SubsweepBufferRange { size: 4, ..none }.scratch(), Err(Failure::Null(_))));
}

#[test]
fn a_count_on_the_device_is_of_32_bits() {
    let count = |address, count| SubsweepCount { address, count }.checked();
    assert_eq!(count(0, 1 << 40).unwrap(), Count::Direct(1 << 40));
    assert_eq!(count(64, 5).unwrap(), Count::Indirect { address: 64, max: 5 });
    assert!(matches!(count(64, 1 << 32), Err(Failure::Library(Error::TooManyElements { .. }))));
}
