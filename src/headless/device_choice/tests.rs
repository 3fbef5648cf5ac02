use super::*;

#[test]
fn selectors_read_as_they_are_written() {
    for (text, selector) in [
        ("0", DeviceSelector::Index(0)),
        ("llvmpipe", DeviceSelector::Name("llvmpipe".into())),
        ("RTX 4090", DeviceSelector::Name("rtx 4090".into())),
        ("uuid:6D65-7361", DeviceSelector::Uuid("6d657361".into())),
        ("driver:RADV", DeviceSelector::Driver("radv".into())),
        (" driver: Mesa ", DeviceSelector::Driver("mesa".into())),
        (" 1 ", DeviceSelector::Index(1)),
    ] {
        assert_eq!(text.parse(), Ok(selector));
    }
}

#[test]
fn nothing_matches_nothing() {
    for text in ["", "  ", "driver:", "uuid: ", "uuid:-"] {
        assert!(text.parse::<DeviceSelector>().unwrap().is_blank(), "{text}");
    }
    assert!(contains("llvmpipe (LLVM 15)", "llvm") && !contains("llvmpipe", "") && !contains("a b", " "));
}

#[test]
fn an_empty_list_is_no_device() {
    assert_eq!(DeviceSelector::Best.position(&[]), Err(Error::NoDevice));
}
