//! Functions through the compilers that are installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use subsweep_build::{Compiler, Error, Functions, c_header, rust, uses, write_sources};

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
#define SOURCE_WORDS 7
#define RESULT_WORDS 5
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
#ifdef USES_LESS
bool less(Words a, Words b, Words data) {
    return a.word[0] < b.word[0] || a.word[0] == b.word[0] && a.word[data.word[0] % 3] < b.word[1];
}
#endif
#ifdef USES_COMBINE
Element identity() {
    return Element(0);
}

Element combine(Element earlier, Element later) {
    return max(earlier, later);
}

Element transform(Words source, uint index, Words data) {
    return Element(source.word[0], source.word[6], index ^ data.word[3]);
}

Result store(Element element, uint index, Words data) {
    return Result(element.x, element.y, element.z, index, data.word[2]);
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
        assert_eq!(compiled.modules.len(), 28);
        let text = rust(&compiled, "mine");
        assert!(text.contains("pub static MINE: ::subsweep::Functions"), "{text:.200}");
        assert_eq!(text.matches("FunctionModule::new").count(), 28);
        assert!(text.contains("MODULES).with_source(7).with_result(5).with_data(4)"), "{text:.200}");
        let header = c_header(&compiled, "mine");
        assert!(header.contains("{ \"sort/onesweep:key2_value1\", mine_module_"), "{header:.200}");
        assert!(
            header.contains("sizeof(SubsweepFunctionsCreateInfo), 3, \"mine\", mine_modules, 28, 4, 7, 5")
        );
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
        let error =
            refused(&format!("#define RESULT_WORDS N\n{}", broken.replace("1;", "true;")), &["select"]);
        assert!(error.contains("RESULT_WORDS is not defined by a line with a number"), "{error}");
        for words in ["N", "0", "1025", "-1"] {
            let error = refused(&format!("#define ELEMENT_WORDS {words}\n"), &["select"]);
            let expected = "mine.glsl: has no line '#define ELEMENT_WORDS n' with a number from 1 to 1024";
            assert!(error.contains(expected), "{error}");
        }
        // Else a recording would not have to give what the function reads.
        for words in ["(4)", "ELEMENT_WORDS", "4\n#undef DATA_WORDS\n#define DATA_WORDS 8"] {
            let right = format!("#define DATA_WORDS {words}\n{broken}").replace("return 1;", "return true;");
            let error = refused(&right, &["select"]);
            assert!(error.contains("DATA_WORDS "), "{error}");
        }
        let error = refused(broken, &["sorts"]);
        assert!(
            error.contains("'sorts' is no use of functions: give one or several of scan, segmented-scan"),
            "{error}"
        );
        let missing = Functions::new("none.glsl").uses(["select"]).modules().unwrap_err().to_string();
        assert!(missing.starts_with("none.glsl: "), "{missing}");
    }
}

/// `tools/custom --compiler PATH` for C takes each compiler, and no other program.
#[test]
fn the_program_takes_a_compiler_by_its_path() {
    let (_folder, path) = include(ALL.replace("#include \"beside.glsl\"", "#define BESIDE 7").as_str());
    let run = |program: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_subsweep-build"));
        command.arg("--compiler").arg(program).arg(&path).args(["mine", "select"]);
        // No compiler but that one.
        command.env("PATH", "").output().unwrap()
    };
    for compiler in compilers() {
        let (Compiler::Glslc(program) | Compiler::GlslangValidator(program)) = &compiler;
        assert_eq!(Compiler::at(program).as_ref(), Some(&compiler));
        let output = run(program);
        let compiled = Functions::new(&path).uses(["select"]).compiler(compiler).modules().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), c_header(&compiled, "mine"), "{output:?}");
    }
    for (program, expected) in [
        ("/bin/true", "subsweep-build: /bin/true is neither glslc nor glslangValidator\n"),
        ("nowhere/glslc", "subsweep-build: nowhere/glslc: "),
    ] {
        let output = run(Path::new(program));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with(expected), "{output:?}");
    }
}

/// The kernel of `docs/pieces.md`, and those that the tests run, as a stranger compiles them.
#[test]
fn kernels_of_pieces_are_compiled() {
    let folder = tempfile::tempdir().unwrap();
    write_sources(folder.path().join("glsl")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let kernels = ["scan", "match", "counters"].map(|name| format!("src/kernels/fixtures/piece_{name}.comp"));
    for kernel in kernels.into_iter().chain(["examples/fused/shaders/fused.comp".to_owned()]) {
        for compiler in compilers() {
            let (program, options): (_, &[&str]) = match &compiler {
                Compiler::Glslc(program) => (program, &["--target-env=vulkan1.2", "-O", "-Werror"]),
                Compiler::GlslangValidator(program) => (program, &["--target-env", "vulkan1.2", "-Os"]),
            };
            let mut command = Command::new(program);
            command.args(options).args(["-Iglsl", "-o", "module.spv"]).arg(root.join(&kernel));
            let output = command.current_dir(folder.path()).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(output.status.success() && !said.contains("WARNING"), "{kernel}: {said}");
        }
    }
}
