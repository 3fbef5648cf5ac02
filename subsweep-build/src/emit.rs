//! The modules as source text, for Rust and for C.

use std::fmt::Write as _;

use crate::Compiled;

/// A Rust file with `pub static NAME: subsweep::Functions`.
pub fn rust(compiled: &Compiled, name: &str) -> String {
    let mut text = String::new();
    let include = compiled.include.display();
    let constant = name.to_ascii_uppercase();
    writeln!(text, "/// The functions of `{include}`.").expect("a String takes every write");
    writeln!(text, "pub static {constant}: ::subsweep::Functions = {{").expect("a String takes every write");
    writeln!(
        text,
        "    const fn bytes(words: &'static [u32]) -> &'static [u8] {{\n        \
         // SAFETY: they are as many bytes.\n        \
         unsafe {{ ::core::slice::from_raw_parts(words.as_ptr().cast(), 4 * words.len()) }}\n    }}"
    )
    .expect("a String takes every write");
    for (index, module) in compiled.modules.iter().enumerate() {
        let (count, words) = (module.words.len(), words(&module.words));
        writeln!(text, "    static MODULE_{index}: [u32; {count}] = [{words}];")
            .expect("a String takes every write");
    }
    writeln!(text, "    // SAFETY: subsweep-build has compiled them from the sources of the version that it depends on, and checked them.")
        .expect("a String takes every write");
    writeln!(text, "    static MODULES: &[::subsweep::FunctionModule] = unsafe {{\n        &[")
        .expect("a String takes every write");
    for (index, module) in compiled.modules.iter().enumerate() {
        writeln!(
            text,
            "            ::subsweep::FunctionModule::new({:?}, bytes(&MODULE_{index})),",
            module.kernel
        )
        .expect("a String takes every write");
    }
    let (words, data) = (compiled.element_words, compiled.data_words);
    write!(
        text,
        "        ]\n    }};\n    // SAFETY: as above.\n    unsafe {{ ::subsweep::Functions::new({name:?}, {words}, MODULES).with_data({data}) }}\n}};\n"
    )
    .expect("a String takes every write");
    text
}

/// A C header with `static const SubsweepFunctionsCreateInfo NAME`, to be included after `subsweep.h`.
pub fn c_header(compiled: &Compiled, name: &str) -> String {
    let mut text = format!("/* The functions of {}. */\n", compiled.include.display());
    let mut rows = String::new();
    for (index, module) in compiled.modules.iter().enumerate() {
        let words = words(&module.words);
        writeln!(text, "static const uint32_t {name}_module_{index}[] = {{{words}}};")
            .expect("a String takes every write");
        writeln!(
            rows,
            "    {{ \"{}\", {name}_module_{index}, sizeof {name}_module_{index} }},",
            module.kernel
        )
        .expect("a String takes every write");
    }
    let (count, words, data) = (compiled.modules.len(), compiled.element_words, compiled.data_words);
    write!(
        text,
        "static const SubsweepFunctionModule {name}_modules[] = {{\n{rows}}};\n\
         static const SubsweepFunctionsCreateInfo {name} = {{\n    \
         sizeof(SubsweepFunctionsCreateInfo), {words}, \"{name}\", {name}_modules, {count}, {data}\n}};\n"
    )
    .expect("a String takes every write");
    text
}

fn words(words: &[u32]) -> String {
    words.iter().map(|word| format!("{word:#x},")).collect()
}
