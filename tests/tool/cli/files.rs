//! What is left behind when something is refused, cannot be written, or nobody reads.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::{
    check_schema, folder, json_of, lozenge, names, refused, stderr, stdout, succeeds, typed,
};

#[test]
fn a_reader_that_has_gone_away_changes_no_exit_code() {
    let folder = folder();
    let lines = [
        ("list mcus", 0),
        ("--help", 0),
        ("gen --help", 0),
        ("--version", 0),
        ("man", 0),
        ("completions bash", 0),
        ("draw mul 64 --mcu atmega128", 0),
        ("show mul 64 --core rv32im", 0),
        ("gen mul 64 --mcu atmega128 -o out", 0),
        ("gen mul 160", 2),
        ("gen mul 160 --mcu 1", 2),
    ];
    for (line, code) in lines {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("lozenge starts");
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{line}");
    }
}

/// A disk that is full is an error like any other.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_an_error() {
    let folder = folder();
    for line in ["--help", "--version", "list mcus", "man gen"] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .stdout(full.expect("a device"))
            .output()
            .expect("lozenge starts");
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {told}");
        assert!(told.starts_with("error: cannot print: "), "{line}: {told}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_leaves_nothing() {
    let here = folder();
    std::fs::write(here.path().join("file"), "mine").expect("written");
    std::fs::create_dir_all(here.path().join("taken/mul8.o")).expect("made");
    let mut places = vec![
        "file",
        "file/below",
        "taken",
        "/dev/null/below",
        "/proc/lozenge",
        "/proc",
    ];
    let locked = here.path().join("locked");
    std::fs::create_dir(&locked).expect("made");
    let mut mode = std::fs::metadata(&locked)
        .expect("it is there")
        .permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&locked, mode).expect("its mode can be set");
    // Root may write all the same.
    if std::fs::write(locked.join("trial"), "").is_ok() {
        std::fs::remove_file(locked.join("trial")).expect("removed");
    } else {
        places.push("locked");
    }
    for place in places {
        let mut arguments = vec!["gen", "mul", "8", "--mcu", "atmega128", "-o", place];
        let line = refused(here.path(), &arguments);
        assert!(
            line.contains("cannot write") && line.contains(place),
            "{line}"
        );
        let again = refused(here.path(), &arguments);
        assert_eq!(line, again, "the same words again");
        arguments.push("--json");
        let json = lozenge(here.path(), &arguments);
        assert_eq!(
            (json.status.code(), stderr(&json)),
            (Some(2), ""),
            "{place}"
        );
        let message = json_of(&json)["error"]["message"].to_string();
        assert!(
            line.contains(message.trim_matches('"')),
            "{line}: {message}"
        );
    }
    assert_eq!(
        std::fs::read(here.path().join("file")).expect("still there"),
        b"mine"
    );
}

/// Without any one instruction the kernel is wrong, the proof says what is, and no file appears.
#[test]
fn a_kernel_that_is_not_proved_is_not_written() {
    for (line, least) in [
        ("gen mul 16 --mcu atmega128 --method product-scanning", 20),
        (
            "gen mul 24 --mcu atmega2560 --method operand-caching -p e=2",
            40,
        ),
    ] {
        let here = folder();
        let (mut count, mut needless) = (0, 0);
        loop {
            let output = typed(here.path(), &format!("{line} --drop {count} -o out"));
            if output.status.code() == Some(2) {
                assert!(stderr(&output).contains("no instruction"), "{line}");
                break;
            }
            let text = stdout(&output);
            if output.status.success() && text.contains("CORRECT        proved") {
                // Not needed (a load the method counts, of a word that is there): still proved.
                std::fs::remove_dir_all(here.path().join("out")).expect("it was written");
                (count, needless) = (count + 1, needless + 1);
                continue;
            }
            assert_eq!(output.status.code(), Some(1), "{count}:\n{text}");
            assert_eq!(stderr(&output), "", "{line} --drop {count}");
            assert!(names(here.path()).is_empty(), "{line} --drop {count}");
            assert!(
                text.contains("wrote          nothing: not proved"),
                "{text}"
            );
            let obligation = text.lines().any(|l| {
                let l = l.trim_start();
                let open = ["CORRECT", "MEMORY", "ABI"]
                    .iter()
                    .any(|w| l.starts_with(w));
                let verdict = l.split_whitespace().nth(1).unwrap_or_default();
                let words = l.split_whitespace().count();
                open && ["disproved:", "unknown:"].contains(&verdict) && words > 4
            });
            assert!(
                obligation,
                "{line} --drop {count}: no obligation in\n{text}"
            );
            let output = typed(here.path(), &format!("{line} --drop {count} --json"));
            assert_eq!(output.status.code(), Some(1), "{count} --json");
            let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
            check_schema(line, &json);
            for key in ["asm", "header", "object"] {
                assert!(json["files"][key].is_null(), "{line} --drop {count}");
            }
            assert!(
                names(here.path()).is_empty(),
                "{line} --drop {count} --json"
            );
            count += 1;
        }
        assert!(count >= least, "{line} has only {count} instructions");
        assert!(needless <= count / 10, "{line}: {needless} of {count}");
    }
}

#[test]
fn unproved_files_say_so() {
    for drop in [0, 1, 5, 9, 17, 30] {
        let here = folder();
        let line = format!("gen mul 32 --mcu atmega128 --drop {drop} --unproved");
        let output = typed(here.path(), &line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(
            names(here.path()),
            ["mul32.S", "mul32.h", "mul32.json", "mul32.o"],
            "{line}"
        );
        for file in ["mul32.S", "mul32.h"] {
            let text = std::fs::read_to_string(here.path().join(file)).expect("text");
            let (banner, _) = text.split_once("*/").expect("a banner");
            assert!(banner.contains("NOT PROVED"), "{line}: {banner}");
        }
        let file = std::fs::read(here.path().join("mul32.json")).expect("JSON");
        let json: Value = serde_json::from_slice(&file).expect("JSON");
        check_schema(&line, &json);
        let verdict = &json["verdict"];
        let open = ["correct", "memory", "abi"]
            .iter()
            .any(|v| verdict[v] != "proved");
        assert!(open, "{line}: {verdict}");
    }
    // A proved kernel is not called otherwise.
    let here = folder();
    succeeds(here.path(), "gen mul 32 --mcu atmega128 --unproved");
    let text = std::fs::read_to_string(here.path().join("mul32.S")).expect("text");
    assert!(!text.contains("NOT PROVED"));
}
