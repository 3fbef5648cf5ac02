//! Completions and pages of the manual, which packages install.

use super::*;

/// The names of the commands, as `--help` lists them.
fn commands() -> Vec<String> {
    let help = run(&mut subsweep(["--help"])).text();
    let (_, after) = help.split_once("Commands:\n").expect("a list of commands");
    let list = after.split("\n\n").next().expect("a paragraph");
    // Lines that go on begin further right.
    let named = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.map(|line| line.split_whitespace().next().expect("a name").to_owned()).collect()
}

#[test]
fn every_command_has_a_page() {
    let folder = Folder::new();
    assert_eq!(run(&mut subsweep(["man", &folder.argument("man1")])).text(), "");
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    let names = commands.iter().filter(|name| *name != "help").map(|name| format!("subsweep-{name}.1"));
    let mut names: Vec<_> = names.chain(["subsweep.1".to_owned()]).collect();
    names.sort();
    let made = std::fs::read_dir(folder.path("man1")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut made: Vec<_> = made.map(|name| name.into_string().unwrap()).collect();
    made.sort();
    assert_eq!(made, names);
    for name in names {
        let page = folder.read(&format!("man1/{name}"));
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
        let mut man = Command::new("man");
        man.args(["--warnings", "-E", "UTF-8", "-Tutf8", "-l"]).arg(folder.path(&format!("man1/{name}")));
        man.env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100");
        match man.output() {
            Ok(shown) => assert_eq!(String::from_utf8_lossy(&shown.stderr), "", "{name}"),
            Err(error) => {
                assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "man: {error}");
                eprintln!("SKIPPED: man: {error}");
            }
        }
    }
}

#[test]
fn pages_need_a_folder_that_can_be_made() {
    let folder = Folder::new();
    let file = folder.file("file", "");
    run(&mut subsweep(["man", &format!("{file}/man1")])).refused(2, "name another folder");
}

#[test]
fn bash_completes_commands_and_options() {
    let script = run(without_drivers(&mut subsweep(["completions", "bash"]))).text();
    let complete = |words: &str, count: usize| {
        let ask = format!("{script}\nCOMP_WORDS=({words}); COMP_CWORD={count}; _subsweep subsweep");
        let mut bash = Command::new("bash");
        let ended = run(bash.args(["--norc", "-c", &format!("{ask} \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\"")]));
        ended.text()
    };
    assert_eq!(complete("subsweep so", 1), "sort\n");
    assert_eq!(complete("subsweep sort --desc", 2), "--descending\n");
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&mut subsweep(["completions", shell])).text();
        assert!(script.contains("histogram"), "{shell}: {script}");
    }
    run(&mut subsweep(["completions", "bash", "--device", "0"])).refused(2, "leave --device out");
}
