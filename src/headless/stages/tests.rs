use super::*;
use crate::Error;

struct Number {
    value: u64,
    is_started: bool,
}

/// Streams the numbers up to `count` through `chunk_count` chunks, and returns their squares.
fn squares(count: u64, chunk_count: usize, failing: Option<&'static str>) -> Result<Vec<u64>, Error> {
    let error = |stage: &'static str, value: u64| match failing {
        Some(failing) if failing == stage && value == 5 => Err(Error::Unsupported { reason: stage }),
        _ => Ok(()),
    };
    let (mut next, mut result) = (0..count, Vec::new());
    let chunks = (0..chunk_count).map(|_| Number { value: 0, is_started: false }).collect();
    Stages {
        fill: |chunk: &mut Number| {
            let Some(value) = next.next() else { return Ok(false) };
            chunk.value = value;
            error("fill", value).map(|()| true)
        },
        start: |chunk: &mut Number| {
            chunk.is_started = true;
            error("start", chunk.value)
        },
        wait: |chunk: &mut Number| {
            assert!(std::mem::take(&mut chunk.is_started));
            if chunk.value == 77 { Err(Error::NoDevice) } else { Ok(()) }
        },
        drain: |chunk: &mut Number| {
            result.push(chunk.value * chunk.value);
            error("drain", chunk.value)
        },
    }
    .run(chunks)?;
    Ok(result)
}

#[test]
fn chunks_keep_their_order() {
    for count in [0, 1, 2, 50] {
        for chunk_count in [1, 2, 5] {
            let expected: Vec<_> = (0..count).map(|value| value * value).collect();
            assert_eq!(squares(count, chunk_count, None), Ok(expected));
        }
    }
}

#[test]
fn the_error_of_any_stage_ends_all() {
    for chunk_count in [1, 2, 5] {
        for stage in ["fill", "start", "drain"] {
            let ended = squares(1_000, chunk_count, Some(stage));
            assert_eq!(ended, Err(Error::Unsupported { reason: stage }));
        }
        assert_eq!(squares(1_000, chunk_count, None), Err(Error::NoDevice));
    }
}
