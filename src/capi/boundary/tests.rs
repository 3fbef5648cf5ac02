use super::*;

fn last_error_text() -> String {
    // SAFETY: the text stays until this thread's next failure.
    unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap().to_owned()
}

fn refuse(what: &'static str) {
    assert_eq!(result(|| Err(Failure::Null(what))).as_raw(), super::super::SUBSWEEP_ERROR_NULL);
}

#[test]
fn a_panic_ends_here_and_is_reported() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let code = result(|| panic!("no {} here", "way"));
    let worth = value(7, || std::panic::panic_any(3u64));
    std::panic::set_hook(hook);
    assert_eq!(code.as_raw(), super::super::SUBSWEEP_ERROR_PANIC);
    assert_eq!(worth, 7);
    assert!(last_error_text().contains("no message"), "{}", last_error_text());
    refuse("a \0 pointer");
    assert!(last_error_text().contains("a ? pointer"), "{}", last_error_text());
}

#[test]
fn an_error_text_lasts_until_the_threads_next_failure() {
    assert_eq!(last_error_text(), "");
    refuse("the first");
    assert_eq!(result(|| Ok(())), VkResult::SUCCESS);
    let other = std::thread::spawn(|| {
        refuse("the other");
        last_error_text()
    });
    assert!(other.join().unwrap().contains("the other"));
    assert!(last_error_text().contains("the first"));
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Two {
    struct_size: u32,
    first: u32,
    second: u32,
}

// SAFETY: three u32.
unsafe impl Versioned for Two {
    const NAME: &'static str = "Two";
    const FIRST_SIZE: usize = 8;
}

#[test]
fn older_and_newer_structures_are_read() {
    let read = |words: &[u32]| {
        // SAFETY: the slice has as many bytes as its first word, or the size is refused.
        unsafe { read(words.as_ptr().cast::<Two>()) }.map(|two| (two.first, two.second))
    };
    assert_eq!(read(&[8, 5, 9]).unwrap(), (5, 0));
    assert_eq!(read(&[12, 5, 9]).unwrap(), (5, 9));
    assert_eq!(read(&[20, 5, 9, 0, 0]).unwrap(), (5, 9));
    for words in [&[0, 5, 9, 0, 0], &[4, 5, 9, 0, 0], &[20, 5, 9, 0, 1], &[u32::MAX, 0, 0, 0, 0]] {
        let refused = read(words);
        assert!(matches!(refused, Err(Failure::StructSize { expected: 12, .. })), "{refused:?}");
    }
    // SAFETY: null is refused.
    assert!(matches!(unsafe { super::read::<Two>(std::ptr::null()) }, Err(Failure::Null("Two"))));
}
