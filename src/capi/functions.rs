//! Functions of the caller, compiled into kernels.

use std::ffi::c_char;
use std::sync::Mutex;

use super::boundary::{Result, give, read, result, text, versioned};
use super::result::Failure;
use super::types::unknown;
use super::vulkan::VkResult;
use crate::kernels::uses::USES;
use crate::primitives::{FunctionModule, Functions};

/// Functions of the caller: what subsweep_functions_create returns, or 0 for none. They live as long as the process.
pub type SubsweepFunctions = u32;

/// A kernel, compiled with functions of the caller.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepFunctionModule {
    /// The name of the kernel in glsl/kernels.txt.
    pub kernel: *const c_char,
    /// The module, SPIR-V for Vulkan 1.2.
    pub words: *const u32,
    /// Its size in bytes.
    pub size: usize,
}

/// The parameters of subsweep_functions_create. tools/custom writes a header with one.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepFunctionsCreateInfo {
    /// sizeof(SubsweepFunctionsCreateInfo).
    pub struct_size: u32,
    /// Words of 32 bits of an element: ELEMENT_WORDS of the functions.
    pub element_words: u32,
    /// A name for errors.
    pub name: *const c_char,
    /// The modules.
    pub modules: *const SubsweepFunctionModule,
    /// Number of modules.
    pub module_count: u32,
    /// Words of `functions_data` that the functions read, at least: a recording with less is refused.
    pub data_words: u32,
    /// Words that transform computes an element from: SOURCE_WORDS of the functions; 0 without it.
    pub source_words: u32,
    /// Words of a result that store makes of an element: RESULT_WORDS of the functions; 0 without it.
    pub result_words: u32,
}

// SAFETY: numbers and pointers.
versioned!(unsafe SubsweepFunctionsCreateInfo, data_words, 32);

static ALL: Mutex<Vec<&'static Functions>> = Mutex::new(Vec::new());

/// The functions of C's number; `None` for 0.
pub(super) fn functions(number: SubsweepFunctions) -> Result<Option<&'static Functions>> {
    let Some(index) = (number as usize).checked_sub(1) else { return Ok(None) };
    let all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let found = all.get(index).copied();
    found.map(Some).ok_or_else(|| unknown("functions", number, "see subsweep_functions_create"))
}

/// Takes functions of the caller, compiled into kernels of this version of the library, for the plans to come: copies their
/// modules, which are never freed. A plan checks the interfaces of those that it needs.
///
/// Returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, or SUBSWEEP_ERROR_UNKNOWN_VALUE for a kernel that this version does
/// not have; `*functions` is 0 then.
///
/// Threads: any, at any time.
///
/// # Safety
/// `info` is null or as its comments say, with live strings and modules. The modules are valid, and were compiled from this
/// version's sources with FUNCTIONS and functions that keep to docs/functions.md. `functions` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_functions_create(
    info: *const SubsweepFunctionsCreateInfo,
    functions: *mut SubsweepFunctions,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        unsafe { give(functions, "functions", 0) }?;
        // SAFETY: as the caller promises.
        let made = unsafe { made(&read(info)?) }?;
        let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.push(Box::leak(Box::new(made)));
        // SAFETY: as the caller promises.
        unsafe { give(functions, "functions", all.len() as u32) }
    })
}

/// # Safety
/// The conditions of [`subsweep_functions_create`] hold.
unsafe fn made(info: &SubsweepFunctionsCreateInfo) -> Result<Functions> {
    let known: Vec<_> = USES.iter().flat_map(|(.., kernels)| *kernels).copied().collect();
    let (source_words, result_words) = (info.source_words, info.result_words);
    for (name, words) in [
        ("element_words", info.element_words),
        ("source_words", source_words.max(1)),
        ("result_words", result_words.max(1)),
    ] {
        if !(1..=Functions::MAX_ELEMENT_WORDS).contains(&words) {
            return Err(unknown(name, words, "there are 1 to 1024"));
        }
    }
    let count = info.module_count as usize;
    if count > 0 && info.modules.is_null() {
        return Err(Failure::Null("modules"));
    }
    let mut given = Vec::new();
    for index in 0..count {
        // SAFETY: there are as many, as the caller promises.
        let SubsweepFunctionModule { kernel, words, size } = unsafe { info.modules.add(index).read() };
        // SAFETY: as the caller promises.
        let kernel = unsafe { text(kernel) }.ok_or(Failure::Null("kernel"))?;
        let name = known.iter().find(|name| name.as_bytes() == kernel.to_bytes());
        let name = name.ok_or_else(|| Failure::unknown_name("kernel", kernel, &known))?;
        if words.is_null() {
            return Err(Failure::Null("words"));
        }
        if !size.is_multiple_of(4) {
            return Err(unknown("size", size as u32, "a module has whole words"));
        }
        // SAFETY: the module has as many words, as the caller promises.
        given.push((*name, unsafe { std::slice::from_raw_parts(words, size / 4) }));
    }
    let module = |(name, words): (&str, &[u32])| {
        let words: &'static [u32] = words.to_vec().leak();
        // SAFETY: as the caller promises.
        unsafe { FunctionModule::new(name, bytemuck::cast_slice(words)) }
    };
    let modules: Vec<_> = given.into_iter().map(module).collect();
    // SAFETY: as the caller promises.
    let name =
        unsafe { text(info.name) }.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // SAFETY: as the caller promises.
    let mut functions = unsafe { Functions::new(name.leak(), info.element_words, modules.leak()) };
    if source_words > 0 {
        functions = functions.with_source(source_words);
    }
    if result_words > 0 {
        functions = functions.with_result(result_words);
    }
    Ok(functions.with_data(info.data_words))
}
