//! What is promised before anything is written: constant time, overlaps, and room on the part.

use serde_json::Value;

use super::{folder, json_of, names, refused, stderr, stdout, succeeds, typed};

/// A leak on the core that is asked for: exit code 1 and no file, unless it is accepted; then every file says so.
#[test]
fn constant_time_belongs_to_proved() {
    // Its multiplier stops early.
    for (target, core, insn) in [
        ("--core arm7tdmi", "arm7tdmi", "umull "),
        (
            "--core mips-4km --isa-ext maddhl",
            "mips-4km+maddhl",
            "maddl ",
        ),
    ] {
        let here = folder();
        let line = format!("gen mul 64 {target} -o out");
        let output = typed(here.path(), &line);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {text}");
        assert!(names(here.path()).is_empty(), "{line}");
        let told = text
            .lines()
            .find(|l| l.contains("wrote          nothing: not proved: "));
        let told = told.unwrap_or_else(|| panic!("{line}: {text}"));
        assert!(
            told.contains(&format!("depends on operands on {core}")),
            "{told}"
        );
        assert!(
            told.contains(insn) && told.contains("--variable-time"),
            "{told}"
        );
        let json = typed(here.path(), &format!("{line} --json"));
        assert_eq!(json.status.code(), Some(1), "{line}");
        let json = json_of(&json);
        assert_eq!(json["proved"], false);
        assert_eq!(json["variable_time"], false);
        assert_eq!(json["verdict"]["constant_time"][core], "leaks");
        assert!(json["leaks"][core]["instruction"].is_string(), "{json}");

        succeeds(here.path(), &format!("{line} --variable-time"));
        let read = |name: &str| {
            std::fs::read_to_string(here.path().join("out").join(name)).expect("written")
        };
        for name in ["mul64.S", "mul64.h"] {
            assert!(
                read(name).contains("accepted (--variable-time): leaks: "),
                "{name}"
            );
        }
        assert!(read("mul64.h").contains("#define MUL64_CONSTANT_TIME 0\n"));
        let json: Value = serde_json::from_str(&read("mul64.json")).expect("JSON");
        assert_eq!(
            (&json["proved"], &json["variable_time"]),
            (&true.into(), &true.into())
        );
        let command = json["command"].as_str().expect("a command");
        assert!(command.contains(" --variable-time"), "{command}");
        // The same notion of others' functions, of tables, and of runs.
        let check = format!("check out/mul64.o --symbol mul64 --op mul --bits 64 {target}");
        let compare = format!("compare mul 64 {target}");
        let run = format!("run modexp 64 {target} --method fips");
        let modexp = format!("gen modexp 64 {target} --method fips -o driver");
        // The kernels of drivers are not made of MADDL.
        let drivers = [run, modexp];
        let drivers = drivers.into_iter().filter(|_| core == "arm7tdmi");
        for line in [check, compare].into_iter().chain(drivers) {
            let leaks = typed(here.path(), &line);
            assert_eq!(leaks.status.code(), Some(1), "{line}: {}", stdout(&leaks));
            let all = format!("{}{}", stdout(&leaks), stderr(&leaks));
            assert!(all.contains("--variable-time accepts"), "{line}: {all}");
            assert!(
                !names(here.path()).iter().any(|n| n.starts_with("driver")),
                "{line}"
            );
            let accepted = typed(here.path(), &format!("{line} --variable-time"));
            assert_eq!(
                accepted.status.code(),
                Some(0),
                "{line}: {}",
                stdout(&accepted)
            );
        }
    }
    // Nothing to accept where nothing leaks; a sum does not multiply.
    let here = folder();
    succeeds(
        here.path(),
        "gen modadd 64 --modulus 2^64-59 --core arm7tdmi",
    );
    succeeds(
        here.path(),
        "gen mul 64 --core mips-4km-32x16 --variable-time",
    );
    let json = std::fs::read(here.path().join("mul64.json")).expect("written");
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["variable_time"], false);
    assert!(
        !json["command"]
            .as_str()
            .expect("a command")
            .contains("variable")
    );
}

/// `r == a` where it is asked for, proved; without it the prototype forbids it.
#[test]
fn the_result_may_be_an_operand_where_that_is_asked_for() {
    let here = folder();
    let line = "gen modmul 128 --modulus 2^128-159 --mcu atmega328p --method product-scanning+fold";
    let apart = json_of(&succeeds(here.path(), &format!("{line} --json -o apart")));
    assert_ne!(
        apart["aliasing"]["r == a"], "proved",
        "else this test shows nothing"
    );
    let symbol = apart["spec"]["symbol"]
        .as_str()
        .expect("a symbol")
        .to_string();
    let read = |file: &str| std::fs::read_to_string(here.path().join(file)).expect("written");
    let header = read(&format!("apart/{symbol}.h"));
    let c = format!(
        "extern void {symbol}(uint8_t r[restrict 16], const uint8_t a[16], const uint8_t b[16]);"
    );
    let cpp =
        format!("extern void {symbol}(uint8_t *__restrict r, const uint8_t *a, const uint8_t *b);");
    assert!(header.contains(&c) && header.contains(&cpp), "{header}");

    for (alias, cases) in [
        ("r=a", &["r == a"][..]),
        ("r=b", &["r == b"]),
        ("r=a,r=b", &["r == a", "r == b", "r == a == b"]),
    ] {
        let folder = format!("{alias}-out").replace(['=', ','], "");
        let json = json_of(&succeeds(
            here.path(),
            &format!("{line} --alias {alias} --json -o {folder}"),
        ));
        assert_eq!(json["proved"], true);
        for case in cases {
            assert_eq!(json["aliasing"][case], "proved", "{alias}");
        }
        let command = json["command"].as_str().expect("a command");
        assert!(
            command.contains(" --alias r=a") || command.contains(" --alias r=b"),
            "{command}"
        );
        let header = read(&format!("{folder}/{symbol}.h"));
        assert!(!header.contains("r[restrict"), "{header}");
    }
    let only_b =
        "extern void SYMBOL(uint8_t r[16], const uint8_t a[16], const uint8_t b[restrict 16]);";
    let header = read(&format!("ra-out/{symbol}.h"));
    let both = header.contains("r == b");
    assert!(
        both || header.contains(&only_b.replace("SYMBOL", &symbol)),
        "{header}"
    );

    // Whoever lets them overlap all the same is warned by the compiler.
    let main = format!(
        "#include \"{symbol}.h\"\nvoid f(uint8_t *r, const uint8_t *b) {{ {symbol}(r, r, b); }}\n"
    );
    for (folder, warns) in [("apart", true), ("ra-out", false)] {
        std::fs::write(here.path().join(folder).join("main.c"), &main).expect("written");
        for compiler in [["gcc", "-std=c99"], ["g++", "-xc++"], ["gcc", "-std=c89"]] {
            let made = std::process::Command::new(compiler[0])
                .args([
                    compiler[1],
                    "-Wall",
                    "-Wextra",
                    "-O2",
                    "-fsyntax-only",
                    "main.c",
                ])
                .current_dir(here.path().join(folder))
                .output()
                .expect("a compiler");
            let told = String::from_utf8_lossy(&made.stderr).into_owned();
            assert!(made.status.success(), "{folder} {compiler:?}: {told}");
            let says = told.contains("-Wrestrict");
            assert_eq!(
                says,
                warns && compiler[1] != "-std=c89",
                "{folder} {compiler:?}: {told}"
            );
        }
    }
    let square =
        "gen modsqr 64 --modulus 0xffffffffffffffc5 --mcu atmega328p --alias r=b".split(' ');
    let told = refused(here.path(), &square.collect::<Vec<_>>());
    assert!(told.contains("modsqr has no b"), "{told}");
}

/// A part's flash and RAM bound the search; what is typed bounds it instead; the part is what figures speak of.
#[test]
fn a_part_is_a_budget() {
    let here = folder();
    let json = json_of(&succeeds(
        here.path(),
        "gen mul 1024 --mcu atmega8 --json -o small",
    ));
    let bytes = json["bytes"]["call"].as_u64().expect("bytes");
    assert!(bytes <= 8192, "{bytes}");
    assert_eq!(json["warnings"], serde_json::json!([]));
    // The command that is told gives the same bytes.
    let command = json["command"].as_str().expect("a command");
    let again = command.trim_start_matches("lozenge ");
    succeeds(here.path(), &format!("{again} -o again"));
    let object =
        |folder: &str| std::fs::read(here.path().join(folder).join("mul1024.o")).expect("written");
    assert!(object("small") == object("again"), "{command}");

    let output = succeeds(here.path(), "gen mul 64 --mcu atmega328p -o first");
    let text = stdout(&output);
    for told in [
        "CONSTANT TIME  proved on atmega328p\n",
        " call on atmega328p\n",
    ] {
        assert!(text.contains(told), "{text}");
    }
    let lines = |word: &str| text.lines().filter(|l| l.contains(word)).count();
    assert_eq!(
        (
            lines("atmega2560"),
            lines("CONSTANT TIME"),
            lines("cycles  ")
        ),
        (1, 1, 1),
        "{text}"
    );

    let refused = |line: &str| refused(here.path(), &line.split(' ').collect::<Vec<_>>());
    let told = refused("gen mul 4096 --mcu atmega8 -o large");
    assert!(
        told.contains("2048 bytes, and atmega8 has 1024 of RAM: try "),
        "{told}"
    );
    let told =
        refused("gen mul 512 --mcu atmega8 --method product-scanning --style unrolled -o large");
    assert!(
        told.contains("no kernel fits atmega8") && told.contains("try --max-flash"),
        "{told}"
    );
    let told = refused("gen rsa 1024 --mcu atmega8 -o large");
    assert!(told.contains("atmega8 has 1024 of RAM: try "), "{told}");
}
