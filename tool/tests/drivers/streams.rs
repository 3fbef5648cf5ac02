//! Scans and sorts in chunks: equal to scans and sorts of the whole.

use std::io::{self, Cursor, Read};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::headless::{
    Backward, Gpu, ScanInputs, ScanStream, SortPhase, SortProgress, SortStream, StreamError,
};
use subsweep::scan::{ScanConfig, ScanKind, ScanOperator, SegmentsBy};
use subsweep::sort::{SortAlgorithm, SortConfig, SortPolicy, ValueSize};
use subsweep::{Bf16, ElementType, Error, F16, FloatOrder};
use subsweep_tool::reference::oracle::Key as _;

use super::cases::clean_trials;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "streams");
    vec![
        trial("chunks give the result of a scan of the whole", as_a_whole),
        trial("sums of floats do not depend on the memory", sums_of_floats),
        trial("sums of floats of 16 bits are rounded once", sums_of_packed_floats),
        trial("errors of the source, the sink and the segments are returned", refusals),
        trial("runs are merged in the order of a stable sort", sorts),
        trial("runs are merged on the device, block by block", merges_on_device),
        trial("a sort reports its phases and their bytes", progress_of_sorts),
        trial("values of more than 8 bytes move in one chunk alone", wide_values),
        trial("errors of a sort's sources, sinks and temporary files are returned", refusals_of_sorts),
    ]
}

/// Rows of a chunk.
const ROWS: u64 = 1_000;

/// A stream's inputs.
struct Inputs<'a> {
    config: ScanConfig,
    bytes: &'a [u8],
    initial: Option<&'a [u8]>,
    segments: Option<Vec<u64>>,
    memory_size: Option<u64>,
}

fn scan(gpu: &Gpu, inputs: Inputs<'_>) -> Result<Vec<u8>, StreamError> {
    let Inputs { config, bytes, initial, segments, memory_size } = inputs;
    let mut result = vec![0; bytes.len()];
    let (mut ascending, mut descending) = (segments.clone(), segments);
    let mut ascending = ascending.iter_mut().flatten().map(|begin| Ok(*begin));
    let mut descending = descending.iter_mut().flatten().rev().map(|begin| Ok(*begin));
    let is_segmented = config.segments_by() == Some(SegmentsBy::Offsets);
    let mut stream = ScanStream {
        initial,
        row_count: Some(bytes.len() as u64 / config.row_size()),
        chunk_size: Some(ROWS * config.row_size()),
        memory_size,
        ..ScanStream::default()
    };
    let end = bytes.len() as u64;
    let written = Cursor::new(&mut result[..]);
    if config.is_reverse() {
        stream.segments = if is_segmented { Some(&mut descending) } else { None };
        gpu.scan_stream(
            config,
            stream,
            Backward::new(Cursor::new(bytes), 0, end),
            Backward::new(written, 0, end),
        )?;
    } else {
        stream.segments = if is_segmented { Some(&mut ascending) } else { None };
        gpu.scan_stream(config, stream, bytes, written)?;
    }
    Ok(result)
}

fn words(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7).collect()
}

fn as_a_whole(gpu: &Gpu) -> Result<(), Failed> {
    use ElementType as E;
    use ScanKind::{Exclusive, Inclusive};
    let of = |kind, element| ScanConfig::new(kind, element);
    // Most have pipelines in common, which take nearly all of the time.
    let (plain, reverse) = (of(Inclusive, E::U32), of(Exclusive, E::U32).reverse());
    let configs = [
        plain,
        reverse,
        plain.segments(SegmentsBy::Offsets),
        reverse.segments(SegmentsBy::Offsets),
        // Rows of which a chunk has several, one, and a part.
        plain.along_rows(7),
        reverse.along_rows(600),
        plain.along_rows(ROWS as u32 + 1),
        reverse.along_rows(ROWS as u32 + 1),
        of(Exclusive, E::I32).columns(3).operator(ScanOperator::Max).segments(SegmentsBy::Offsets),
        of(Inclusive, E::I64).reverse().columns(2).operator(ScanOperator::Xor).segments(SegmentsBy::Offsets),
        // Chunks that end within a word.
        of(Inclusive, E::U8).columns(5),
        of(Exclusive, E::I16).columns(3).reverse().segments(SegmentsBy::Offsets),
        of(Inclusive, E::F32).monotone(),
        of(Exclusive, E::F32).reverse().segments(SegmentsBy::Offsets).monotone(),
        of(Exclusive, E::F32).columns(2).monotone(),
        of(Inclusive, E::F32).along_rows(7).monotone(),
        of(Inclusive, E::F32).reverse().along_rows(ROWS as u32 + 1).monotone(),
    ];
    // Segments that begin at the first and the last row of chunks, in none, twice, and at the end of all rows.
    let sparse = vec![0, 5, ROWS - 1, ROWS, ROWS, 3 * ROWS - 1, 3 * ROWS + 7];
    let dense: Vec<u64> = (0..4 * ROWS).step_by(7).collect();
    for config in configs {
        let row_size = config.row_size() as usize;
        let initial: Vec<u8> = match config.is_monotone() {
            true => 2f32.to_le_bytes().repeat(row_size / 4),
            false => (0..row_size as u8).map(|byte| byte + 11).collect(),
        };
        for rows in [0, ROWS + 1, 3 * ROWS, 4 * ROWS - 1].map(|rows| rows as usize) {
            let mut words = words((rows * row_size).div_ceil(4));
            if config.is_monotone() {
                // Whole numbers, whose sums are exact, and decrease.
                words.iter_mut().for_each(|word| *word = ((*word % 9) as f32 - 4.0).to_bits());
            }
            let bytes = &bytemuck::cast_slice(&words)[..rows * row_size];
            for (segments, initial) in [(&sparse, None), (&dense, Some(&initial[..]))] {
                let mut segments: Vec<u64> =
                    segments.iter().copied().filter(|&begin| begin <= rows as u64).collect();
                segments.push(rows as u64);
                let by_offsets = config.segments_by() == Some(SegmentsBy::Offsets);
                let segments = by_offsets.then_some(segments);
                let offsets: Vec<u32> = segments.iter().flatten().map(|&begin| begin as u32).collect();
                let mut expected = bytes.to_vec();
                gpu.scan_bytes(config, &mut expected, ScanInputs { initial, segments: &offsets })?;
                let inputs = Inputs { config, bytes, initial, segments, memory_size: None };
                let result = scan(gpu, inputs)?;
                let wrong = result.iter().zip(&expected).position(|(a, b)| a != b);
                assert_eq!(wrong, None, "{config:?}, {rows} rows, initial {initial:?}");
            }
        }
    }
    Ok(())
}

fn sums_of_floats(gpu: &Gpu) -> Result<(), Failed> {
    let config = ScanConfig::exclusive(ElementType::F32);
    let values: Vec<f32> = (0..5 * ROWS).map(|i| (i as f32 * 0.7).sin()).collect();
    let bytes = bytemuck::cast_slice(&values);
    let scan = |memory_size| scan(gpu, Inputs { config, bytes, initial: None, segments: None, memory_size });
    let expected = scan(None)?;
    // The exact sum of all but the last, to within the rounding of so many additions.
    let exact: f64 = values[..values.len() - 1].iter().map(|&value| f64::from(value)).sum();
    let last = f64::from(bytemuck::pod_read_unaligned::<f32>(&expected[expected.len() - 4..]));
    assert!((last - exact).abs() < 1e-3, "{last} instead of {exact}");
    let Err(StreamError::Memory { needed: min, given: 0 }) = scan(Some(0)) else {
        return Err("no memory is enough".into());
    };
    assert!(matches!(scan(Some(min - 1)), Err(StreamError::Memory { .. })));
    for memory_size in [min, 2 * min, 3 * min] {
        assert!(scan(Some(memory_size))? == expected, "{memory_size} bytes");
    }
    Ok(())
}

/// Chunks carry sums of 32 bits, which are exact here and take more bits than an f16 or a bf16 has.
fn sums_of_packed_floats(gpu: &Gpu) -> Result<(), Failed> {
    use ScanKind::{Exclusive, Inclusive};
    let to_f32 = |element, bits| match element {
        ElementType::F16 => F16(bits).to_f32(),
        _ => Bf16(bits).to_f32(),
    };
    let rounded = |element, value| match element {
        ElementType::F16 => F16::from_f32(value).0,
        _ => Bf16::from_f32(value).0,
    };
    let half = ScanConfig::inclusive(ElementType::F16);
    let of = |kind, columns| ScanConfig::new(kind, ElementType::Bf16).columns(columns);
    let segments = vec![0, 5, ROWS, 2 * ROWS + 700, 3 * ROWS - 1];
    // By kernels that take elements as they are, but for what is carried from chunk to chunk.
    for config in [half, half.out_of_place().reverse()] {
        let numbers = vec![F16::from_f32(1.0); 3 * ROWS as usize];
        let bytes = bytemuck::cast_slice(&numbers);
        let result = scan(gpu, Inputs { config, bytes, initial: None, segments: None, memory_size: None })?;
        let sum = |row: usize| if config.is_reverse() { numbers.len() - row } else { row + 1 };
        let is_sum =
            |(row, sum_of_row): (usize, &[u8])| sum_of_row == F16::from_f32(sum(row) as f32).0.to_le_bytes();
        assert!(result.chunks(2).enumerate().all(is_sum), "{config:?}");
    }
    for (config, segments) in [
        (half, None),
        (half.out_of_place().monotone(), None),
        (half.reverse(), None),
        (half.along_rows(300), None),
        (half.along_rows(2 * ROWS as u32), None),
        (of(Exclusive, 1).reverse(), None),
        (of(Exclusive, 3).segments(SegmentsBy::Offsets), Some(segments.clone())),
        (of(Inclusive, 2).reverse().segments(SegmentsBy::Offsets), Some(segments)),
    ] {
        let element = config.element_type().ok_or("the elements are numbers")?;
        let columns = config.column_count() as usize;
        let rows = 5 * ROWS as usize - 3;
        let numbers: Vec<u16> =
            words(rows * columns).iter().map(|word| rounded(element, (word % 13) as f32 / 4.0)).collect();
        let is_fresh = |row: usize| match (config.segments_by(), &segments) {
            (Some(SegmentsBy::FixedSize(length)), _) => row.is_multiple_of(length as usize),
            (_, Some(begins)) => begins.contains(&(row as u64)),
            _ => false,
        };
        // Of a reverse scan a segment is entered at its last row.
        let is_entered = |row: usize| if config.is_reverse() { is_fresh(row + 1) } else { is_fresh(row) };
        let order: Vec<usize> =
            if config.is_reverse() { (0..rows).rev().collect() } else { (0..rows).collect() };
        let initial = vec![rounded(element, 0.75); columns];
        let mut expected = vec![0; numbers.len()];
        let mut sums = vec![0.75; columns];
        for row in order {
            if is_entered(row) {
                sums.fill(0.75);
            }
            for (column, sum) in sums.iter_mut().enumerate() {
                let index = row * columns + column;
                let before = *sum;
                *sum += to_f32(element, numbers[index]);
                let result = if config.kind() == Inclusive { *sum } else { before };
                expected[index] = rounded(element, result);
            }
        }
        let (bytes, initial) = (bytemuck::cast_slice(&numbers), Some(bytemuck::cast_slice(&initial)));
        let result = scan(gpu, Inputs { config, bytes, initial, segments, memory_size: None })?;
        let wrong =
            result.chunks(2).zip(&expected).position(|(got, &expected)| got != expected.to_le_bytes());
        assert_eq!(wrong, None, "{config:?}");
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let plain = ScanConfig::inclusive(ElementType::U64);
    let bytes = vec![1u8; 8 * 5_000];
    let options = || ScanStream { chunk_size: Some(8 * ROWS), ..ScanStream::default() };
    let is_read = |ended: Result<(), StreamError>, text: &str| match ended {
        Err(StreamError::Read(error)) => assert_eq!(error.to_string(), text),
        ended => panic!("{ended:?}"),
    };
    is_read(gpu.scan_stream(plain, options(), Broken, io::sink()), "gone");
    is_read(gpu.scan_stream(plain, options(), bytes.as_slice().chain(Broken), io::sink()), "gone");
    is_read(gpu.scan_stream(plain, options(), &bytes[..8 * 1_500 + 3], io::sink()), "it ends within a row");
    let mut short = [0u8; 8 * 2_500];
    let ended = gpu.scan_stream(plain, options(), &bytes[..], &mut short[..]);
    assert!(matches!(ended, Err(StreamError::Write(_))), "{ended:?}");
    let segmented = plain.segments(SegmentsBy::Offsets);
    for (begins, text) in [
        (vec![7, 6], "a segment begins at row 6, and was given after one at 7"),
        (vec![1_500, 1_400], "a segment begins at row 1400, and was given after one at 1500"),
        (vec![2_500, 900], "a segment begins at row 900, and was given after one at 2500"),
        (vec![5_000, 5_001], "a segment begins at row 5001, and there are 5000"),
    ] {
        let mut segments = begins.into_iter().map(Ok);
        let options = ScanStream { segments: Some(&mut segments), ..options() };
        let ended = gpu.scan_stream(segmented, options, &bytes[..], io::sink());
        assert_eq!(ended.unwrap_err().to_string(), text);
    }
    let mut segments = std::iter::once(Err(io::Error::other("no segments")));
    let broken = ScanStream { segments: Some(&mut segments), ..options() };
    is_read(gpu.scan_stream(segmented, broken, &bytes[..], io::sink()), "no segments");
    let rows = plain.along_rows(100);
    for (config, text) in [
        (plain.segments(SegmentsBy::Flags), "the segments of a stream are offsets, or the rows of a table"),
        (rows, "a stream along rows needs row_count"),
        (rows.reverse(), "a stream along rows needs row_count"),
    ] {
        let ended = gpu.scan_stream(config, options(), &bytes[..], io::sink());
        assert!(ended.as_ref().unwrap_err().to_string().contains(text), "{ended:?}");
    }
    for length in [0, 100] {
        let options = ScanStream { row_count: Some(5_000), ..options() };
        let ended = gpu.scan_stream(plain.along_rows(length), options, &bytes[..], io::sink());
        assert_eq!(ended.is_ok(), length > 0, "{ended:?}");
    }
    for config in [plain, rows] {
        let mut segments = std::iter::once(Ok(7));
        let options = ScanStream { segments: Some(&mut segments), row_count: Some(5_000), ..options() };
        let ended = gpu.scan_stream(config, options, &bytes[..], io::sink());
        assert!(matches!(ended, Err(StreamError::Device(Error::Unsupported { .. }))), "{ended:?}");
    }
    Ok(())
}

/// Keys of a chunk of a sort. There are more runs than are merged at a time.
const CHUNK_COUNT: u64 = 100;
const KEY_COUNT: usize = 7_003;

/// Sorts by chunks, merges on the host, and returns keys and values.
fn sort(
    gpu: &Gpu,
    config: SortConfig,
    keys: &[u8],
    values: Option<&[u8]>,
    count: Option<u64>,
) -> Result<[Vec<u8>; 2], StreamError> {
    sort_by(gpu, config, keys, values, count, (CHUNK_COUNT, None, Some(false)))
}

/// Sorts by chunks of so many keys, within a memory limit, as on a GPU or not.
fn sort_by(
    gpu: &Gpu,
    config: SortConfig,
    keys: &[u8],
    mut values: Option<&[u8]>,
    count: Option<u64>,
    (chunk_count, memory_size, as_on_gpu): (u64, Option<u64>, Option<bool>),
) -> Result<[Vec<u8>; 2], StreamError> {
    let mut sorted = [Vec::new(), Vec::new()];
    let [sorted_keys, sorted_values] = &mut sorted;
    let mut keys = keys;
    let stream = SortStream {
        keys: &mut keys,
        values: values.as_mut().map(|values| values as _),
        sorted_keys: Some(sorted_keys),
        sorted_values: Some(sorted_values),
        count,
        memory_size,
        chunk_size: Some(chunk_count * config.key_size()),
        as_on_gpu,
        temporary: &mut tempfile::tempfile,
        progress: None,
    };
    gpu.sort_stream(config, stream)?;
    Ok(sorted)
}

fn sorts(gpu: &Gpu) -> Result<(), Failed> {
    let words = words(2 * KEY_COUNT);
    // Many equal keys, of both signs.
    let u32_keys: Vec<u32> = words[..KEY_COUNT].iter().map(|word| (word >> 16) << 23 | word & 3).collect();
    let f64_keys: Vec<f64> = u32_keys.iter().map(|&key| f64::from(key as i32) / 3.0).collect();
    let values: &[u8] = bytemuck::cast_slice(&words);
    let order = |is_before: &dyn Fn(usize, usize) -> std::cmp::Ordering| {
        let mut order: Vec<usize> = (0..KEY_COUNT).collect();
        order.sort_by(|&a, &b| is_before(a, b));
        order
    };
    let permuted = |bytes: &[u8], size: usize, order: &[usize]| {
        order.iter().flat_map(|&index| &bytes[index * size..][..size]).copied().collect::<Vec<u8>>()
    };
    let by_u32 = order(&|a, b| u32_keys[a].cmp(&u32_keys[b]));
    let by_bits = order(&|a, b| (u32_keys[b] as u8 >> 1).cmp(&(u32_keys[a] as u8 >> 1)));
    let by_f64 = order(&|a, b| f64_keys[b].total_cmp(&f64_keys[a]));
    let u16_keys: Vec<u16> = u32_keys.iter().map(|key| (key >> 20) as u16).collect();
    let by_u16 = order(&|a, b| u16_keys[b].cmp(&u16_keys[a]));
    let packed_keys: &[u8] = bytemuck::cast_slice(&u16_keys);
    let (keys, wide_keys): (&[u8], &[u8]) =
        (bytemuck::cast_slice(&u32_keys), bytemuck::cast_slice(&f64_keys));
    for count in [None, Some(KEY_COUNT as u64)] {
        let [sorted, none] = sort(gpu, SortConfig::keys(ElementType::U32), keys, None, count)?;
        assert!(sorted == permuted(keys, 4, &by_u32) && none.is_empty());
        let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B8).bits(1..8).descending();
        let [sorted, moved] = sort(gpu, pairs, keys, Some(values), count)?;
        assert!(sorted == permuted(keys, 4, &by_bits) && moved == permuted(values, 8, &by_bits));
        let argsort = SortConfig::argsort(ElementType::F64).descending();
        let [sorted, indices] = sort(gpu, argsort, wide_keys, None, count)?;
        let expected: Vec<u8> = by_f64.iter().flat_map(|&index| (index as u32).to_le_bytes()).collect();
        assert!(sorted == permuted(wide_keys, 8, &by_f64) && indices == expected);
        let pairs = SortConfig::pairs(ElementType::U16, ValueSize::B4).descending();
        let [sorted, moved] = sort(gpu, pairs, packed_keys, Some(&values[..4 * KEY_COUNT]), count)?;
        assert!(sorted == permuted(packed_keys, 2, &by_u16) && moved == permuted(values, 4, &by_u16));
    }
    // A single chunk, and none.
    for count in [0, 1, CHUNK_COUNT as usize] {
        let mut expected = u32_keys[..count].to_vec();
        expected.sort_unstable();
        let [sorted, _] =
            sort(gpu, SortConfig::keys(ElementType::U32), &keys[..4 * count], None, Some(count as u64))?;
        assert!(sorted == bytemuck::cast_slice::<u32, u8>(&expected), "{count} keys");
    }
    Ok(())
}

fn merges_on_device(gpu: &Gpu) -> Result<(), Failed> {
    // More runs than are merged at a time; then more keys than a block of a merge has, and more bytes than one of a copy.
    for (key_count, options) in
        [(KEY_COUNT, (CHUNK_COUNT, None, Some(true))), (700_003, (300_000, Some(56 << 20), Some(true)))]
    {
        let words = words(2 * key_count);
        let narrow: Vec<u32> = words[..key_count].iter().map(|word| word >> 9).collect();
        let wide: Vec<i64> = narrow.iter().map(|&key| i64::from(key) << 20 ^ i64::MIN >> (key & 3)).collect();
        let mut order: Vec<usize> = (0..key_count).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(wide[index]));
        let (values, keys): (&[u8], &[u8]) = (bytemuck::cast_slice(&words), bytemuck::cast_slice(&wide));
        let pairs = SortConfig::pairs(ElementType::I64, ValueSize::B8).descending();
        let [sorted, moved] = sort_by(gpu, pairs, keys, Some(values), Some(key_count as u64), options)?;
        assert!(bytemuck::cast_slice::<u8, i64>(&sorted).iter().eq(order.iter().map(|&index| &wide[index])));
        let pairs = words.as_chunks::<2>().0;
        let moved = bytemuck::cast_slice::<u8, [u32; 2]>(&moved);
        assert!(moved.iter().eq(order.iter().map(|&index| &pairs[index])));

        order.sort_by_key(|&index| (narrow[index], index));
        let argsort = SortConfig::argsort(ElementType::U32);
        let [sorted, indices] = sort_by(gpu, argsort, bytemuck::cast_slice(&narrow), None, None, options)?;
        assert!(bytemuck::cast_slice::<u8, u32>(&sorted).iter().eq(order.iter().map(|&i| &narrow[i])));
        assert!(bytemuck::cast_slice::<u8, u32>(&indices).iter().map(|&i| i as usize).eq(order));
    }
    // All at once, in more than one block of a copy.
    let mut words = words(700_003);
    let options = (words.len() as u64, None, Some(true));
    let keys = SortConfig::keys(ElementType::U32);
    let count = Some(words.len() as u64);
    let [sorted, _] = sort_by(gpu, keys, bytemuck::cast_slice(&words), None, count, options)?;
    words.sort_unstable();
    assert!(sorted == bytemuck::cast_slice::<u32, u8>(&words));
    // Equal floats keep their order and their bits, whoever merges.
    let numbers = [f32::NAN, -f32::NAN, -0.0, 0.0, 1.0, -1.0, f32::INFINITY];
    let floats: Vec<f32> = words[..KEY_COUNT].iter().map(|&word| numbers[word as usize % 7]).collect();
    let mut order: Vec<usize> = (0..KEY_COUNT).collect();
    order.sort_by(|&a, &b| floats[b].compare(floats[a], FloatOrder::Numpy));
    let argsort = SortConfig::argsort(ElementType::F32).descending().order(FloatOrder::Numpy);
    for as_on_gpu in [false, true] {
        let options = (CHUNK_COUNT, None, Some(as_on_gpu));
        let [sorted, indices] = sort_by(gpu, argsort, bytemuck::cast_slice(&floats), None, None, options)?;
        assert!(
            bytemuck::cast_slice::<u8, u32>(&indices).iter().map(|&i| i as usize).eq(order.iter().copied())
        );
        let bits = order.iter().map(|&index| floats[index].to_bits());
        assert!(bytemuck::cast_slice::<u8, u32>(&sorted).iter().copied().eq(bits));
    }
    // The host merges by some of the bits.
    words.truncate(KEY_COUNT);
    words.reverse();
    let bits = SortConfig::keys(ElementType::U32).bits(1..8);
    let options = (CHUNK_COUNT, None, Some(true));
    let [sorted, _] = sort_by(gpu, bits, bytemuck::cast_slice(&words), None, None, options)?;
    words.sort_by_key(|word| word >> 1 & 127);
    assert!(sorted == bytemuck::cast_slice::<u32, u8>(&words));
    Ok(())
}

fn progress_of_sorts(gpu: &Gpu) -> Result<(), Failed> {
    let phases_of = |key_count: usize, count: Option<u64>| -> Result<Vec<SortProgress>, Failed> {
        let words = words(3 * key_count);
        let (keys, values) = words.split_at(key_count);
        let mut phases = Vec::<SortProgress>::new();
        let stream = SortStream {
            keys: &mut bytemuck::cast_slice(keys),
            values: Some(&mut bytemuck::cast_slice(values)),
            sorted_keys: Some(&mut io::sink()),
            sorted_values: Some(&mut io::sink()),
            count,
            memory_size: None,
            chunk_size: Some(4 * CHUNK_COUNT),
            as_on_gpu: None,
            temporary: &mut tempfile::tempfile,
            progress: Some(&mut |progress| match phases.last_mut() {
                Some(last) if last.phase == progress.phase => {
                    assert!(last.done_size <= progress.done_size);
                    *last = progress;
                }
                _ => {
                    assert_eq!(progress.done_size, 0);
                    phases.push(progress);
                }
            }),
        };
        gpu.sort_stream(SortConfig::pairs(ElementType::U32, ValueSize::B8), stream)?;
        Ok(phases)
    };
    let done = |phase, key_count: usize, is_known: bool| {
        let done_size = 12 * key_count as u64;
        SortProgress { phase, done_size, size: is_known.then_some(done_size) }
    };
    let merging = |round, round_count| SortPhase::Merging { round, round_count };
    assert_eq!(
        phases_of(KEY_COUNT, None)?,
        [
            done(SortPhase::Sorting, KEY_COUNT, false),
            done(merging(1, 2), KEY_COUNT, true),
            done(merging(2, 2), KEY_COUNT, true),
        ]
    );
    let two_chunks = 2 * CHUNK_COUNT as usize;
    assert_eq!(
        phases_of(two_chunks, Some(two_chunks as u64))?,
        [done(SortPhase::Sorting, two_chunks, true), done(merging(1, 1), two_chunks, true)]
    );
    assert_eq!(
        phases_of(5, Some(5))?,
        [done(SortPhase::Sorting, 5, true), done(SortPhase::Writing, 5, true)]
    );
    Ok(())
}

/// Values of more than 8 bytes move in a sort of all keys at once, and in no other.
fn wide_values(gpu: &Gpu) -> Result<(), Failed> {
    let config = SortConfig::pairs(ElementType::U32, ValueSize::of::<[u32; 3]>());
    let keys: Vec<u32> = words(1_000);
    let values: Vec<[u32; 3]> = keys.iter().map(|&key| [key, !key, key ^ 1]).collect();
    let mut sorted_keys = keys.clone();
    sorted_keys.sort_unstable();
    let moved: Vec<[u32; 3]> = sorted_keys.iter().map(|&key| [key, !key, key ^ 1]).collect();
    let [keys, values] = [bytemuck::cast_slice(&keys), bytemuck::cast_slice(&values)];
    let mut result = Vec::new();
    let mut stream = |count, chunk_size| {
        let stream = SortStream {
            keys: &mut &*keys,
            values: Some(&mut &*values),
            sorted_keys: None,
            sorted_values: Some(&mut result),
            count,
            memory_size: None,
            chunk_size,
            as_on_gpu: None,
            temporary: &mut tempfile::tempfile,
            progress: None,
        };
        gpu.sort_stream(config, stream)
    };
    assert_eq!(stream(Some(1_000), None)?, 1_000);
    let refused = stream(None, Some(400));
    assert!(matches!(refused, Err(StreamError::Device(Error::Unsupported { .. }))), "{refused:?}");
    assert!(result == bytemuck::cast_slice::<_, u8>(&moved));
    Ok(())
}

fn refusals_of_sorts(gpu: &Gpu) -> Result<(), Failed> {
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B4);
    let bytes = vec![7u8; 4 * 1_000];
    for (keys, values, text) in [
        (&bytes[..4 * 550 + 1], &bytes[..], "it ends within a key"),
        (&bytes[..], &bytes[..4 * 750], "there are fewer values than keys"),
        (&bytes[..4 * 500], &bytes[..], "there are more values than keys"),
    ] {
        match sort(gpu, pairs, keys, Some(values), None) {
            Err(StreamError::Read(error)) => assert_eq!(error.to_string(), text),
            ended => panic!("{ended:?}"),
        }
    }
    for count in [999, 1_001, 50] {
        match sort(gpu, SortConfig::keys(ElementType::U32), &bytes, None, Some(count)) {
            Err(StreamError::Read(error)) => assert_eq!(error.to_string(), "it has another number of keys"),
            ended => panic!("{count} keys: {ended:?}"),
        }
    }
    let ended = |sink: &mut (dyn io::Write + Send), is_room: bool| {
        let config = SortConfig::keys(ElementType::U32);
        let stream = SortStream {
            keys: &mut &bytes[..],
            values: None,
            sorted_keys: Some(sink),
            sorted_values: None,
            count: None,
            memory_size: None,
            chunk_size: Some(400),
            as_on_gpu: None,
            temporary: &mut || {
                if is_room { tempfile::tempfile() } else { Err(io::ErrorKind::StorageFull.into()) }
            },
            progress: None,
        };
        gpu.sort_stream(config, stream)
    };
    assert!(matches!(ended(&mut &mut [0u8; 100][..], true), Err(StreamError::Write(_))));
    assert!(matches!(ended(&mut io::sink(), false), Err(StreamError::Temporary(_))));
    assert!(matches!(ended(&mut io::sink(), true), Ok(1_000)));
    let single = SortPolicy::tuned(SortAlgorithm::SingleWorkgroup, gpu.capabilities(), &pairs);
    let many = vec![0u8; 4 << 17];
    let ended = sort(gpu, SortConfig::keys(ElementType::U32).policy(single), &many, None, None);
    assert!(matches!(ended, Err(StreamError::Device(Error::TooManyElements { .. }))), "{ended:?}");
    Ok(())
}
