//! Compile-time check of the host's push-constant structures against the kernels' blocks.

use super::{Family, Kernel};

/// A field of a host structure.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name, which must be the GLSL member's.
    pub name: &'static str,
    /// `offset_of!`, in bytes.
    pub offset: u32,
    /// `size_of`, in bytes.
    pub size: u32,
    /// Whether it is a device address.
    pub pointer: bool,
}

/// Whether the fields equal the members of the kernel's push-constant block in name, order, offset, size and
/// being pointers.
pub const fn same_layout(kernel: &Kernel, fields: &[Field]) -> bool {
    difference(kernel, fields).is_none()
}

/// Fails to compile, in a `const`, where [`same_layout`] is false for a module of the family.
///
/// ```
/// # use subsweep::kernels::{Field, PROBE_COPY, assert_layout};
/// const _: () = assert_layout(&PROBE_COPY, &[
///     Field { name: "source", offset: 0, size: 8, pointer: true },
///     Field { name: "destination", offset: 8, size: 8, pointer: true },
///     Field { name: "quad_count", offset: 16, size: 4, pointer: false },
/// ]);
/// ```
/// ```compile_fail
/// # use subsweep::kernels::{Field, PROBE_COPY, assert_layout};
/// const _: () = assert_layout(&PROBE_COPY, &[
///     Field { name: "source", offset: 0, size: 8, pointer: true },
///     Field { name: "destination", offset: 8, size: 8, pointer: true },
///     Field { name: "quad_count", offset: 20, size: 4, pointer: false }, // the block has it at 16
/// ]);
/// ```
pub const fn assert_layout(family: &Family, fields: &[Field]) {
    let mut index = 0;
    while index < family.modules().len() {
        let kernel = family.modules()[index];
        if let Some(Difference { what, field }) = difference(kernel, fields) {
            Message::new()
                .with(what)
                .with(" (kernel ")
                .with(kernel.name)
                .with(", field ")
                .with(field)
                .with(")")
                .panic();
        }
        index += 1;
    }
}

struct Difference {
    what: &'static str,
    field: &'static str,
}

const fn difference(kernel: &Kernel, fields: &[Field]) -> Option<Difference> {
    let members = kernel.push_constants;
    let mut index = 0;
    while index < members.len() || index < fields.len() {
        if index >= fields.len() {
            return Some(Difference { what: "a push constant has no field", field: members[index].name });
        }
        let field = &fields[index];
        if index >= members.len() {
            return Some(Difference { what: "a field is beyond the push constants", field: field.name });
        }
        let member = &members[index];
        let what = if !same_text(member.name, field.name) {
            "a field and its push constant differ in name"
        } else if member.offset != field.offset {
            "a field and its push constant differ in offset"
        } else if member.size != field.size {
            "a field and its push constant differ in size"
        } else if member.access.is_some() != field.pointer {
            "one of a field and its push constant is a pointer"
        } else {
            index += 1;
            continue;
        };
        return Some(Difference { what, field: field.name });
    }
    None
}

pub(super) const fn same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

/// Text formatted in a `const`, where `format!` is unavailable.
struct Message {
    bytes: [u8; 256],
    length: usize,
}

impl Message {
    const fn new() -> Self {
        Self { bytes: [0; 256], length: 0 }
    }

    const fn with(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < self.bytes.len() {
            self.bytes[self.length] = text[index];
            self.length += 1;
            index += 1;
        }
        self
    }

    const fn panic(&self) -> ! {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("the push constants differ from their structure"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KernelAccess, PushConstant};
    use super::*;
    use std::mem::offset_of;

    static KERNEL: Kernel = Kernel {
        name: "probe/copy",
        defines: &[],
        spirv: &[],
        hash: 0,
        workgroup_size_id: None,
        push_constants: &[
            PushConstant { name: "source", offset: 0, size: 8, access: Some(KernelAccess::READ) },
            PushConstant { name: "destination", offset: 8, size: 8, access: Some(KernelAccess::NONE) },
            PushConstant { name: "count", offset: 16, size: 4, access: None },
        ],
        spec_constants: &[],
    };

    #[repr(C)]
    struct Push {
        source: u64,
        destination: u64,
        count: u32,
    }

    const fn field(name: &'static str, offset: usize, size: u32, pointer: bool) -> Field {
        Field { name, offset: offset as u32, size, pointer }
    }

    const RIGHT: [Field; 3] = [
        field("source", offset_of!(Push, source), 8, true),
        field("destination", offset_of!(Push, destination), 8, true),
        field("count", offset_of!(Push, count), 4, false),
    ];

    static FAMILY: Family = Family::new(&[&KERNEL]);

    const _: () = assert_layout(&FAMILY, &RIGHT);

    /// The first difference, with one field replaced.
    fn difference_at(index: usize, wrong: Field) -> Option<&'static str> {
        let mut fields = RIGHT;
        fields[index] = wrong;
        assert_eq!(same_layout(&KERNEL, &fields), difference(&KERNEL, &fields).is_none());
        difference(&KERNEL, &fields).map(|difference| difference.what)
    }

    #[test]
    fn the_right_fields_pass() {
        assert!(same_layout(&KERNEL, &RIGHT));
    }

    #[test]
    fn a_wrong_field_is_refused() {
        let part = |word: &str, found: Option<&str>| {
            assert!(found.is_some_and(|found| found.contains(word)), "{found:?}")
        };
        part("name", difference_at(2, field("coun", 16, 4, false)));
        part("name", difference_at(2, field("counts", 16, 4, false)));
        part("offset", difference_at(2, field("count", 20, 4, false)));
        part("size", difference_at(2, field("count", 16, 8, false)));
        part("pointer", difference_at(2, field("count", 16, 4, true)));
        part("pointer", difference_at(0, field("source", 0, 8, false)));
    }

    #[test]
    fn moved_missing_and_extra_fields_are_refused() {
        let [source, destination, count] = RIGHT;
        assert!(!same_layout(&KERNEL, &[destination, source, count]));
        assert!(!same_layout(&KERNEL, &[source, destination]));
        assert!(!same_layout(&KERNEL, &[source, destination, count, field("more", 20, 4, false)]));
        assert!(!same_layout(&KERNEL, &[]));
    }

    #[test]
    #[should_panic(expected = "differ in offset (kernel probe/copy, field source)")]
    fn the_message_names_kernel_and_field() {
        assert_layout(&FAMILY, &[field("source", 4, 8, true)]);
    }
}
