//! Functions of the caller, compiled into the kernels.

use crate::device::AddressRange;
use crate::error::{Error, Result, in_range, refuse_if};
use crate::kernels::{self, Kernel};
use crate::primitives::ElementType;
use crate::primitives::arguments::Arguments;

#[doc = include_str!("../../docs/functions.md")]
#[derive(Debug)]
pub struct Functions {
    name: &'static str,
    element_words: u32,
    /// Words of the source, and of the result: `element_words` unless functions compute the element, or store another result.
    source_words: u32,
    result_words: u32,
    /// Bits of `OPERATOR` in `glsl/common/stages.glsl`.
    stages: u32,
    data_words: u32,
    modules: &'static [FunctionModule],
}

/// A kernel of the library, compiled with functions of the caller.
#[derive(Debug)]
pub struct FunctionModule(Kernel);

impl FunctionModule {
    /// The module of the kernel with this name in `glsl/kernels.txt`.
    ///
    /// # Panics
    /// If this version has no such kernel; at compile time where it is the value of a constant or a static.
    ///
    /// # Safety
    /// `spirv` is a valid module for Vulkan 1.2, aligned as words, and was compiled from this version's source of that kernel,
    /// with its defines, `FUNCTIONS`, and functions as described at [`Functions`]. A plan checks the interface of the module,
    /// but not its code.
    pub const unsafe fn new(kernel: &str, spirv: &'static [u8]) -> Self {
        // SAFETY: the caller promises that the module differs from the library's only in the functions.
        unsafe { Self(Kernel::with_functions(spirv, kernels::named(kernel))) }
    }
}

impl Functions {
    const TRANSFORMS: u32 = 1;
    const STORES: u32 = 2;
    /// Name of the argument that functions read besides.
    pub(super) const DATA: &str = "functions_data";

    /// Maximum size of an element that kernels combine, 32-bit words.
    pub const MAX_COMBINED_WORDS: u32 = 16;
    /// Maximum size of an element that kernels only read, words.
    pub const MAX_ELEMENT_WORDS: u32 = 1024;

    /// Functions of elements of `element_words` 32-bit words, 1 to [`Self::MAX_ELEMENT_WORDS`], in these modules. `name` is for
    /// errors.
    ///
    /// # Panics
    /// For another size; at compile time where it is the value of a constant or a static.
    ///
    /// # Safety
    /// All modules were compiled with the same functions, whose `ELEMENT_WORDS` is `element_words`; `SOURCE_WORDS` is the
    /// argument of [`Self::with_source`], and `RESULT_WORDS` the argument of [`Self::with_result`], which are not called without.
    /// They read no more of their data than [`Self::with_data`] says, and what else a recording promises them. Devices support
    /// the features of the modules beyond [`DeviceRequirements`](crate::device::DeviceRequirements), such as doubles.
    pub const unsafe fn new(
        name: &'static str,
        element_words: u32,
        modules: &'static [FunctionModule],
    ) -> Self {
        assert!(1 <= element_words && element_words <= Self::MAX_ELEMENT_WORDS, "words per element");
        let (source_words, result_words) = (element_words, element_words);
        Self { name, element_words, source_words, result_words, stages: 0, data_words: 0, modules }
    }

    /// Of functions with `transform`: sets the words that it computes an element from, 1 to [`Self::MAX_ELEMENT_WORDS`].
    ///
    /// # Panics
    /// For another number; at compile time where it is the value of a constant or a static.
    pub const fn with_source(mut self, words: u32) -> Self {
        assert!(1 <= words && words <= Self::MAX_ELEMENT_WORDS, "words of a source");
        (self.source_words, self.stages) = (words, self.stages | Self::TRANSFORMS);
        self
    }

    /// Of functions with `store`: sets the words of a result, 1 to [`Self::MAX_ELEMENT_WORDS`].
    ///
    /// # Panics
    /// As [`Self::with_source`].
    pub const fn with_result(mut self, words: u32) -> Self {
        assert!(1 <= words && words <= Self::MAX_ELEMENT_WORDS, "words of a result");
        (self.result_words, self.stages) = (words, self.stages | Self::STORES);
        self
    }

    /// Sets the words of data that the functions read, at least: a recording with less is refused. None by default.
    pub const fn with_data(mut self, words: u32) -> Self {
        self.data_words = words;
        self
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Size of an element, 32-bit words.
    pub const fn element_words(&self) -> u32 {
        self.element_words
    }

    /// Size of an element, bytes.
    pub(super) const fn element_size(&self) -> u64 {
        self.element_words as u64 * 4
    }

    /// Bytes that an element is computed from: without `transform`, the size of an element.
    pub(super) const fn source_size(&self) -> u64 {
        self.source_words as u64 * 4
    }

    /// Bytes of a result: without `store`, the size of an element.
    pub(super) const fn result_size(&self) -> u64 {
        self.result_words as u64 * 4
    }

    /// The constant `OPERATOR` of pipelines of the first level, which has the source, and of the last, which has the results.
    pub(super) const fn stages(&self, is_first: bool, is_last: bool) -> u32 {
        self.stages & ((is_first as u32 * Self::TRANSFORMS) | (is_last as u32 * Self::STORES))
    }

    /// What functions read besides, in a table of arguments; refuses it where there are none.
    pub(super) fn read_data(
        functions: Option<&'static Self>,
        data: &mut AddressRange,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let reason = "the plan has no functions that read data; make it with functions of your own";
        refuse_if(functions.is_none() && data.size > 0, reason)?;
        let size = functions.map_or(0, |functions| data.size.max(u64::from(functions.data_words) * 4));
        table.read(Self::DATA, data, size)
    }

    /// The module in place of `model`. Fails unless there is one with its interface, which takes as long as reading it.
    pub(super) fn kernel(&'static self, model: &'static Kernel) -> Result<&'static Kernel> {
        let failed = |problem| Error::Functions { functions: self.name, kernel: model.name, problem };
        let mut kernels = self.modules.iter().map(|FunctionModule(kernel)| kernel);
        let kernel = kernels.find(|kernel| kernel.name == model.name).ok_or(failed("have no module for"))?;
        if kernel.is_sound(self.element_words) { Ok(kernel) } else { Err(failed("have a wrong module for")) }
    }

    /// `kernel`, or in its place the module of functions, if there are any.
    pub(super) fn kernel_with(
        functions: Option<&'static Self>,
        kernel: &'static Kernel,
    ) -> Result<&'static Kernel> {
        functions.map_or(Ok(kernel), |functions| functions.kernel(kernel))
    }

    /// Fails unless functions, if there are any, compute keys of this type.
    pub(super) fn check_keys(functions: Option<&'static Self>, keys: ElementType) -> Result<()> {
        let reason = "functions compute keys of 32 or 64 bits; make the plan for the type of these";
        refuse_if(functions.is_some() && keys.is_packed(), reason)
    }

    /// Fails if elements have more words than kernels combine.
    pub(super) fn check_combined(&self) -> Result<()> {
        let what = "words per element that functions combine";
        in_range(what, self.element_words, 1..=Self::MAX_COMBINED_WORDS)
    }
}

/// Functions are equal if they are the same static.
impl PartialEq for Functions {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Functions {}

impl std::hash::Hash for Functions {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}
