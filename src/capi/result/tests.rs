use std::ffi::CString;

use super::*;

#[test]
fn an_unknown_name_stands_in_one_line() {
    let text = |name: &CStr| Failure::unknown_name("algorithm", name, &["a", "b"]).to_string();
    assert!(text(c"bogo").contains("'bogo'; there are a, b"), "{}", text(c"bogo"));
    let odd = text(c"a\nb\x1b\xff");
    assert!(odd.contains("'a\\nb\\x1b\\xff'") && !odd.contains(char::is_control), "{odd}");
    let long = text(&CString::new(vec![b'a'; 1 << 20]).unwrap());
    assert!(long.contains(&("a".repeat(64) + "…")) && long.len() < 200, "{long}");
}

#[test]
fn vulkan_errors_keep_their_codes_and_are_never_success() {
    let vulkan = |result| code(&Error::Vulkan { during: "vkCreateShaderModule", result });
    assert_eq!(vulkan(VkResult::ERROR_INVALID_SHADER_NV), VkResult::ERROR_INVALID_SHADER_NV);
    assert_eq!(vulkan(VkResult::PIPELINE_COMPILE_REQUIRED), VkResult::ERROR_UNKNOWN);
    let lost = Error::DeviceLost { during: "vkCreateComputePipelines" };
    assert_eq!(Failure::from(lost).code(), VkResult::ERROR_DEVICE_LOST);
}
