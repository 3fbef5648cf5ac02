use super::*;
use subsweep::kernels;

const COPY: &Kernel = kernels::PROBE_COPY.module(&[]);
const REDUCE: &Kernel = kernels::SCAN_REDUCE.module(&[("OPERATOR_WORDS32", 1), ("COLUMNS", 1)]);

const A: AddressRange = AddressRange::new(0x1000, 64);
const B: AddressRange = AddressRange::new(0x2000, 64);
const C: AddressRange = AddressRange::new(0x3000, 64);

/// Reads the first range, writes the second.
fn copy(ranges: &[AddressRange; 2]) -> Command<'_> {
    Command::Dispatch { kernel: COPY, ranges, workgroups: Workgroups::Direct([1; 3]), constants: &[] }
}

/// The same, with its numbers of workgroups in `arguments`.
fn indirect(ranges: &[AddressRange; 2], arguments: AddressRange) -> Command<'_> {
    Command::Dispatch { kernel: COPY, ranges, workgroups: Workgroups::Indirect(arguments), constants: &[] }
}

fn findings(commands: &[Command<'_>]) -> Vec<Finding> {
    let checker = HazardChecker::default();
    let command_buffer = vk::CommandBuffer::null();
    checker.record(command_buffer, &Command::Begin);
    commands.iter().for_each(|command| checker.record(command_buffer, command));
    checker.record(command_buffer, &Command::End);
    checker.take_findings()
}

fn missing(commands: &[Command<'_>]) -> Vec<Missing> {
    let hazard = |finding| match finding {
        Finding::Hazard { missing, .. } => Some(missing),
        Finding::SuperfluousBarrier { .. } | Finding::Misaligned { .. } => None,
    };
    findings(commands).into_iter().filter_map(hazard).collect()
}

/// Aligned for words, which some specializations access.
const ODD: AddressRange = AddressRange::new(0x4004, 64);

fn reduction<'r>(ranges: &'r [AddressRange], constants: &'r [(&'static str, u32)]) -> Command<'r> {
    Command::Dispatch { kernel: REDUCE, ranges, workgroups: Workgroups::Direct([1; 3]), constants }
}

#[test]
fn wide_accesses_need_aligned_addresses() {
    let misaligned = |found: Vec<Finding>| {
        let pointers = found.into_iter().filter_map(|finding| match finding {
            Finding::Misaligned { pointer, alignment, .. } => Some((pointer, alignment)),
            _ => None,
        });
        pointers.collect::<Vec<_>>()
    };
    assert_eq!(misaligned(findings(&[copy(&[ODD, B])])), [("source", 16)]);
    assert_eq!(misaligned(findings(&[copy(&[A, ODD])])), [("destination", 16)]);
    assert_eq!(misaligned(findings(&[copy(&[A, B])])), []);
    let (words, quads) =
        ([("QUAD_ACCESS", 0), ("MIXED_ACCESS", 1)], [("QUAD_ACCESS", 1), ("MIXED_ACCESS", 1)]);
    let pointers = REDUCE.push_constants.iter().filter(|member| member.access.is_some()).count();
    let ranges = vec![ODD; pointers];
    assert_eq!(misaligned(findings(&[reduction(&ranges, &words)])), []);
    assert_eq!(misaligned(findings(&[reduction(&ranges, &quads)])), [("source", 16)]);
}

const COMPUTE: Command<'_> = Command::Barrier(Barrier::COMPUTE_TO_COMPUTE);

#[test]
fn indirect_arguments_are_read_in_a_stage_of_their_own() {
    const INDIRECT: Command<'_> = Command::Barrier(Barrier::COMPUTE_TO_INDIRECT);
    let made = copy(&[A, B]);
    assert_eq!(findings(&[copy(&[A, B]), INDIRECT, indirect(&[C, A], B)]), []);
    assert_eq!(missing(&[made, indirect(&[C, A], B)]), [Missing::Execution]);
    let access = vk::AccessFlags::INDIRECT_COMMAND_READ;
    // A compute barrier does not make the stage of indirect arguments wait.
    assert_eq!(missing(&[copy(&[A, B]), COMPUTE, indirect(&[C, A], B)]), [Missing::Execution]);
    let mut half = Barrier::COMPUTE_TO_INDIRECT;
    half.destination.access = vk::AccessFlags::SHADER_READ;
    let half = [copy(&[A, B]), Command::Barrier(half), indirect(&[C, A], B)];
    assert_eq!(missing(&half), [Missing::Visibility(access)]);
    // A compute barrier also orders a later write after the read of indirect arguments.
    assert_eq!(findings(&[indirect(&[C, A], B), COMPUTE, copy(&[C, B])]), []);
}

#[test]
fn an_update_is_a_transfer() {
    let update = || Command::Update { range: A };
    const TRANSFER: Command<'_> = Command::Barrier(Barrier::TRANSFER_TO_COMPUTE);
    assert_eq!(findings(&[update(), TRANSFER, copy(&[A, B])]), []);
    assert_eq!(missing(&[update(), copy(&[A, B])]), [Missing::Execution]);
}

#[test]
fn a_chain_of_dispatches_needs_each_of_its_barriers() {
    assert_eq!(findings(&[copy(&[A, B]), COMPUTE, copy(&[B, C]), COMPUTE, copy(&[C, A])]), []);
    assert_eq!(missing(&[copy(&[A, B]), copy(&[B, C])]), [Missing::Execution]);
    // Write after read, write after write.
    assert_eq!(missing(&[copy(&[A, B]), copy(&[C, A])]), [Missing::Execution]);
    assert_eq!(missing(&[copy(&[A, B]), copy(&[C, B])]), [Missing::Execution]);
}

#[test]
fn a_finding_names_both_commands_and_the_bytes_in_common() {
    let half = AddressRange::new(B.address + 32, 64);
    let found = findings(&[copy(&[A, B]), copy(&[half, C])]);
    assert_eq!(
        found[0].to_string(),
        "command 1: probe/copy is not ordered after command 0: probe/copy in 32 bytes at 0x2020: \
         no barrier makes its stage wait"
    );
}

#[test]
fn reads_and_unrelated_commands_need_no_barrier_and_may_not_have_one() {
    assert_eq!(findings(&[copy(&[A, B]), copy(&[A, C])]), []);
    for unrelated in [[[A, B], [A, C]], [[A, B], [C, C]]] {
        let found = findings(&[copy(&unrelated[0]), COMPUTE, copy(&unrelated[1])]);
        assert_eq!(found, [Finding::SuperfluousBarrier { barrier: "1: compute to compute".into() }]);
    }
    assert_eq!(findings(&[copy(&[A, B]), COMPUTE, COMPUTE, copy(&[B, C])]).len(), 2);
    assert_eq!(findings(&[COMPUTE, copy(&[A, B])]).len(), 1);
    assert_eq!(findings(&[copy(&[A, B]), COMPUTE]).len(), 1);
}

#[test]
fn the_scopes_of_a_barrier_count() {
    let fill = Command::Fill { range: A };
    let barrier = |barrier| Command::Barrier(barrier);
    let to_compute = Barrier::TRANSFER_TO_COMPUTE;
    assert_eq!(findings(&[fill, barrier(to_compute), copy(&[A, B])]), []);
    let fill = || Command::Fill { range: A };
    assert_eq!(missing(&[fill(), COMPUTE, copy(&[A, B])]), [Missing::Execution]);
    let mut unavailable = to_compute;
    unavailable.source.access = vk::AccessFlags::TRANSFER_READ;
    assert_eq!(
        missing(&[fill(), barrier(unavailable), copy(&[A, B])]),
        [Missing::Availability(vk::AccessFlags::TRANSFER_WRITE)]
    );
    let invisible = Barrier { destination: Access::COMPUTE_WRITE, ..to_compute };
    assert_eq!(
        missing(&[fill(), barrier(invisible), copy(&[A, B])]),
        [Missing::Visibility(vk::AccessFlags::SHADER_READ)]
    );
}

#[test]
fn a_wider_read_does_not_hide_what_was_written_before() {
    let wide = AddressRange::new(0x1000, 128);
    let to_compute = Command::Barrier(Barrier::TRANSFER_TO_COMPUTE);
    let last = indirect(&[B, C], A);
    let found = missing(&[Command::Fill { range: A }, to_compute, copy(&[wide, C]), COMPUTE, last]);
    assert_eq!(found, [Missing::Execution]);
}

#[test]
fn a_barrier_of_everything_orders_everything() {
    let all = Access {
        stages: vk::PipelineStageFlags::ALL_COMMANDS,
        access: vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE,
    };
    let full = || Command::Barrier(Barrier { name: "full", source: all, destination: all });
    let last = indirect(&[B, C], A);
    assert_eq!(findings(&[Command::Fill { range: A }, full(), copy(&[A, B]), full(), last]), []);
    let reads = Access { access: vk::AccessFlags::MEMORY_READ, ..all };
    let unavailable = Barrier { name: "half", source: reads, destination: all };
    let found = missing(&[copy(&[A, B]), Command::Barrier(unavailable), copy(&[B, C])]);
    assert_eq!(found, [Missing::Availability(vk::AccessFlags::SHADER_WRITE)]);
}

#[test]
fn a_recording_of_thousands_of_commands_is_checked_at_once() {
    let round = || [copy(&[A, B]), COMPUTE, copy(&[B, A]), COMPUTE];
    let rounds = |count| (0..count).flat_map(move |_| round());
    let last = || [copy(&[A, C])];
    let whole: Vec<_> = rounds(20_000).chain(last()).collect();
    assert_eq!(findings(&whole), []);
    let twice: Vec<_> = rounds(10_000).chain([COMPUTE]).chain(rounds(10_000)).chain(last()).collect();
    let named = |index| Finding::SuperfluousBarrier { barrier: format!("{index}: compute to compute") };
    assert_eq!(findings(&twice), [named(39_999), named(40_000)]);
    let mut lacking = whole;
    lacking.remove(40_001);
    let found = findings(&lacking);
    let [Finding::Hazard { earlier, later, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!([earlier, later], ["40000: probe/copy", "40001: probe/copy"]);
}

#[test]
fn barriers_chain() {
    let copied = Command::Copy { source: B, destination: C };
    let through = [
        Command::Fill { range: A },
        Command::Barrier(Barrier::TRANSFER_TO_COMPUTE),
        copy(&[A, B]),
        Command::Barrier(Barrier::COMPUTE_TO_TRANSFER),
        copied,
    ];
    assert_eq!(findings(&through), []);
}

#[test]
fn what_a_kernel_does_in_place_is_both() {
    let table = [A];
    let sum = || Command::Dispatch {
        kernel: kernels::SCAN_CHUNK_SUM.module(&[("COLUMNS", 1)]),
        ranges: &table,
        workgroups: Workgroups::Direct([1; 3]),
        constants: &[],
    };
    assert_eq!(missing(&[sum(), sum()]), [Missing::Execution]);
    assert_eq!(missing(&[sum(), reduction(&[A, B], &[])]), [Missing::Execution]);
}
