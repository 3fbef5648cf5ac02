use super::*;
use crate::kernels;

/// Whatever the code depends on tells pipelines apart; the order of constants does not.
#[test]
fn keys_differ_in_everything_that_the_code_depends_on() {
    let mut all = kernels::all();
    let kernel = all.find(|kernel| kernel.spec_constants.len() > 1).expect("a kernel with constants");
    let other = all.next().expect("another kernel");
    let [a, b] = [0, 1].map(|index| kernel.spec_constants[index].name);
    let key = |constants: &[(&'static str, u32)], workgroup_size, lanes, is_full| {
        let options = PipelineOptions { workgroup_size, constants, subgroup_size: None };
        Key::new(kernel, options, lanes, is_full)
    };
    let constants = [(a, 1), (b, 2)];
    let options = PipelineOptions { workgroup_size: 64, constants: &[], subgroup_size: None };
    let keys = [
        key(&constants, 64, None, false),
        key(&constants, 64, Some(32), false),
        key(&constants, 64, Some(64), false),
        key(&constants, 64, None, true),
        key(&constants, 128, None, false),
        key(&[(a, 1), (b, 3)], 64, None, false),
        key(&[(a, 1)], 64, None, false),
        Key::new(other, options, None, false),
    ];
    for (index, key) in keys.iter().enumerate() {
        assert_eq!(keys.iter().position(|other| other == key), Some(index), "{key:?}");
    }
    assert_eq!(key(&[(b, 2), (a, 1)], 64, None, false), keys[0]);
}
