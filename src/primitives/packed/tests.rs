use super::*;

fn parts(element: ElementType, extent: Option<Extent>, size: u64) -> Vec<(u64, u64, u32, u32)> {
    let form = PackedForm::numbers(element).expect("it is packed");
    let elements = AddressRange::new(1 << 40, size);
    let words = AddressRange::new(1 << 44, size / element.size() as u64 * 4);
    let each = Move { packed: Packed { form, extent }, role: Role::Read, elements, words };
    let of = |part: Part| {
        let (first, word) = (part.elements.address - (1 << 40), part.words.address - (1 << 44));
        (first, word, part.chunk, part.count)
    };
    each.parts().map(of).collect()
}

#[test]
fn a_part_of_a_move_is_a_dispatch_of_32_bit_numbers() {
    let chunk = 1u64 << 30;
    let (whole, rest) = (chunk as u32, 5);
    let size = 2 * (2 * chunk + u64::from(rest));
    assert_eq!(
        parts(ElementType::U16, None, size),
        [(0, 0, 0, whole), (2 * chunk, 4 * chunk, 0, whole), (4 * chunk, 8 * chunk, 0, rest)]
    );
    // The kernel knows which elements are its own.
    let counted = Extent::new(Count::Indirect { address: 64, max: u32::MAX });
    assert_eq!(
        parts(ElementType::U16, Some(counted), size).iter().map(|part| part.2).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert_eq!(parts(ElementType::I8, None, 0), []);
}

#[test]
fn counts_of_the_host_are_computed_there() {
    let extent = Extent::of_both(Count::Direct(7), Count::Direct(4));
    assert_eq!(extent.known(), 11);
    assert_eq!(extent.per(3).rows(2, 1).known(), 7);
    assert_eq!(Extent::new(Count::Direct(1)).rows(3, 3).known(), 0);
    assert_eq!(parts(ElementType::U8, Some(extent), 20), [(0, 0, 0, 11)]);
    assert_eq!(parts(ElementType::U8, Some(extent), 9), [(0, 0, 0, 9)]);
}

#[test]
fn types_of_32_bits_are_not_packed() {
    for element in ElementType::ALL {
        assert_eq!(PackedForm::numbers(element).is_some(), element.is_packed(), "{element}");
        assert_eq!(element.unpacked().bits(), element.bits().max(32), "{element}");
        assert_eq!(element.unpacked().kind(), element.kind(), "{element}");
    }
}
