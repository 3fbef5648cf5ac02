use super::*;

/// Checks rows of 16 bytes each, at these addresses.
fn check(rows: &[(&'static str, Role, u64)]) -> Result<()> {
    let mut checker = Checker::default();
    for &(name, role, address) in rows {
        let mut range = AddressRange::new(address, 20);
        let argument = Argument { name, role, size: 16, alignment: 4, packed: None };
        checker.check(argument, &mut Memory::Addresses(&mut range))?;
        assert_eq!(range, AddressRange::new(address, 16));
    }
    checker.check_disjoint()
}

#[test]
fn a_written_range_overlaps_no_other() {
    use Role::{Read, ReadWrite, Write, WriteInPlace};
    let overlap = Err(Error::Overlap { first: "a", second: "b" });
    assert_eq!(check(&[("a", Read, 16), ("b", Read, 28)]), Ok(()));
    for (first, second) in
        [(Read, Write), (Write, Read), (Write, Write), (ReadWrite, Read), (Read, ReadWrite)]
    {
        assert_eq!(check(&[("a", first, 16), ("b", second, 28)]), overlap);
        assert_eq!(check(&[("a", first, 16), ("b", second, 32)]), Ok(()));
    }
    assert_eq!(check(&[("a", Read, 16), ("b", WriteInPlace, 16)]), Ok(()));
    assert_eq!(check(&[("a", Read, 16), ("b", WriteInPlace, 20)]), overlap);
    assert_eq!(check(&[("a", Read, 16), ("c", Read, 64), ("b", WriteInPlace, 16)]), overlap);
}

#[test]
fn a_range_that_is_not_accessed_is_empty() {
    let mut range = AddressRange::new(16, 4);
    let unused = Argument { name: "it", role: Role::Write, size: 0, alignment: 4, packed: None };
    let mut checker = Checker::default();
    checker.check(unused, &mut Memory::Addresses(&mut range)).unwrap();
    assert_eq!(range, AddressRange::NONE);
    let misaligned = checker.check(unused, &mut Memory::Addresses(&mut AddressRange::new(18, 4)));
    assert_eq!(misaligned, Err(Error::Misaligned { what: "it", address: 18, alignment: 4 }));
}
