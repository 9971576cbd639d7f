//! Cores and parts of the AVR family against what others say of them: cycles against the
//! instruction set manual's table, typed in again column by column; parts against avr-gcc and
//! avr-libc, as far as these know them.

use std::collections::BTreeMap;
use std::process::Command;

use lozenge::isa::avr::code::{Form, Insn, forms};
use lozenge::isa::avr::cores::{
    ATMEGA128, ATMEGA2560, ATMEGA4809, ATTINY10, ATTINY85, ATXMEGA32A4, ATXMEGA128A1, CORES, Core,
    Set,
};
use lozenge::isa::avr::instructions::Timing;
use lozenge::isa::avr::parts::{PARTS, READ};

/// DS40002198B, tables 5-2 to 5-6: name, operands as in our table, and the columns AVRe, AVRxm,
/// AVRxt, AVRrc; `3/4` is 16-bit/22-bit program counter; `-` is N/A. Loads are from internal
/// SRAM, LD on AVRrc from data memory. Skips and branches: not taken.
const MANUAL: &str = "
    add Rd,Rr 1 1 1 1 | adc Rd,Rr 1 1 1 1 | adiw Rd,K 2 2 2 - | sub Rd,Rr 1 1 1 1 | subi Rd,K 1 1 1 1
    sbc Rd,Rr 1 1 1 1 | sbci Rd,K 1 1 1 1 | sbiw Rd,K 2 2 2 - | and Rd,Rr 1 1 1 1 | andi Rd,K 1 1 1 1
    or Rd,Rr 1 1 1 1 | ori Rd,K 1 1 1 1 | eor Rd,Rr 1 1 1 1 | com Rd 1 1 1 1 | neg Rd 1 1 1 1
    inc Rd 1 1 1 1 | dec Rd 1 1 1 1 | mul Rd,Rr 2 2 2 - | muls Rd,Rr 2 2 2 - | mulsu Rd,Rr 2 2 2 -
    fmul Rd,Rr 2 2 2 - | fmuls Rd,Rr 2 2 2 - | fmulsu Rd,Rr 2 2 2 -
    rjmp k 2 2 2 2 | ijmp . 2 2 2 2 | eijmp . 2 2 2 - | jmp @k 3 3 3 -
    rcall k 3/4 2/3 2/3 3 | icall . 3/4 2/3 2/3 3 | eicall . 4 3 3 - | call @k 4/5 3/4 3/4 -
    ret . 4/5 4/5 4/5 6 | reti . 4/5 4/5 4/5 6
    cpse Rd,Rr 1 1 1 1 | cp Rd,Rr 1 1 1 1 | cpc Rd,Rr 1 1 1 1 | cpi Rd,K 1 1 1 1
    sbrc Rr,b 1 1 1 1 | sbrs Rr,b 1 1 1 1 | sbic A,b 1 2 1 1 | sbis A,b 1 2 1 1
    brbs s,k 1 1 1 1 | brbc s,k 1 1 1 1
    mov Rd,Rr 1 1 1 1 | movw Rd,Rr 1 1 1 - | ldi Rd,K 1 1 1 1
    lds Rd,#k 2 3 3 - | lds Rd,a - - - 2
    ld Rd,X 2 2 2 1 | ld Rd,X+ 2 2 2 2 | ld Rd,-X 2 3 2 2
    ldd Rd,Y+q 2 3 2 - | ld Rd,Y 2 2 2 1 | ld Rd,Y+ 2 2 2 2 | ld Rd,-Y 2 3 2 2
    ldd Rd,Z+q 2 3 2 - | ld Rd,Z 2 2 2 1 | ld Rd,Z+ 2 2 2 2 | ld Rd,-Z 2 3 2 2
    sts #k,Rr 2 2 2 - | sts a,Rr - - - 1
    st X,Rr 2 1 1 1 | st X+,Rr 2 1 1 1 | st -X,Rr 2 2 1 2
    std Y+q,Rr 2 2 1 - | st Y,Rr 2 1 1 1 | st Y+,Rr 2 1 1 1 | st -Y,Rr 2 2 1 2
    std Z+q,Rr 2 2 1 - | st Z,Rr 2 1 1 1 | st Z+,Rr 2 1 1 1 | st -Z,Rr 2 2 1 2
    lpm . 3 3 3 - | lpm Rd,Z 3 3 3 - | lpm Rd,Z+ 3 3 3 -
    elpm . 3 3 3 - | elpm Rd,Z 3 3 3 - | elpm Rd,Z+ 3 3 3 -
    in Rd,A 1 1 1 1 | out A,Rr 1 1 1 1 | push Rr 2 1 1 1 | pop Rd 2 2 2 3
    lsr Rd 1 1 1 1 | ror Rd 1 1 1 1 | asr Rd 1 1 1 1 | swap Rd 1 1 1 1
    sbi A,b 2 1 1 1 | cbi A,b 2 1 1 1 | bst Rd,b 1 1 1 1 | bld Rd,b 1 1 1 1
    bset s 1 1 1 1 | bclr s 1 1 1 1
    break . 1 1 1 1 | nop . 1 1 1 1 | sleep . 1 1 1 1 | wdr . 1 1 1 1";

/// SPM: the manual gives no number, and a proof refuses it.
const UNTIMED: [&str; 1] = ["spm"];

/// `MANUAL` by name and operands.
fn manual() -> BTreeMap<(String, String), Vec<String>> {
    let entries = MANUAL.lines().flat_map(|line| line.split('|'));
    let words = entries.map(|e| e.split_whitespace().map(String::from).collect::<Vec<_>>());
    let mut table = BTreeMap::new();
    for words in words.filter(|w| !w.is_empty()) {
        assert_eq!(words.len(), 6, "{words:?}");
        let key = (words[0].clone(), words[1].clone());
        let old = table.insert(key, words[2..].to_vec());
        assert!(old.is_none(), "{words:?} twice");
    }
    table
}

/// Which column, and which side of a `/`.
fn column(core: &Core) -> (usize, usize) {
    let columns = [
        (&ATMEGA128, 0, 0),
        (&ATMEGA2560, 0, 1),
        (&ATTINY85, 0, 0),
        (&ATXMEGA32A4, 1, 0),
        (&ATXMEGA128A1, 1, 1),
        (&ATMEGA4809, 2, 0),
        (&ATTINY10, 3, 0),
    ];
    let found = columns.iter().find(|(c, ..)| *c == core);
    let (_, column, side) = found.expect("every core has a column");
    (*column, *side)
}

/// `core` in its part with most flash, which has every instruction of the core.
fn in_largest(core: &'static Core) -> Core {
    let parts = PARTS.iter().filter(|part| part.core == core);
    core.in_part(parts.max_by_key(|part| part.flash))
}

/// An instruction of the row with registers that every core has, and a displacement where it has one.
fn sample(form: &Form) -> Insn {
    let values: Vec<_> = form
        .ranges()
        .iter()
        .map(|(letter, _, high, _)| (*letter, *high))
        .collect();
    form.with(&values)
}

#[test]
fn cycles_are_the_manuals() {
    let manual = manual();
    let mut compared = 0;
    for core in CORES {
        let (column, side) = column(core);
        let core = &in_largest(core);
        for form in forms().iter().filter(|f| !UNTIMED.contains(&f.name)) {
            let mut insns = vec![(form.name, form.syntax.to_string(), sample(form))];
            if form.syntax.contains("+q") {
                // With displacement 0 the manual calls it LD, ST.
                let syntax = form.syntax.replace("+q", "");
                let name = if form.name == "ldd" { "ld" } else { "st" };
                let mut insn = sample(form);
                insn.ops.k = 0;
                insns.push((name, syntax, insn));
            }
            for (name, syntax, insn) in insns {
                let syntax = match syntax.replace(' ', "") {
                    empty if empty.is_empty() => ".".into(),
                    other => other,
                };
                let row = manual.get(&(name.to_string(), syntax.clone()));
                let row = row.unwrap_or_else(|| panic!("{name} {syntax} is not in the manual"));
                let theirs = row[column].split('/').nth(side);
                let theirs = theirs.unwrap_or(row[column].as_str());
                let ours = match core.refusal(&insn) {
                    Some(_) => "-".to_string(),
                    None => core.cycles_of(&insn).to_string(),
                };
                // AVRe is AVRe+ in the manual's table; which of the two has what is in appendix A.
                if core == &ATTINY85 && ours == "-" && theirs != "-" {
                    let absent = ["mul", "fmul", "eijmp", "eicall", "elpm", "jmp", "call"];
                    assert!(absent.iter().any(|n| name.starts_with(n)), "{name}");
                    continue;
                }
                assert_eq!(ours, theirs, "{name} {syntax} on {}", core.name);
                compared += 1;
            }
        }
        for (timing, extra) in [(Timing::Branch, 1), (Timing::Skip, 1)] {
            assert_eq!(core.taken, extra, "{timing:?} on {}", core.name);
        }
    }
    assert!(compared > 500, "{compared} compared");
}

/// What avr-gcc and avr-libc define for a part; `None` where this version does not know it.
fn defines(mcu: &str) -> Option<BTreeMap<String, String>> {
    let preprocess = |source: &str| {
        use std::io::Write;
        let mut child = Command::new("avr-gcc")
            .args([&format!("-mmcu={mcu}"), "-E", "-dM", "-"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("run scripts/test, which installs gcc-avr");
        let mut input = child.stdin.take().expect("a pipe");
        // A part it does not know ends it before it reads.
        let _ = input.write_all(source.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("avr-gcc ends");
        let text = String::from_utf8(output.stdout).expect("text");
        output.status.success().then_some(text)
    };
    let text = preprocess("#include <avr/io.h>\n").or_else(|| preprocess("\n"))?;
    let lines = text.lines().filter_map(|l| l.strip_prefix("#define "));
    let pairs = lines.filter_map(|l| l.split_once(' '));
    Some(pairs.map(|(k, v)| (k.into(), v.into())).collect())
}

/// The value of a macro that is a number, one less than a number, or another macro.
fn number(defines: &BTreeMap<String, String>, name: &str) -> Option<usize> {
    let text = defines.get(name)?.trim_matches(['(', ')', 'U', 'L']);
    if let Some(more) = text.strip_suffix(" - 1") {
        return more.parse::<usize>().ok()?.checked_sub(1);
    }
    match text.strip_prefix("0x") {
        Some(hex) => usize::from_str_radix(hex, 16).ok(),
        None => text.parse().ok().or_else(|| number(defines, text)),
    }
}

/// Parts that gcc-avr 5.4 does not know, typed in again from their data sheets (DS40002311, tinyAVR 2;
/// DS40002318 and DS40002312, tinyAVR 0; DS40002172 to DS40002174, megaAVR 0; DS40002183, DS40002228,
/// DS40002233, DA; DS40002247, DS40002300, DS40002301, DB; DS40002315, DD): names, architecture
/// in the manual of GCC 14, KB of flash, first address of RAM, one past its last.
const NEWER: [(&[&str], u32, usize, usize, usize); 20] = [
    (&["attiny202", "attiny204"], 103, 2, 0x3f80, 0x4000),
    (
        &["attiny402", "attiny404", "attiny406"],
        103,
        4,
        0x3f00,
        0x4000,
    ),
    (
        &["attiny804", "attiny806", "attiny807"],
        103,
        8,
        0x3e00,
        0x4000,
    ),
    (
        &["attiny1604", "attiny1606", "attiny1607"],
        103,
        16,
        0x3c00,
        0x4000,
    ),
    (
        &["attiny424", "attiny426", "attiny427"],
        103,
        4,
        0x3e00,
        0x4000,
    ),
    (
        &["attiny824", "attiny826", "attiny827"],
        103,
        8,
        0x3c00,
        0x4000,
    ),
    (
        &["attiny1624", "attiny1626", "attiny1627"],
        103,
        16,
        0x3800,
        0x4000,
    ),
    (
        &["attiny3224", "attiny3226", "attiny3227"],
        103,
        32,
        0x3400,
        0x4000,
    ),
    (&["atmega808", "atmega809"], 103, 8, 0x3c00, 0x4000),
    (&["atmega1608", "atmega1609"], 103, 16, 0x3800, 0x4000),
    (&["atmega3208", "atmega3209"], 103, 32, 0x3000, 0x4000),
    (&["atmega4808", "atmega4809"], 103, 48, 0x2800, 0x4000),
    (
        &["avr32da28", "avr32da32", "avr32da48"],
        103,
        32,
        0x7000,
        0x8000,
    ),
    (
        &["avr64da28", "avr64da32", "avr64da48", "avr64da64"],
        102,
        64,
        0x6000,
        0x8000,
    ),
    (
        &["avr128da28", "avr128da32", "avr128da48", "avr128da64"],
        104,
        128,
        0x4000,
        0x8000,
    ),
    (
        &["avr32db28", "avr32db32", "avr32db48"],
        103,
        32,
        0x7000,
        0x8000,
    ),
    (
        &["avr64db28", "avr64db32", "avr64db48", "avr64db64"],
        102,
        64,
        0x6000,
        0x8000,
    ),
    (
        &["avr128db28", "avr128db32", "avr128db48", "avr128db64"],
        104,
        128,
        0x4000,
        0x8000,
    ),
    (&["avr64dd14", "avr64dd20"], 102, 64, 0x6000, 0x8000),
    (&["avr64dd28", "avr64dd32"], 102, 64, 0x6000, 0x8000),
];

/// Parts that avr-gcc knows, but avr-libc 2.0 has no header for: their data sheets are DS40001906,
/// DS40002287 (attiny21x, 41x), DS40002288, DS40002204 (161x), DS40002205 (321x).
const WITHOUT_HEADER: [&str; 15] = [
    "atmega328pb",
    "attiny212",
    "attiny214",
    "attiny412",
    "attiny414",
    "attiny416",
    "attiny417",
    "attiny814",
    "attiny816",
    "attiny817",
    "attiny1614",
    "attiny1616",
    "attiny1617",
    "attiny3216",
    "attiny3217",
];

/// What a part whose RAM ends where flash begins in data space, or before, has as newer parts do.
#[test]
fn newer_parts_are_as_their_data_sheets_say() {
    let mut unknown: Vec<_> = PARTS
        .iter()
        .filter(|p| defines(p.name).is_none())
        .map(|p| p.name)
        .collect();
    for (names, arch, flash, start, end) in NEWER {
        for name in names {
            let part = PARTS.iter().find(|p| p.name == *name).expect("a part");
            let got = (
                part.arch,
                part.flash,
                part.ram_start,
                part.ram_start + part.ram,
            );
            assert_eq!(got, (arch, flash * 1024, start, end), "{name}");
            assert!(part.has_mul() && !part.has_eind(), "{name}");
            assert_eq!(part.core, &ATMEGA4809, "{name}");
            unknown.retain(|n| n != name);
        }
    }
    assert_eq!(
        unknown,
        Vec::<&str>::new(),
        "neither known to avr-gcc nor typed in again"
    );
    for name in WITHOUT_HEADER
        .into_iter()
        .filter(|name| *name != "atmega328pb")
    {
        let part = PARTS.iter().find(|p| p.name == name).expect("a part");
        assert_eq!(part.ram_start + part.ram, 0x4000, "{name}: end of RAM");
    }
}

#[test]
fn parts_are_as_gcc_and_libc_say() {
    let (mut by_gcc, mut by_libc) = (0, 0);
    for part in PARTS {
        let Some(defines) = defines(part.name) else {
            continue;
        };
        let name = part.name;
        let has = |key: &str| defines.contains_key(key);
        assert_eq!(
            number(&defines, "__AVR_ARCH__"),
            Some(part.arch as usize),
            "{name}"
        );
        assert_eq!(part.has_mul(), has("__AVR_HAVE_MUL__"), "{name}: MUL");
        assert_eq!(part.has_eind(), has("__AVR_3_BYTE_PC__"), "{name}: PC");
        assert_eq!(part.has_rampz(), has("__AVR_HAVE_RAMPZ__"), "{name}: RAMPZ");
        assert_eq!(part.has_rampz(), has("__AVR_HAVE_ELPM__"), "{name}: ELPM");
        assert_eq!(
            part.pages_data(),
            has("__AVR_HAVE_RAMPD__"),
            "{name}: RAMPD"
        );
        // Of 8 KB, with the architecture of larger ones: that JMP is not there is the stricter reading.
        let jumps = part.has_jmp() || ["atmega8u2"].contains(&name);
        assert_eq!(jumps, has("__AVR_HAVE_JMP_CALL__"), "{name}: JMP");
        assert_eq!(part.core == &ATTINY10, has("__AVR_TINY__"), "{name}");
        let set = match part.arch {
            25 | 31 | 35 => Set::Avre,
            100 => Set::Avrrc,
            102.. if name.starts_with("atxmega") => Set::Avrxm,
            102.. => Set::Avrxt,
            _ => Set::AvrePlus,
        };
        assert_eq!(part.core.set, set, "{name}: instruction set");
        assert_eq!(has("__AVR_XMEGA__"), part.arch > 100, "{name}: XMEGA");
        by_gcc += 1;
        // The newest parts have no header here.
        let Some(start) = number(&defines, "RAMSTART") else {
            assert!(WITHOUT_HEADER.contains(&name), "{name} has no header");
            continue;
        };
        by_libc += 1;
        assert_eq!(start, part.ram_start, "{name}: first address of RAM");
        let size = number(&defines, "INTERNAL_SRAM_SIZE").or(number(&defines, "RAMSIZE"));
        let size = size.or(number(&defines, "RAMEND").map(|end| end + 1 - start));
        assert_eq!(size, Some(part.ram), "{name}: RAM");
        let flash = number(&defines, "APP_SECTION_SIZE");
        let flash = flash.or(number(&defines, "FLASHEND").map(|end| end + 1));
        assert_eq!(flash, Some(part.flash), "{name}: flash");
    }
    assert!(by_libc >= 90, "avr-libc knows {by_libc} of our parts");
    println!(
        "avr_cores: {} parts, {by_gcc} known to avr-gcc, {by_libc} to avr-libc",
        PARTS.len()
    );
}

#[test]
fn names_are_unique_and_cores_exist() {
    for (i, part) in PARTS.iter().enumerate() {
        assert!(
            PARTS[..i].iter().all(|p| p.name != part.name),
            "{}",
            part.name
        );
        assert!(CORES.contains(&part.core), "{}", part.name);
    }
}

/// What was read of a data sheet is of a part, and said once.
#[test]
fn what_was_read_is_of_parts() {
    let names: Vec<_> = READ.iter().flat_map(|(names, _)| *names).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(PARTS.iter().any(|p| p.name == **name), "{name} is no part");
        assert!(!names[..i].contains(name), "{name} twice");
    }
    let of = |name: &str| PARTS.iter().find(|p| p.name == name).map(|p| p.read());
    assert!(of("attiny1616").is_some_and(|text| text.contains("DS40002204A")));
    assert!(of("atmega8a").is_some_and(|text| text.contains("avr-gcc")));
}
