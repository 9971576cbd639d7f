//! The command line for people: short help and lists, sizes that are no whole words, plans by name, quiet, completions.

use super::{folder, json_of, stderr, stdout, succeeds, typed};

/// Lists fit a terminal; a name tells all.
#[test]
fn lists_fit_a_terminal() {
    let here = folder();
    for topic in [
        "methods",
        "methods --all",
        "cores",
        "ops",
        "plans",
        "moduli",
        "mcus",
    ] {
        let output = succeeds(here.path(), &format!("list {topic}"));
        let wide = stdout(&output)
            .lines()
            .find(|line| line.trim_end().chars().count() > 100);
        assert_eq!(wide, None, "list {topic}");
    }
    let methods = succeeds(here.path(), "list methods");
    assert!(
        !stdout(&methods).contains("karatsuba+sps"),
        "compounds are a rule"
    );
    assert!(stdout(&succeeds(here.path(), "list methods --all")).contains("operand-caching"));
    for (topic, name, says) in [
        ("methods", "karatsuba", "plan=NAME"),
        ("methods", "operand-caching+fold", "words of each operand"),
        ("plans", "k160-a", "'- M"),
        ("cores", "ibex-slow", "RV32MSlow"),
        ("mcus", "atmega328p", "32768"),
        ("moduli", "p521", "2^521-1"),
    ] {
        let output = succeeds(here.path(), &format!("list {topic} {name}"));
        assert!(
            stdout(&output).contains(says),
            "{topic} {name}: {}",
            stdout(&output)
        );
    }
    let wrong = typed(here.path(), "list methods karatsubb");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        stderr(&wrong).contains("try karatsuba"),
        "{}",
        stderr(&wrong)
    );
}

/// The help of `gen` is short, kernel and driver options stand apart, and every help says the exit codes.
#[test]
fn help_is_short() {
    let here = folder();
    for command in [
        "", "gen ", "compare ", "check ", "draw ", "show ", "report ", "run ", "list ", "man ",
    ] {
        let output = succeeds(here.path(), &format!("{command}--help"));
        let text = stdout(&output);
        assert!(text.contains("Exit codes: 0 proved"), "{command}");
        assert!(
            text.lines().count() <= 110,
            "{command}: {} lines",
            text.lines().count()
        );
    }
    let text = succeeds(here.path(), "gen --help");
    let (kernel, driver) = stdout(&text)
        .split_once("Drivers (modexp")
        .expect("a heading");
    assert!(!kernel.contains("--exponent") && driver.contains("--exponent-bits"));
}

/// A size that is no whole number of words is rounded up where that is the same, and the header says so.
#[test]
fn sizes_are_rounded_up() {
    let here = folder();
    for (line, symbol, says) in [
        (
            "gen mul 521 --mcu atmega328p",
            "mul528",
            "521 bits in 66 bytes, of which the top 7 bits are zero",
        ),
        (
            "gen mul 136 --core arm7tdmi --variable-time",
            "mul160",
            "136 bits in 20 bytes, of which the top 24 bits are zero",
        ),
        (
            "gen mul 100x30 --core rv32im",
            "mul128x32",
            "a of 100 bits in 16 bytes, of which the top 28 bits are zero; b of 30",
        ),
        (
            "gen montmul --core rv32im --modulus p521",
            "montmul544_p521",
            "521 bits in 68 bytes",
        ),
        (
            "gen modmul --mcu atmega2560 --modulus p521 --method product-scanning+fold",
            "modmul528_p521",
            "521 bits in 66 bytes",
        ),
        (
            "gen modsqr --core rv32im --modulus p521",
            "modsqr544_p521",
            "521 bits in 68 bytes",
        ),
        (
            "gen modadd --mcu atmega128 --modulus p521",
            "modadd528_p521",
            "521 bits in 66 bytes",
        ),
    ] {
        let output = succeeds(here.path(), &format!("{line} -o out"));
        assert!(
            stdout(&output).contains(says),
            "{line}: {}",
            stdout(&output)
        );
        let header =
            std::fs::read_to_string(here.path().join(format!("out/{symbol}.h"))).expect("a header");
        assert!(header.contains(says), "{line}: {header}");
        // What the banner repeats makes the same bytes.
        let command = header
            .lines()
            .find_map(|line| line.split_once("lozenge gen "))
            .expect("a command")
            .1;
        succeeds(here.path(), &format!("gen {command} -o again"));
        let again = std::fs::read_to_string(here.path().join(format!("again/{symbol}.h")));
        assert_eq!(again.expect("a header"), header);
    }
    for line in [
        "gen mullo 521 --mcu atmega128",
        "gen mulhi 100 --core rv32im",
    ] {
        let wrong = typed(here.path(), line);
        assert_eq!(wrong.status.code(), Some(2), "{line}");
        assert!(
            stderr(&wrong).contains("are not a whole number"),
            "{}",
            stderr(&wrong)
        );
    }
    let missing = typed(here.path(), "gen mul --mcu atmega128");
    assert!(
        stderr(&missing).contains("try mul 256"),
        "{}",
        stderr(&missing)
    );
    let known = succeeds(
        here.path(),
        "gen modmul --modulus p192 --mcu atmega128 --json",
    );
    assert_eq!(json_of(&known)["spec"]["bits"], 192);
}

/// A plan has a name, which is all that stands in output and files; `show plan` draws it.
#[test]
fn plans_have_names() {
    let here = folder();
    let best = succeeds(here.path(), "gen mul 160 --mcu atmega128 -o best");
    let line = "gen mul 160 --mcu atmega128 --method karatsuba -p levels=2 --json";
    let how = "karatsuba levels=2 plan=k160-a";
    assert!(stdout(&best).contains(how), "{}", stdout(&best));
    let named = json_of(&succeeds(
        here.path(),
        &format!("{line} -p plan=k160-a -o named"),
    ));
    assert_eq!(named["params"]["plan"], "k160-a");
    let objects = ["best/mul160.o", "named/mul160.o"];
    let [best, named] = objects.map(|name| std::fs::read(here.path().join(name)).expect("a file"));
    assert_eq!(best, named);
    for (given, says) in [
        ("-p plan=k160-z", "did you mean k160-a?"),
        ("-p plan=160", "there is no plan 160"),
        ("-p plan=join12", "is about several products"),
    ] {
        let wrong = typed(here.path(), &format!("{line} {given}"));
        assert_eq!(wrong.status.code(), Some(2), "{given}");
        let told = format!("{}{}", stderr(&wrong), stdout(&wrong));
        assert!(told.contains(says), "{given}: {told}");
    }
    let drawn = succeeds(here.path(), "show plan k160-a");
    for part in ["|- L", "'- M", "corrections are words", "never halved"] {
        assert!(stdout(&drawn).contains(part), "{part}: {}", stdout(&drawn));
    }
    let parts = json_of(&succeeds(here.path(), "show plan join16b --json"));
    assert_eq!(parts["parts"]["middle"], "join16b-m");
    let wrong = typed(here.path(), "show plan k160-z");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("did you mean k160-a?"));
}

/// `--quiet` says nothing of what is proved, and all of what is not.
#[test]
fn quiet_is_quiet() {
    let here = folder();
    let output = succeeds(here.path(), "gen mul 64 --mcu atmega128 -o out -q");
    assert_eq!(stdout(&output), "");
    assert!(here.path().join("out/mul64.o").is_file());
    let check = "check out/mul64.o --symbol mul64 --op mul --mcu atmega128 --quiet --bits";
    assert_eq!(stdout(&succeeds(here.path(), &format!("{check} 64"))), "");
    let wrong = typed(here.path(), "gen mul 64 --mcu atmega128 --drop 50 -q");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stdout(&wrong).contains("CORRECT"), "{}", stdout(&wrong));
    let json = succeeds(here.path(), "gen mul 64 --mcu atmega128 -o out --json -q");
    assert_eq!(json_of(&json)["proved"], true);
}

/// Shells complete, manuals are written, the version names commit and features, and what is written says how to link it.
#[test]
fn small_comforts() {
    let here = folder();
    for (shell, says) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef lozenge"),
        ("fish", "complete -c lozenge"),
    ] {
        let output = succeeds(here.path(), &format!("completions {shell}"));
        assert!(
            stdout(&output).contains(says) && stdout(&output).contains("constant-time"),
            "{shell}"
        );
    }
    for page in ["man", "man gen"] {
        let output = succeeds(here.path(), page);
        assert!(stdout(&output).contains(".TH lozenge"), "{page}");
    }
    assert_eq!(typed(here.path(), "man nothing").status.code(), Some(2));
    let output = succeeds(here.path(), "gen mul 32 --mcu atmega128 -o out");
    assert!(stdout(&output).contains("avr-gcc -mmcu=atmega128 main.c out/mul32.o"));
}

/// Of methods of which some leak the cheapest is made that does not.
#[test]
fn what_leaks_is_replaced() {
    let here = folder();
    let line = "gen mul 32 --core mips-4km --isa-ext maddhl -o out --json -q";
    let leaks = typed(here.path(), line);
    assert_eq!(leaks.status.code(), Some(1));
    let fastest = json_of(&leaks)["cycles"]["body"]["max"].as_u64();
    let kept = succeeds(here.path(), &format!("{line} --constant-time"));
    let kept = json_of(&kept)["cycles"]["body"]["max"].as_u64();
    assert_eq!((fastest, kept), (Some(8), Some(9)));
}
