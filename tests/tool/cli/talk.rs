//! What is said to people and to scripts: next steps, errors as objects, the schema, files that stay.

use serde_json::Value;

use super::{folder, json_of, names, refused, stderr, stdout, succeeds, typed};

/// What a new user types, and what the line on stderr must say to go on with.
#[rustfmt::skip]
const NEXT: &[(&str, &[&str])] = &[
    ("gen modmul 256 --mcu atmega328p",                  &["try --modulus p256", "montmul"]),
    ("gen montmul 256 --mcu atmega328p",                 &["--modulus runtime"]),
    ("gen mul 64 --core atmega328p",                     &["is a part, not a core: try --mcu atmega328p"]),
    ("gen mul 64 --mcu arm7tdmi",                        &["is a core, not a part: try --core arm7tdmi"]),
    ("gen mul 64 --mcu stm32f103",                       &["Cortex-M", "yet", "nearest is --core arm7tdmi"]),
    ("gen mul 64 --mcu pic32mx250f128b",                 &["MIPS32", "nearest is --core mips-4km"]),
    ("gen mul 160 --mcu atmega128 --max-regs 2",         &["try a larger --max-regs, or leave it out"]),
    ("gen mul 160 --mcu atmega128 --max-regs 2 --method operand-caching", &["or -p e=1"]),
    ("gen mul 64 --mcu atmega128 --method fips",         &["fips does not compute mul: ", "leave out --method"]),
    ("gen montmul 160 --mcu attiny85 --method cios --modulus runtime", &["montmul and montsqr by shift-and-add+sps and hfips"]),
    ("gen montmul 32 --mcu attiny10 --method hfips -p d=2 --modulus runtime", &["there only mul and sqr are made, by shift-and-add"]),
    ("gen mul 256 --mcu atmega128 --abi iar --method karatsuba-calls --style rolled", &["three pointers", "--abi gcc"]),
    ("frobnicate mul 64",                                &["frobnicate", "try `lozenge --help`"]),
    ("gen adc 64 --mcu atmega128",                       &["'adc'", "mullo"]),
    ("compare sbc 64 --mcu atmega128",                   &["'sbc'", "mullo"]),
    ("gen mul 64 --mcu atmega128 --wipe",                &["leave out --wipe"]),
    ("gen modexp 64 --mcu atmega328p --alias r=a",       &["leave out --alias"]),
    ("gen modmul 256 --mcu atmega8 --modulus p265",      &["did you mean p256?"]),
    ("check m.c --symbol f --op mul --bits 64 --mcu atmega328p", &["m.c", "try an object"]),
];

#[test]
fn every_refusal_ends_with_a_next_step() {
    let here = folder();
    std::fs::write(here.path().join("m.c"), "void f(void) {}\n").expect("written");
    for (line, parts) in NEXT {
        let words: Vec<_> = line.split_whitespace().collect();
        let told = refused(here.path(), &words);
        for part in *parts {
            assert!(told.contains(part), "{line}: no {part:?} in {told}");
        }
        // The same as an object.
        let output = typed(here.path(), &format!("{line} --json"));
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(2), ""),
            "{line}"
        );
        let json = json_of(&output);
        matches_schema(line, &json);
        let message = json["error"]["message"].as_str().expect("a message");
        // An option that this command has not may be the first thing that is wrong.
        assert!(
            told.contains(message) || message.contains("--json"),
            "{line}: {message}"
        );
    }
    let json = json_of(&typed(here.path(), "gen mullo 7 --mcu atmega8 --json"));
    assert_eq!(json["error"]["kind"], "usage");
    assert_eq!(json["error"]["try"], "8");
    let json = json_of(&typed(
        here.path(),
        "gen mul 64 --mcu atmega8 --max-flash 8 --json",
    ));
    assert_eq!(json["error"]["kind"], "budget");
    assert!(
        json["error"]["try"]
            .as_str()
            .is_some_and(|t| t.starts_with("--max-flash ")),
        "{json}"
    );
    // What to do instead stands behind the last `try`, or is to leave something out.
    for (line, advice) in [
        ("frobnicate mul 64 --json", "`lozenge --help`"),
        (
            "gen sqr 64 --alias r=b --mcu atmega8 --json",
            "leave out --alias r=b",
        ),
        (
            "gen modexp 64 --max-stack 8 --mcu atmega8 --json",
            "--max-flash",
        ),
    ] {
        assert_eq!(json_of(&typed(here.path(), line))["error"]["try"], advice);
    }
    let json = json_of(&typed(here.path(), "gen mul 8 --mcu atmega9 --json"));
    assert_eq!(json["error"]["kind"], "target");
    let json = json_of(&typed(here.path(), "gen mul 8 --mcu atmega8 -o m.c --json"));
    assert_eq!(json["error"]["kind"], "file");
    assert!(json["error"]["try"].is_null(), "{json}");
}

#[test]
fn moduli_have_the_names_that_others_give_them() {
    let here = folder();
    for (name, known) in [
        ("secp256r1", "p256"),
        ("P-256", "p256"),
        ("prime256v1", "p256"),
        ("Curve25519", "25519"),
    ] {
        let json = json_of(&succeeds(
            here.path(),
            &format!("gen modadd 256 --mcu atmega8 --modulus {name} --json -o {name}"),
        ));
        let command = json["command"].as_str().expect("a command");
        assert!(command.contains(&format!("--modulus {known}")), "{command}");
    }
}

/// Does `value` match `schema`? Of JSON Schema only the words that ours has.
fn matches(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let no = |what: String| Err(format!("{at}: {what}: {value}"));
    for (word, says) in schema.as_object().expect("a schema") {
        let right = match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "minimum" => Ok(()),
            "$ref" => {
                let pointer = says.as_str().expect("a reference").trim_start_matches('#');
                matches(
                    root,
                    root.pointer(pointer).expect("a definition"),
                    value,
                    at,
                )
            }
            "anyOf" => {
                let each = says.as_array().expect("schemas").iter();
                let wrong: Vec<_> = each
                    .map_while(|s| matches(root, s, value, at).err())
                    .collect();
                match wrong.len() < says.as_array().expect("schemas").len() {
                    true => Ok(()),
                    false => no(wrong.join(" / ")),
                }
            }
            "enum" if says.as_array().expect("words").contains(value) => Ok(()),
            "enum" => no(format!("none of {says}")),
            "type" => {
                let is = |t: &Value| match t.as_str().expect("a type") {
                    "string" => value.is_string(),
                    "integer" => value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("{other} is no type"),
                };
                let any = says
                    .as_array()
                    .map_or_else(|| is(says), |list| list.iter().any(is));
                if any {
                    Ok(())
                } else {
                    no(format!("no {says}"))
                }
            }
            "required" => {
                let mut missing = says.as_array().expect("names").iter();
                let missing =
                    missing.find(|name| value.get(name.as_str().expect("a name")).is_none());
                missing.map_or(Ok(()), |name| no(format!("no {name}")))
            }
            "minProperties" => match value.as_object().is_some_and(|o| !o.is_empty()) {
                true => Ok(()),
                false => no("empty".into()),
            },
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                items.try_for_each(|item| matches(root, says, item, &format!("{at}[]")))
            }
            "properties" => {
                says.as_object()
                    .expect("names")
                    .iter()
                    .try_for_each(|(name, schema)| {
                        let part = value.get(name);
                        part.map_or(Ok(()), |part| {
                            matches(root, schema, part, &format!("{at}.{name}"))
                        })
                    })
            }
            "additionalProperties" => {
                let known =
                    |name: &str| schema.get("properties").and_then(|p| p.get(name)).is_some();
                let others = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(name, _)| !known(name));
                others.into_iter().try_for_each(|(name, part)| match says {
                    Value::Bool(false) => no(format!("{name} is not in the schema")),
                    says => matches(root, says, part, &format!("{at}.{name}")),
                })
            }
            other => panic!("{other} is not read here"),
        };
        right?;
    }
    Ok(())
}

fn matches_schema(line: &str, value: &Value) {
    let here = folder();
    let schema = json_of(&succeeds(here.path(), "schema"));
    matches(&schema, &schema, value, "").unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
}

/// Everything that `--json` prints is in the schema, and nothing else passes.
#[test]
fn the_schema_is_what_is_printed() {
    let here = folder();
    for line in [
        "gen mul 32 --mcu atmega8 -o made",
        "gen mul 32 --mcu atmega8 -o made --drop 3",
        "gen mul 64 --core arm7tdmi -o made",
        "gen mul 64 --mcu atmega8 --abi iar -o made",
        "gen montmul 64 --mcu atmega328p --modulus 0xffffffffffffffc5 --alias r=a -o made",
        "gen modmul 192 --modulus p192 --shift 96 --mcu atmega328p --method range-shifted -o made",
        "gen modexp 64 --mcu atmega328p --method fips -o made",
        "gen rsa 64 --core arm7tdmi --method fips -o made",
        "run rsa 64 --mcu atmega328p --method fips",
        "run modexp 64 --core arm7tdmi --method fips",
        "check made/mul32.o --symbol mul32 --op mul --bits 32 --mcu atmega8",
        "compare mul 32 --mcu atmega8",
        "repro hutter-wenger-2018 --table 3",
        "repro seo-kim-2014 --table 5",
        "list mcus",
        "list ops",
        "list plans",
        "draw mul 64 --mcu atmega128",
        "show sqr 32 --core rv32im",
        "gen mul 60 --core rv32im -o rounded",
        "gen mullo 7 --mcu atmega8",
    ] {
        let output = typed(here.path(), &format!("{line} --json"));
        matches_schema(line, &json_of(&output));
    }
    let schema = json_of(&succeeds(here.path(), "schema"));
    for wrong in [
        serde_json::json!({}),
        serde_json::json!({"error": {"kind": "odd", "message": "", "try": null}}),
        serde_json::json!({"rows": [{}]}),
    ] {
        assert!(matches(&schema, &schema, &wrong, "").is_err(), "{wrong}");
    }
}

/// Files that are not of this kernel stay, unless it is forced; those of the same kernel are replaced.
#[test]
fn files_of_others_stay() {
    let here = folder();
    let read = |name: &str| std::fs::read(here.path().join(name)).expect("still there");
    std::fs::write(here.path().join("mul32.h"), "mine\n").expect("written");
    let gen_line = "gen mul 32 --mcu atmega8";
    let words = |line: &str| refused(here.path(), &line.split(' ').collect::<Vec<_>>());
    let told = words(gen_line);
    for part in [
        "mul32.h",
        "not of this kernel",
        "--force",
        "--prefix",
        "another folder",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(names(here.path()), ["mul32.h"]);
    succeeds(here.path(), &format!("{gen_line} --force"));
    // The same kernel by another method, or within a budget, is the same kernel; for another target it is not.
    let before = read("mul32.o");
    succeeds(
        here.path(),
        &format!("{gen_line} --method product-scanning"),
    );
    assert_ne!(read("mul32.o"), before);
    for other in [
        "gen mul 32 --mcu attiny85",
        "gen mul 32 --core mips-4km-32x16",
        "gen mul 32 --mcu atmega8 --abi iar",
    ] {
        let told = words(other);
        assert!(told.contains("not of this kernel"), "{other}: {told}");
    }
    // An object alone says not whose it is.
    std::fs::write(here.path().join("mul24.o"), "mine\n").expect("written");
    let told = words("gen mul 24 --mcu atmega8");
    assert!(told.contains("mul24.o"), "{told}");
}

/// The private operation of RSA says what it takes and what it does not do, and `--wipe` leaves nothing of what it worked in.
#[test]
fn rsa_says_what_it_does_not_do() {
    let here = folder();
    succeeds(
        here.path(),
        "gen rsa 64 --mcu atmega328p --method fips -o kept",
    );
    let json = json_of(&succeeds(
        here.path(),
        "gen rsa 64 --mcu atmega328p --method fips --wipe --json -o wiped",
    ));
    let header = |folder: &str| {
        std::fs::read_to_string(here.path().join(folder).join("rsa64.h")).expect("written")
    };
    for folder in ["kept", "wiped"] {
        let header = header(folder);
        for part in [
            "qinv_mont[4]",
            "PKCS#1",
            "times 2^n, mod p",
            "no padding",
            "no blinding",
            "fault",
            "clear both",
        ] {
            assert!(header.contains(part), "{folder}: no {part:?} in {header}");
        }
    }
    assert!(header("kept").contains("--wipe clears these"));
    assert!(header("wiped").contains("cleared at the end"));
    assert!(
        json["command"]
            .as_str()
            .is_some_and(|c| c.contains(" --wipe")),
        "{json}"
    );
    // Each run of a driver that wipes looks at its area; nothing but the wiping was added.
    let size = |folder: &str| {
        std::fs::metadata(here.path().join(folder).join("rsa64.o"))
            .expect("written")
            .len()
    };
    assert!(size("wiped") > size("kept"));
    for target in ["--core arm7tdmi --variable-time", "--core mips-4km-32x16"] {
        succeeds(
            here.path(),
            &format!("gen modexp 64 {target} --method fips --wipe -o modexp --force"),
        );
    }
    let text = stdout(&succeeds(
        here.path(),
        "gen rsa-public 64 --mcu atmega328p --method fips -o public",
    ))
    .to_string();
    assert!(
        text.contains("BEWARE") && text.contains("no padding"),
        "{text}"
    );
}
