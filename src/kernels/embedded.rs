//! Modules as they are embedded: words in a form that deflates to seven tenths of what SPIR-V itself does.
//!
//! Most operands of an instruction are ids that were defined shortly before. Each becomes its distance from the result of the
//! instruction before, as in Aras Pranckevičius's SMOL-V, which is the same for the same code elsewhere in the module. The
//! bytes of all words are grouped by their place in the word, since the high ones are mostly 0.

/// Words before the first instruction; the fourth of them is the bound of ids.
const HEADER: usize = 5;

/// Ids from here on become distances. Earlier ids are of types, constants and variables, and literals are small, too.
const FIRST: u32 = 1024;

/// The bytes of a module's words that are deflated.
pub fn encode(words: &[u32]) -> Vec<u8> {
    let mut coded = words.to_vec();
    visit(&mut coded, |id, last, ids| (id, (id + ids - last) % ids));
    (0..4).flat_map(|place| coded.iter().map(move |word| word.to_le_bytes()[place])).collect()
}

/// The words of [`encode`]d bytes.
pub fn decode(bytes: &[u8]) -> Vec<u32> {
    let count = bytes.len() / 4;
    let word = |index| u32::from_le_bytes(std::array::from_fn(|place| bytes[place * count + index]));
    let mut words: Vec<_> = (0..count).map(word).collect();
    visit(&mut words, |distance, last, ids| ((distance + last) % ids, (distance + last) % ids));
    words
}

/// Replaces each operand from [`FIRST`] to the bound of ids, less `FIRST`, by the second number of `recode`, the first one
/// being the id. It is passed the result of an instruction before, and the number of ids. Whether a word is an id is not
/// asked: that would take a table of instructions.
fn visit(words: &mut [u32], recode: impl Fn(u32, u32, u32) -> (u32, u32)) {
    let ids = words.get(3).map_or(0, |bound| bound.saturating_sub(FIRST));
    let (mut begin, mut last) = (HEADER, 0);
    while begin < words.len() {
        let end = begin + (words[begin] >> 16).max(1) as usize;
        let mut result = None;
        for index in begin + 1..end.min(words.len()) {
            let operand = words[index].wrapping_sub(FIRST);
            if operand < ids {
                let (id, replaced) = recode(operand, last, ids);
                words[index] = FIRST + replaced;
                // Where an instruction has a result, it is the second operand.
                result = if index == begin + 2 { Some(id) } else { result };
            }
        }
        last = result.unwrap_or(last);
        begin = end;
    }
}
