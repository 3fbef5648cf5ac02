//! Foreign text in our own lines.

/// `text`, cut to about `max_length` characters and escaped so that it cannot leave its line or steer a terminal.
pub fn printable(text: &[u8], max_length: usize) -> String {
    let mut shown = String::new();
    for &byte in text {
        if shown.len() >= max_length {
            shown.push('…');
            break;
        }
        match byte {
            b' '..=b'~' => shown.push(byte.into()),
            _ => shown.extend(byte.escape_ascii().map(char::from)),
        }
    }
    shown
}

#[cfg(test)]
mod tests;
