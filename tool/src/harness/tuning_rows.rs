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
    use subsweep::tuning;

    /// A device of a vendor; a CPU without one.
    fn device(driver_id: vk::DriverId, [vendor_id, device_id]: [u32; 2]) -> Capabilities {
        let mut device = Capabilities::default();
        let identity = &mut device.identity;
        identity.driver_id = driver_id;
        (identity.vendor_id, identity.device_id) = (vendor_id, device_id);
        identity.device_type = match vendor_id {
            0 => vk::PhysicalDeviceType::CPU,
            _ => vk::PhysicalDeviceType::DISCRETE_GPU,
        };
        device
    }

    #[test]
    fn rows_are_printed_as_they_stand_in_the_table() {
        let dense = |text: &str| text.replace(char::is_whitespace, "");
        // Names of devices, of lists of parts and of sources stand for their values.
        let table = dense(include_str!("../../../src/primitives/tuning/rows.rs"));
        // `hopper` has the variants of these, of which a row may have another window.
        let variants = ".masks().status_loads().status_stores()";
        for shape in tuning::shapes() {
            let text = dense(&expression(shape));
            let by_hopper = [".window(4)", ""].map(|window| {
                text.replace(&format!("{variants}{window}"), "").replace("KernelShape::matched", "hopper")
            });
            let is_there = |text: &String| table.contains(text.as_str());
            assert!(is_there(&text) || by_hopper.iter().any(is_there), "{text}");
        }
        let shape = KernelShape::matched(448, 18).masks().window(4);
        let gpu = vk::DriverId::default();
        for (driver, ids, words, devices, suffix) in [
            (gpu, [0x10de, 0x2335], [Some(1), Some(0)], "Generation(Generation::Hopper)", ".words(1, 0)"),
            (gpu, [0x1002, 0], [Some(2), None], "Architecture(Architecture::AmdRdna)", ".keys(2)"),
            (vk::DriverId::MESA_LLVMPIPE, [0, 0], [None; 2], "Architecture(Architecture::Lavapipe)", ""),
            (gpu, [0, 0], [None; 2], "Cpu", ""),
            (gpu, [1, 0], [None; 2], "All", ""),
        ] {
            let row = tuning_row(&device(driver, ids), TunedPart::Onesweep, words, &shape, "a trial");
            let expected = format!(
                "row(Devices::{devices}, &[TunedPart::Onesweep], \
                 KernelShape::matched(448, 18).masks().window(4), \"a trial\"){suffix},"
            );
            assert_eq!(row, expected);
        }
    }
}
