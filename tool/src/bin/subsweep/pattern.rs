//! Patterns of `--filter`.

/// Whether `text` contains `pattern`, in which `*` matches any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere_and_a_star_matches_any_text() {
        let id = "sort:keys:type=u32;algorithm=radix-2bit;bits=0:32;n=4097;input=uniform";
        for pattern in ["", "*", "sort", "radix-2bit", "sort*n=4097", "*uniform", "keys*bits=0:32*"] {
            assert!(matches(pattern, id), "{pattern}");
        }
        for pattern in ["scan", "n=4097*sort", "SORT", "radix?"] {
            assert!(!matches(pattern, id), "{pattern}");
        }
    }
}
