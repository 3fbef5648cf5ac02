//! The modules as source text, for Rust and for C.

use crate::Compiled;

/// A Rust file with `pub static NAME: subsweep::Functions`.
pub fn rust(compiled: &Compiled, name: &str) -> String {
    let Compiled { include, element_words, source_words, result_words, data_words, modules } = compiled;
    let constant = name.to_ascii_uppercase();
    let with = |what: &str, words: &Option<u32>| {
        words.map_or_else(String::new, |words| format!(".with_{what}({words})"))
    };
    let stages = with("source", source_words) + &with("result", result_words);
    let (mut statics, mut rows) = (String::new(), String::new());
    for (index, module) in modules.iter().enumerate() {
        let (count, words) = (module.words.len(), words(&module.words));
        statics += &format!("    static MODULE_{index}: [u32; {count}] = [{words}];\n");
        rows += &format!(
            "            ::subsweep::FunctionModule::new({:?}, bytes(&MODULE_{index})),\n",
            module.kernel
        );
    }
    format!(
        "/// The functions of `{}`.
pub static {constant}: ::subsweep::Functions = {{
    const fn bytes(words: &'static [u32]) -> &'static [u8] {{
        // SAFETY: they are as many bytes.
        unsafe {{ ::core::slice::from_raw_parts(words.as_ptr().cast(), 4 * words.len()) }}
    }}
{statics}    // SAFETY: subsweep-build has compiled them from the sources of the version that it depends on, and checked them.
    static MODULES: &[::subsweep::FunctionModule] = unsafe {{
        &[
{rows}        ]
    }};
    // SAFETY: as above.
    unsafe {{ ::subsweep::Functions::new({name:?}, {element_words}, MODULES){stages}.with_data({data_words}) }}
}};
",
        include.display()
    )
}

/// A C header with `static const SubsweepFunctionsCreateInfo NAME`, to be included after `subsweep.h`.
pub fn c_header(compiled: &Compiled, name: &str) -> String {
    let Compiled { include, element_words, source_words, result_words, data_words, modules } = compiled;
    let (mut arrays, mut rows) = (String::new(), String::new());
    for (index, module) in modules.iter().enumerate() {
        let array = format!("{name}_module_{index}");
        arrays += &format!("static const uint32_t {array}[] = {{{}}};\n", words(&module.words));
        rows += &format!("    {{ \"{}\", {array}, sizeof {array} }},\n", module.kernel);
    }
    format!(
        "/* The functions of {}. */
{arrays}static const SubsweepFunctionModule {name}_modules[] = {{
{rows}}};
static const SubsweepFunctionsCreateInfo {name} = {{
    sizeof(SubsweepFunctionsCreateInfo), {element_words}, \"{name}\", {name}_modules, {}, {data_words}, {}, {}
}};
",
        include.display(),
        modules.len(),
        source_words.unwrap_or(0),
        result_words.unwrap_or(0)
    )
}

fn words(words: &[u32]) -> String {
    words.iter().map(|word| format!("{word:#x},")).collect()
}
