//! Functions through the compilers that are installed.

use std::fs;
use std::path::PathBuf;

use subsweep_build::{Compiler, Error, Functions, c_header, rust, uses};

/// Each compiler that is on the PATH; at least one.
fn compilers() -> Vec<Compiler> {
    let all: Vec<_> = Compiler::installed().collect();
    assert!(!all.is_empty(), "install glslc or glslang-tools, as tools/setup test does");
    all
}

fn include(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.glsl");
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// All functions in one include, each where its types are there.
const ALL: &str = "#define ELEMENT_WORDS 3
#define DATA_WORDS 4
#include \"common/words.glsl\"
#include \"beside.glsl\"
#ifdef USES_KEEP
bool keep(Element element, uint index, Words data) {
    return element.x > BESIDE && element.y != data.word[index % 4];
}
#endif
#ifdef USES_KEY_OF
Key key_of(Words element, uint index, Words data) {
    Words other = Words(uvec2(data.word[0], data.word[1]));
    return Key(element.word[2] ^ other.word[index]);
}
#endif
#ifdef USES_COMBINE
Element identity() {
    return Element(0);
}

Element combine(Element earlier, Element later) {
    return max(earlier, later);
}
#endif
";

#[test]
fn every_use_is_compiled_and_sound() {
    for compiler in compilers() {
        let (folder, path) = include(ALL);
        fs::write(folder.path().join("beside.glsl"), "const uint BESIDE = 7;\n").unwrap();
        let names: Vec<_> = uses().map(|(name, _)| name).collect();
        let compiled = Functions::new(&path).uses(names).compiler(compiler).modules().unwrap();
        assert_eq!(compiled.element_words, 3);
        assert_eq!(compiled.modules.len(), 15);
        let text = rust(&compiled, "mine");
        assert!(text.contains("pub static MINE: ::subsweep::Functions"), "{text:.200}");
        assert_eq!(text.matches("FunctionModule::new").count(), 15);
        let header = c_header(&compiled, "mine");
        assert!(header.contains("{ \"sort/onesweep:key2_value1\", mine_module_"), "{header:.200}");
        assert!(header.contains("sizeof(SubsweepFunctionsCreateInfo), 3, \"mine\", mine_modules, 15, 4"));
    }
}

#[test]
fn functions_that_write_are_refused() {
    let writes = "#define ELEMENT_WORDS 1
#include \"common/words.glsl\"
bool keep(Element element, uint index, Words data) {
    data.word[index] = element;
    return true;
}
";
    let other = writes.replace("data.word[index]", "Words(uvec2(data.word[0], data.word[1])).word[0]");
    for compiler in compilers() {
        for text in [writes, &other] {
            let (_folder, path) = include(text);
            let error =
                Functions::new(&path).uses(["select"]).compiler(compiler.clone()).modules().unwrap_err();
            assert!(matches!(error, Error::Unsound { kernel: "select/count:key1", .. }), "{error}");
        }
    }
}

#[test]
fn errors_say_what_to_do() {
    for compiler in compilers() {
        let refused = |text: &str, names: &[&str]| {
            let (_folder, path) = include(text);
            let functions = Functions::new(&path).uses(names.iter().copied()).compiler(compiler.clone());
            functions.modules().unwrap_err().to_string()
        };
        let broken =
            "#define ELEMENT_WORDS 1\nbool keep(uint element, uint index, Words data) {\n    return 1;\n}\n";
        let error = refused(broken, &["select"]);
        assert!(error.contains("select/count:key1") && error.contains("functions.glsl:3"), "{error}");
        let other = broken.replace("\nbool", "\n#undef ELEMENT_WORDS\n#define ELEMENT_WORDS 2\nbool");
        let error = refused(&other.replace("return 1;", "return true;"), &["select"]);
        assert!(error.contains("ELEMENT_WORDS differs"), "{error}");
        let error = refused("#define ELEMENT_WORDS N\n", &["select"]);
        assert!(error.contains("mine.glsl: has no line '#define ELEMENT_WORDS n'"), "{error}");
        let error = refused(broken, &["sorts"]);
        assert!(
            error.contains("'sorts' is no use of functions: give one or several of scan, segmented-scan"),
            "{error}"
        );
        let missing = Functions::new("none.glsl").uses(["select"]).modules().unwrap_err().to_string();
        assert!(missing.starts_with("none.glsl: "), "{missing}");
    }
}
