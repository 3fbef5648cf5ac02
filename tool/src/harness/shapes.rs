//! Shapes of the library's tuning table as text: in ids of cases, and as rows of `src/primitives/tuning/rows.rs`.

use subsweep::device::Capabilities;
use subsweep::tuning::{KernelShape, TunedPart, TuningAxis};

/// The name in ids of cases: `448x18/status-loads/window4/masks`, of the axes of a part.
pub fn shape_name(shape: &KernelShape, part: TunedPart) -> String {
    let mut name = format!("{}x{}", shape.workgroup_size, shape.items);
    for axis in part.axes() {
        match (axis.values(part), axis.get(shape)) {
            _ if [TuningAxis::WorkgroupSize, TuningAxis::Items].contains(axis) => {}
            ([0, 1], 0) => {}
            ([0, 1], _) => name += &format!("/{}", axis.name()),
            (_, value) => name += &format!("/{}{value}", axis.name()),
        }
    }
    name
}

/// The row of a part for the generation or architecture of a device, and for keys or elements and values of so many words;
/// `None` for any number.
pub fn tuning_row(
    capabilities: &Capabilities,
    part: TunedPart,
    words: [Option<u32>; 2],
    shape: &KernelShape,
    source: &str,
) -> String {
    let devices = match (capabilities.generation(), capabilities.architecture()) {
        (Some(generation), _) => format!("Generation(Generation::{generation:?})"),
        (None, Some(architecture)) => format!("Architecture(Architecture::{architecture:?})"),
        (None, None) if capabilities.is_cpu() => "Cpu".to_owned(),
        (None, None) => "All".to_owned(),
    };
    let words = match words {
        [Some(key), Some(value)] => format!(".words({key}, {value})"),
        [Some(key), None] => format!(".keys({key})"),
        [None, _] => String::new(),
    };
    format!("row(Devices::{devices}, &[TunedPart::{part:?}], {}, {source:?}){words},", expression(shape))
}

/// The expression of a shape.
fn expression(shape: &KernelShape) -> String {
    let KernelShape { workgroup_size, items, matching, look_back, .. } = *shape;
    let is_matched = matching.has_early_counts && look_back.spin_limit == 100;
    let (name, base) = match is_matched {
        true => ("matched", KernelShape::matched(workgroup_size, items)),
        false => ("tile", KernelShape::tile(workgroup_size, items)),
    };
    let flags = [
        (!shape.mixed_access, "one_access"),
        (matching.by_shared_masks, "masks"),
        (matching.has_early_counts && !is_matched, "early_counts"),
        (matching.has_packed_ranks, "packed_ranks"),
        (!shape.has_exchange, "from_registers"),
        (look_back.has_loads, "status_loads"),
        (look_back.has_stores, "status_stores"),
        (shape.by_network, "network"),
        (shape.first_in_any_order, "any_order"),
    ];
    let numbers = [
        ("runs", shape.packs_per_run, base.packs_per_run),
        ("subgroups", shape.subgroup_size.unwrap_or(0), 0),
        ("window", look_back.window, base.look_back.window),
        ("spins", look_back.spin_limit, base.look_back.spin_limit),
        ("strides", shape.max_workgroups.unwrap_or(0), 0),
        ("few", shape.few_tiles, base.few_tiles),
        ("loads", shape.loads_in_flight, base.loads_in_flight),
        ("copies", shape.copies, base.copies),
        ("shared_steps", shape.shared_steps, base.shared_steps),
        ("lanes", shape.lanes, base.lanes),
    ];
    let flags = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| format!(".{name}()"));
    let numbers = numbers.iter().filter(|(_, value, base)| value != base);
    let numbers = numbers.map(|(name, value, _)| format!(".{name}({value})"));
    let begin = format!("KernelShape::{name}({workgroup_size}, {items})");
    std::iter::once(begin).chain(flags).chain(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use subsweep::ash::vk;
    use subsweep::device::Architecture::{IntelXe, IntelXe2, Lavapipe, Nvidia};
    use subsweep::tuning;

    /// A device of a vendor, in subgroups of so many lanes and more.
    fn device(driver_id: vk::DriverId, vendor_id: u32, device_id: u32, lanes: u32) -> Capabilities {
        let mut device = Capabilities::default();
        device.identity.driver_id = driver_id;
        (device.identity.vendor_id, device.identity.device_id) = (vendor_id, device_id);
        device.identity.device_type = match vendor_id {
            0 => vk::PhysicalDeviceType::CPU,
            _ => vk::PhysicalDeviceType::DISCRETE_GPU,
        };
        (device.subgroup_size, device.min_subgroup_size, device.max_subgroup_size) = (lanes, lanes, 64);
        (device.max_workgroup_invocations, device.shared_memory_size) = (1024, 48 << 10);
        device
    }

    /// Rows but for those whose tiles are by a formula.
    #[test]
    fn rows_are_printed_as_they_stand_in_the_table() {
        let dense = |text: &str| text.replace(char::is_whitespace, "");
        let table = dense(include_str!("../../../src/primitives/tuning/rows.rs"));
        // `hopper` has the variants of these, of which a row may have another window.
        let variants = ".masks().status_loads().status_stores()";
        let gpu = vk::DriverId::default();
        let mut count = 0;
        for device in [
            device(gpu, 0x10de, 0x2335, 32),
            device(gpu, 0x10de, 0, 32),
            device(gpu, 0x1002, 0, 32),
            device(gpu, 0x1002, 0, 64),
            device(gpu, 0x8086, 0, 8),
            device(gpu, 0x8086, 0, 16),
            device(gpu, 0x5143, 0, 64),
            device(gpu, 0x106b, 0, 32),
            device(vk::DriverId::MESA_LLVMPIPE, 0, 0, 8),
            device(gpu, 1, 0, 32),
        ] {
            for (part, words) in TunedPart::ALL
                .into_iter()
                .flat_map(|part| [[1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]].map(|words| (part, words)))
            {
                let shape = tuning::shape_of(&device, part, words);
                let is_intel = matches!(device.architecture(), Some(IntelXe | IntelXe2));
                let has_formula = match part {
                    TunedPart::Radix8Bit | TunedPart::Onesweep => {
                        matches!(device.architecture(), None | Some(Lavapipe))
                    }
                    TunedPart::CountedSort => !is_intel,
                    TunedPart::LargeWorkgroupSort => !is_intel && device.architecture() != Some(Nvidia),
                    _ => false,
                };
                if has_formula {
                    continue;
                }
                let text = expression(&shape);
                let hopper = [".window(4)", ""].map(|window| {
                    text.replace(&format!("{variants}{window}"), "").replace("KernelShape::matched", "hopper")
                });
                let is_there = |text: &str| table.contains(&dense(text));
                assert!(is_there(&text) || hopper.iter().any(|text| is_there(text)), "{part:?}: {text}");
                count += 1;
            }
        }
        assert!(count > 1000, "{count}");
        let shape = KernelShape::matched(448, 18).masks().window(4);
        let hopper = device(gpu, 0x10de, 0x2335, 32);
        let row = tuning_row(&hopper, TunedPart::Onesweep, [Some(1), Some(0)], &shape, "a trial");
        let expected = "row(Devices::Generation(Generation::Hopper), &[TunedPart::Onesweep], \
                        KernelShape::matched(448, 18).masks().window(4), \"a trial\").words(1, 0),";
        assert_eq!(row, expected);
    }
}
