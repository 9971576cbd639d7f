//! The command line as a user meets it: the main job, the JSON, bad input. The commands
//! that help and README show are run by readme.rs.

mod files;
mod guards;
mod people;
mod promises;
mod talk;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    tempdir().expect("a temporary folder")
}

fn lozenge(current: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(arguments)
        .current_dir(current)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

/// Arguments as typed, without quoting.
fn typed(current: &Path, line: &str) -> Output {
    lozenge(current, &line.split_whitespace().collect::<Vec<_>>())
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("stdout is UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("stderr is UTF-8")
}

fn succeeds(current: &Path, line: &str) -> Output {
    let output = typed(current, line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
    // Where ten seconds have gone, a line says what is done.
    let told: Vec<_> = stderr(&output)
        .lines()
        .filter(|line| !line.ends_with(" s]"))
        .collect();
    assert!(told.is_empty(), "{line}: quiet on stderr: {told:?}");
    output
}

/// The one JSON value that was printed.
fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", stdout(output), stderr(output)))
}

/// Every file and folder below `folder`, files with their contents.
fn tree(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let name = path.strip_prefix(folder).expect("below the folder");
        let name = name.display().to_string();
        if path.is_dir() {
            for (below, contents) in tree(&path) {
                all.insert(format!("{name}/{below}"), contents);
            }
            all.insert(name, None);
        } else {
            all.insert(
                name,
                Some(std::fs::read(&path).expect("the file can be read")),
            );
        }
    }
    all
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().collect()
}

/// Fails with exit code 2, one clear line on stderr, nothing on stdout; the line.
fn refused(current: &Path, arguments: &[&str]) -> String {
    let before = tree(current);
    let output = lozenge(current, arguments);
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {out}{err}");
    assert_eq!(out, "", "{arguments:?}: nothing on stdout");
    assert!(err.ends_with('\n'), "{arguments:?}: a whole line: {err:?}");
    assert_eq!(err.lines().count(), 1, "{arguments:?}: one line: {err}");
    let clear = err.starts_with("error: ") && !err.trim_end().ends_with(':');
    assert!(clear, "{arguments:?}: a clear line: {err}");
    assert!(
        tree(current) == before,
        "{arguments:?}: left {:?}",
        names(current)
    );
    err.to_string()
}

#[test]
fn the_main_job() {
    let here = folder();
    let output = succeeds(here.path(), "gen mul 160 --mcu atmega128");
    let text = stdout(&output);
    for part in [
        "CORRECT        proved for all inputs",
        "MEMORY         proved",
        "ABI            proved: avr-gcc",
        "CONSTANT TIME  proved on atmega128",
        "cycles",
        "bytes of stack",
        "mul160.S mul160.h mul160.o mul160.json",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert_eq!(
        names(here.path()),
        ["mul160.S", "mul160.h", "mul160.json", "mul160.o"]
    );
    for file in ["mul160.S", "mul160.h"] {
        let text = std::fs::read_to_string(here.path().join(file)).expect("text");
        assert!(text.starts_with("/* SPDX-License-Identifier: "), "{file}");
        assert!(!text.contains("NOT PROVED"), "{file}");
        for part in [
            "equation",
            "prototype",
            "abi",
            "method",
            "cycles",
            "command",
        ] {
            let line = format!(" * {part:<14}");
            assert!(text.contains(&line), "no {part:?} in the banner of {file}");
        }
    }
}

/// The command in the banner gives the same bytes; so does the same command.
#[test]
fn the_same_bytes_again() {
    let here = folder();
    for line in [
        "gen mul 160 --mcu atmega128",
        "gen mul 64 --core atmega2560 --method product-scanning",
        "gen mul 72 --mcu atmega328p --method operand-caching -p e=4",
    ] {
        for again in ["one", "two"] {
            succeeds(here.path(), &format!("{line} -o {again}"));
        }
        let one = tree(&here.path().join("one"));
        assert_eq!(one.len(), 4, "{line}");
        assert!(
            one == tree(&here.path().join("two")),
            "{line}: two runs differ"
        );
        let (_, json) = one
            .iter()
            .find(|(n, _)| n.ends_with(".json"))
            .expect("JSON");
        let json = json.as_deref().expect("a file");
        let json: Value = serde_json::from_slice(json).expect("JSON");
        let command = json["command"].as_str().expect("a command");
        let again = command.strip_prefix("lozenge ").expect("a lozenge command");
        succeeds(here.path(), &format!("{again} -o three"));
        assert!(one == tree(&here.path().join("three")), "{command} differs");
        for again in ["one", "two", "three"] {
            std::fs::remove_dir_all(here.path().join(again)).expect("removed");
        }
    }
}

#[test]
fn output_makes_nested_folders_and_replaces_files() {
    let here = folder();
    succeeds(here.path(), "gen mul 8 --mcu atmega128 -o deep/er/est");
    let to = here.path().join("deep/er/est");
    let first = tree(&to);
    assert_eq!(names(&to), ["mul8.S", "mul8.h", "mul8.json", "mul8.o"]);
    for name in names(&to) {
        std::fs::write(to.join(name), "old").expect("written");
    }
    succeeds(
        here.path(),
        "gen mul 8 --mcu atmega128 --force --output deep/er/est",
    );
    assert!(tree(&to) == first, "old files are replaced");
}

/// `key: type` for every promised key: u, s, S (string or null), o (object).
const SCHEMA: &str = "/spec o, /spec/op s, /spec/bits u, /core s, /mcu S, /method s, /params o, \
    /style s, /cycles o, /cycles/body o, /cycles/body/min u, /cycles/body/max u, \
    /cycles/call o, /cycles/call/min u, /cycles/call/max u, /instructions o, \
    /instructions/total u, /instructions/load u, /instructions/store u, /instructions/mul u, \
    /instructions/add u, /instructions/move u, /instructions/other u, /bytes o, /bytes/body u, \
    /bytes/call u, /stack_bytes u, /verdict o, /verdict/correct s, /verdict/memory s, \
    /verdict/abi s, /verdict/constant_time o, /files o, /files/asm S, /files/header S, \
    /files/object S";

fn check_schema(line: &str, json: &Value) {
    for entry in SCHEMA.split(", ") {
        let (pointer, kind) = entry.trim().split_once(' ').expect("key and type");
        let value = json.pointer(pointer);
        let value = value.unwrap_or_else(|| panic!("{line}: no {pointer}"));
        let right = match kind {
            "u" => value.is_u64(),
            "s" => value.is_string(),
            "S" => value.is_string() || value.is_null(),
            _ => value.is_object(),
        };
        assert!(right, "{line}: {pointer} is {value}");
    }
    for verdict in ["correct", "memory", "abi"] {
        let word = json["verdict"][verdict].as_str().expect("a string");
        let known = ["proved", "disproved", "unknown"].contains(&word);
        assert!(known, "{line}: {verdict} is {word}");
    }
    let time = json["verdict"]["constant_time"].as_object().expect("cores");
    let core = json["core"].as_str().expect("a core");
    assert!(
        time.contains_key(core),
        "{line}: no constant time on {core}"
    );
    for (core, word) in time {
        let known = ["proved", "leaks", "unknown"].iter().any(|w| word == w);
        assert!(known, "{line}: constant time on {core} is {word}");
        assert_eq!(
            word == "proved",
            json["leaks"][core].is_null(),
            "{line}: {core}"
        );
    }
    let params = json["params"].as_object().expect("parameters");
    // A plan has a name.
    let fine =
        |(key, value): (&String, &Value)| value.is_u64() || key == "plan" && value.is_string();
    assert!(params.iter().all(fine), "{line}: {params:?}");
    let counts = json["instructions"].as_object().expect("counts");
    let sum: u64 = counts.values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(sum), counts["total"].as_u64().map(|n| 2 * n), "{line}");
}

/// A command, and what its JSON says of part, method and parameters; `-` if that is left open.
#[rustfmt::skip]
const JSON: [(&str, &str, &str, &str); 3] = [
    ("gen mul 160 --mcu atmega128 --json", "atmega128", "karatsuba", "{\"levels\":2,\"plan\":\"k160-a\"}"),
    ("gen mul 64 --core atmega2560 --method product-scanning --json", "", "product-scanning", "{}"),
    ("gen mul 8 --mcu atmega2560 --json", "atmega2560", "-", "-"),
];

#[test]
fn json_is_one_object_as_promised() {
    for (line, mcu, method, params) in JSON {
        let here = folder();
        let output = succeeds(here.path(), line);
        // from_slice refuses anything after the object.
        let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
        check_schema(line, &json);
        let symbol = format!("mul{}", json["spec"]["bits"]);
        let file = std::fs::read(here.path().join(format!("{symbol}.json"))).expect("the file");
        assert!(file == output.stdout, "{line}: file and stdout differ");
        assert_eq!(json["spec"]["op"], "mul");
        assert_eq!(json["mcu"].as_str().unwrap_or_default(), mcu, "{line}");
        if method != "-" {
            assert_eq!(json["method"], method, "{line}");
            assert_eq!(json["params"].to_string(), params, "{line}");
        }
        assert_eq!(json["style"], "unrolled");
        for (key, extension) in [("asm", "S"), ("header", "h"), ("object", "o")] {
            assert_eq!(
                json["files"][key],
                format!("{symbol}.{extension}"),
                "{line}"
            );
        }
        for verdict in ["correct", "memory", "abi"] {
            assert_eq!(json["verdict"][verdict], "proved", "{line}");
        }
    }
}

/// Without --method, nothing that can be asked for by name is cheaper.
#[test]
fn the_default_is_the_cheapest() {
    let here = folder();
    let cycles = |line: &str| {
        let output = succeeds(here.path(), line);
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        json["cycles"]["call"]["max"].as_u64().expect("cycles")
    };
    for bits in [8, 32, 80, 160] {
        let base = format!("gen mul {bits} --mcu atmega128 --json");
        let best = cycles(&base);
        assert!(best <= cycles(&format!("{base} --method product-scanning")));
        for e in 1..=10 {
            let other = cycles(&format!("{base} --method operand-caching -p e={e}"));
            assert!(
                best <= other,
                "{bits} bits: e={e} takes {other}, default {best}"
            );
        }
    }
}

/// Topics of `list`: some names it lists, some keys of each row.
const TOPICS: [(&str, &str, &str); 4] = [
    (
        "methods",
        "operand-caching product-scanning",
        "name ops summary source",
    ),
    ("cores", "atmega128 atmega2560", "name word_bits source"),
    (
        "mcus",
        "atmega128 atmega328p atmega1284p atmega2560",
        "name core flash ram",
    ),
    ("ops", "mul sqr mullo mulhi", "name equation"),
];

#[test]
fn list_says_what_there_is() {
    let here = folder();
    for (topic, rows, keys) in TOPICS {
        let words = |text: &'static str| text.split_whitespace();
        let all = if topic == "methods" { " --all" } else { "" };
        let output = succeeds(here.path(), &format!("list {topic}{all}"));
        let text = stdout(&output);
        assert!(!text.contains('\x1b'), "list {topic} has escape sequences");
        let output = succeeds(here.path(), &format!("list {topic} --json"));
        let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
        let list = json[topic].as_array().expect("an array under the topic");
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(1));
        // A line that goes on begins further right.
        let begins = |line: &&str| line.starts_with(' ') && !line.starts_with("  ");
        let rows_shown = text.lines().filter(begins).count();
        assert_eq!(rows_shown, 1 + list.len(), "a header and the rows:\n{text}");
        for row in list {
            for key in words(keys) {
                assert!(!row[key].is_null(), "{topic}: no {key} in {row}");
            }
            let name = row["name"].as_str().expect("a name");
            let shown = text
                .lines()
                .any(|l| l.split_whitespace().next() == Some(name));
            assert!(shown, "{topic}: {name} is not in\n{text}");
        }
        for name in words(rows) {
            assert!(list.iter().any(|r| r["name"] == name), "{topic}: no {name}");
        }
    }
    assert!(names(here.path()).is_empty());
}

/// Of an MSP430's memory `list mcus` says how much lies below 64 KB.
#[test]
fn list_says_what_small_code_reaches() {
    let here = folder();
    let output = succeeds(here.path(), "list mcus msp430f5529 --json");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let part = &json["mcus"][0];
    let told = ["flash", "ram", "near_flash", "near_ram"].map(|key| part[key].as_u64());
    assert_eq!(told, [131_072, 8192, 48_128, 8192].map(Some));
    let one = succeeds(here.path(), "list mcus msp430f5529");
    let one = stdout(&one);
    assert!(one.contains("near_flash  48128"), "{one}");
    let all = succeeds(here.path(), "list mcus");
    let all = stdout(&all);
    assert!(!all.contains("near"), "{all}");
}

/// Every part gives a product, by additions where it has no multiplier; a RISC-V without one says why not.
#[test]
fn every_listed_part_works() {
    let here = folder();
    let output = succeeds(here.path(), "list mcus --json");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for part in json["mcus"].as_array().expect("parts") {
        let name = part["name"].as_str().expect("a name");
        // Parts with addresses of RAM are AVRs, words of 8 bits.
        let is_avr = part["ram_start"] != "";
        let bits = if is_avr { "8" } else { "32" };
        let arguments = ["gen", "mul", bits, "--mcu", name, "-o", name];
        if part["core"] == "qingke-v2a" {
            let line = refused(here.path(), &arguments);
            assert!(line.contains("has no multiplier"), "{line}");
            continue;
        }
        succeeds(here.path(), &arguments.join(" "));
        let multiplies = [&arguments[..], &["--method", "product-scanning"]].concat();
        if part["mul"] == true {
            succeeds(here.path(), &multiplies.join(" "));
        } else {
            let line = refused(here.path(), &multiplies);
            let why = ["MUL is not an instruction of", "has no multiplier"];
            assert!(why.iter().any(|why| line.contains(why)), "{line}");
        }
    }
}

/// Arguments after `gen`, and what the line on stderr must contain.
#[rustfmt::skip]
const BAD: &[(&str, &[&str])] = &[
    ("mul 0 --mcu atmega128",     &["0 bits", "8"]),
    ("mullo 7 --mcu atmega128",   &["7 bits", "try 8\n"]),
    ("mulhi 9 --mcu atmega128",   &["9 bits", "8-bit words", "8 or 16"]),
    ("mullo 161 --mcu atmega128", &["161", "160 or 168"]),
    ("mullo 4095 --mcu atmega128", &["4095", "4088 or 4096"]),
    ("mul 4097 --mcu atmega128",  &["4097", "largest", "4096"]),
    ("mul 4104 --mcu atmega128",  &["4104", "largest", "4096"]),
    ("mul 5000 --mcu atmega128",  &["5000", "largest", "4096"]),
    ("mul 4294967295 --mcu atmega128", &["4294967295", "4096"]),
    ("mul 4294967296 --mcu atmega128", &["4294967296"]),
    ("mul -8 --mcu atmega128",    &["-8"]),
    ("mul 8.5 --mcu atmega128",   &["8.5"]),
    ("mul abc --mcu atmega128",   &["abc"]),
    ("mul 160x --mcu atmega128",  &["160x", "try 160 or 256x64"]),
    ("mul 0x16 --mcu atmega128",  &["0 bits"]),
    ("mul 64x4104 --mcu atmega128", &["4104", "largest"]),
    ("sqr 160x8 --mcu atmega128", &["sqr 160x8", "only mul", "sqr 160"]),
    ("mullo 8x16 --mcu atmega128", &["only mul", "try mullo 8"]),
    ("mulhi 32 --mcu atmega128 --method operand-caching", &["operand-caching does not compute mulhi"]),
    ("mul 64x32 --mcu atmega128 --method operand-caching -p e=2", &["one size", "product-scanning"]),
    ("mul 64x32 --mcu atmega128 --method operand-scanning -p k=0", &["one size", "product-scanning"]),
    ("mul --mcu atmega128",       &["how many bits", "try mul 256"]),
    ("mull 8 --mcu atmega128",    &["mull", "'mullo'"]),
    ("",                          &["OP"]),
    ("mul 8",                     &["--mcu", "--core"]),
    ("mul 8 --mcu",               &["--mcu"]),
    ("mul 8 --mcu atmega129",     &["atmega129", "did you mean atmega128?", "list mcus"]),
    ("mul 8 --mcu atmega32p",     &["atmega32p", "did you mean atmega"]),
    ("mul 8 --mcu toaster",       &["toaster", "list mcus"]),
    ("mul 8 --core atmega12",     &["atmega12", "did you mean atmega128?", "list cores"]),
    ("mul 8 --core toaster",      &["toaster", "list cores"]),
    ("mul 8 --mcu attiny85 --method product-scanning", &["MUL is not an instruction of attiny85"]),
    ("mul 8 --mcu atmega128 --method shift-and-add", &["shift-and-add", "without a multiplier"]),
    ("mul 8 --mcu atmega128 --core atmega2560", &["atmega128", "atmega2560"]),
    ("mul 8 --mcu atmega128 --method fast",     &["fast", "list methods"]),
    ("mul 8 --mcu atmega128 --method operand-cachin", &["did you mean operand-caching?"]),
    ("mul 8 --mcu atmega128 --method product_scanning", &["did you mean product-scanning?"]),
    ("mul 8 --mcu atmega128 -p e=3", &["-p", "--method"]),
    ("mul 8 --mcu atmega128 --method product-scanning -p e=3", &["product-scanning", "no parameter e", "takes unroll"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p f=3",  &["operand-caching", "no parameter f", "takes e"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p e",    &["NAME=VALUE"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p e=",   &["whole number"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p e=x",  &["x is not a whole number"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p e=-1", &["-1 is not a whole number"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p e=0",  &["e=0", "at least 1"]),
    ("mul 160 --mcu atmega128 --method operand-caching -p e=3 -p e=4", &["e", "twice"]),
    ("mul 160 --mcu atmega128 --method operand-caching -p e=11",
        &["e=11", "need 26 registers", "24 are free", "largest e that fits is 10", "-p e=10"]),
    ("mul 160 --mcu atmega128 --method operand-caching -p e=20",
        &["e=20", "need 44 registers", "24 are free", "largest e that fits is 10"]),
    ("mul 8 --mcu atmega128 --method operand-caching -p e=18446744073709551615", &["e", "largest e"]),
    ("mul 8 --mcu atmega128 --drop 1000", &["no instruction 1000"]),
    ("mul 8 --mcu atmega128 --drop x",    &["x"]),
    ("mul 8 --mcu atmega128 --fast",      &["--fast"]),
    ("mul 8 16 --mcu atmega128",          &["16"]),
];

#[test]
fn bad_input_is_refused_in_one_line() {
    let here = folder();
    let mut wrong = Vec::new();
    for (line, parts) in BAD {
        let mut arguments = vec!["gen"];
        arguments.extend(line.split_whitespace());
        match std::panic::catch_unwind(|| refused(here.path(), &arguments)) {
            Ok(text) => {
                let missing: Vec<_> = parts.iter().filter(|p| !text.contains(**p)).collect();
                if !missing.is_empty() {
                    wrong.push(format!("gen {line}: no {missing:?} in: {text}"));
                }
            }
            Err(_) => wrong.push(format!("gen {line}: see above")),
        }
    }
    for arguments in [
        &[][..],
        &["toast"],
        &["list"],
        &["list", "toasters"],
        &["bench", "--bits", "7"],
    ] {
        if std::panic::catch_unwind(|| refused(here.path(), arguments)).is_err() {
            wrong.push(format!("{arguments:?}: see above"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
