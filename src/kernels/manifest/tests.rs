use super::*;

fn manifest() -> Manifest {
    let push = |name: &str, offset, size, access| PushConstant { name: name.into(), offset, size, access };
    Manifest {
        compiler: "a compiler 1.2, with words; generator 000d000b".into(),
        sources: vec![Source { path: "scan/reduce.comp".into(), hash: u64::MAX }],
        kernels: vec![
            Kernel { name: "scan/plain".into(), hash: 1, ..Kernel::default() },
            Kernel {
                name: "scan/reduce:u32x1".into(),
                defines: vec!["COMPONENTS=1".into(), "WIDE".into()],
                hash: 2,
                workgroup_size_id: Some(0),
                push_constants: vec![
                    push("input", 0, 8, Some(KernelAccess::READ)),
                    push("state", 8, 8, Some(KernelAccess::ATOMIC)),
                    push("unused", 16, 8, Some(KernelAccess::NONE)),
                    push("count", 24, 4, None),
                ],
                spec_constants: vec![SpecConstant { name: "RADIX_BITS".into(), id: 3, default: u32::MAX }],
            },
        ],
    }
}

#[test]
fn a_written_manifest_parses_back() {
    assert_eq!(Manifest::parse(&manifest().write()), Ok(manifest()));
    assert_eq!(Manifest::parse(&manifest().write().replace('\n', "\r\n")), Ok(manifest()));
}

#[test]
fn a_wrong_line_is_named() {
    let error = |text| Manifest::parse(text).expect_err("a wrong manifest");
    assert_eq!(error("compiler c\nkernel k"), "line 2: a field is missing");
    assert_eq!(error("kernel k 1\npush p 0 8 reads"), "line 2: \"reads\" is not an access");
    assert_eq!(error("push p 0 8 read"), "line 1: it precedes every kernel");
    assert_eq!(error("source s 0 1"), "line 1: \"1\" is superfluous");
    assert_eq!(error("kernel k 1\nworkgroup -1"), "line 2: \"-1\" is not a number");
    assert_eq!(error("kernels k"), "line 1: unknown item \"kernels\"");
}

#[test]
fn line_ends_change_no_hash_and_everything_else_does() {
    assert_eq!(text_hash("a\r\nb\n"), text_hash("a\nb\n"));
    assert_ne!(text_hash("a\nb\n"), text_hash("a\nb"));
    assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
}
