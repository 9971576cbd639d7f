//! The model of the StrongARM, for which there is no simulator: loops of our own beside the cycles a limb that GMP's sources
//! print as measured for functions that do the same (mpn/arm: add_n, mul_1, submul_1, addmul_1).

use lozenge::isa::cost::Span;
use lozenge::prove::Verdict;
use lozenge::spec::Op;
use lozenge::{Error, Request, Target, vectors};
use toml::Value;

use crate::check::tools::{ARM, Compiler, Question, check};
use crate::kit::{oracle, tier};

const STRONGARM: Compiler = Compiler {
    gcc: ARM.gcc,
    flags: &["-mcpu=strongarm1100", "-marm"],
    core: "sa-1100",
};

/// Four limbs in a pass: a loop, and what it must take for four limbs.
struct Loop {
    name: &'static str,
    /// Of the carry.
    before: &'static str,
    pass: &'static str,
    four: Span,
}

/// `subs` or, where the carry is a flag, `sub` and `teq`.
const LOOPS: [Loop; 3] = [
    // Measured: 5 a limb.
    Loop {
        name: "add_n",
        before: "cmn r3, #0",
        pass: "ldmia r1!, {r4-r7}\n ldmia r2!, {r8-r11}\n adcs r4, r4, r8\n adcs r5, r5, r9\n adcs r6, r6, r10\n \
               adcs r7, r7, r11\n stmia r0!, {r4-r7}\n sub r3, r3, #1\n teq r3, #0",
        four: Span { min: 20, max: 20 },
    },
    // Measured: 6 to 8 a limb, and 7.75 in an older one.
    Loop {
        name: "mul_1",
        before: "ldr r12, [r2]\n mov r5, #0",
        pass: "ldr r4, [r1], #4\n mov r6, #0\n umlal r5, r6, r4, r12\n str r5, [r0], #4\n \
               ldr r4, [r1], #4\n mov r5, #0\n umlal r6, r5, r4, r12\n str r6, [r0], #4\n \
               ldr r4, [r1], #4\n mov r6, #0\n umlal r5, r6, r4, r12\n str r5, [r0], #4\n \
               ldr r4, [r1], #4\n mov r5, #0\n umlal r6, r5, r4, r12\n str r6, [r0], #4\n subs r3, r3, #1",
        four: Span { min: 23, max: 31 },
    },
    // Measured: submul_1 7.75 to 9.75, addmul_1 10.
    Loop {
        name: "addmul_1",
        before: "ldr r12, [r2]\n mov r5, #0\n mov r8, #0",
        pass: "ldr r7, [r2], #4\n ldr r4, [r1], #4\n adds r5, r5, r7\n adc r6, r8, #0\n umlal r5, r6, r4, r12\n \
               str r5, [r0], #4\n \
               ldr r7, [r2], #4\n ldr r4, [r1], #4\n adds r6, r6, r7\n adc r5, r8, #0\n umlal r6, r5, r4, r12\n \
               str r6, [r0], #4\n \
               ldr r7, [r2], #4\n ldr r4, [r1], #4\n adds r5, r5, r7\n adc r6, r8, #0\n umlal r5, r6, r4, r12\n \
               str r5, [r0], #4\n \
               ldr r7, [r2], #4\n ldr r4, [r1], #4\n adds r6, r6, r7\n adc r5, r8, #0\n umlal r6, r5, r4, r12\n \
               str r6, [r0], #4\n subs r3, r3, #1",
        four: Span { min: 31, max: 39 },
    },
];

/// The time of a function with these lines.
fn time(lines: &str, bits: u32) -> Span {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.s");
    let text = format!(
        ".syntax unified\n.text\n.global f\n.type f, %function\nf: stmfd sp!, {{r4-r11, lr}}\n {lines}\n \
         ldmfd sp!, {{r4-r11, pc}}\n.size f, . - f\n"
    );
    std::fs::write(&path, text).expect("written");
    let file = STRONGARM.compile(&path, &["-c"]);
    let audit = check(&file, STRONGARM.core, Question::of("f", bits)).expect("f");
    audit.judged.cost.call
}

#[test]
fn loops_take_what_was_measured() {
    for Loop {
        name,
        before,
        pass,
        four,
    } in &LOOPS
    {
        let time = |limbs: u32| {
            let passes = limbs / 4;
            let lines = format!("mov r3, #{passes}\n {before}\n1: {pass}\n bne 1b");
            time(&lines, 32 * limbs)
        };
        let (short, long) = (time(16), time(32));
        let limbs = Span {
            min: (long.min - short.min) / 4,
            max: (long.max - short.max) / 4,
        };
        assert_eq!(limbs, *four, "{name}");
    }
}

/// A word that the last load brought is a cycle late, the base of the load is not; of several words it is the last.
#[test]
fn loaded_words_are_late() {
    let cycles = |lines: &str| {
        let Span { min, max } = time(lines, 64);
        assert_eq!(min, max, "{lines}");
        max
    };
    let nothing = cycles("");
    for (lines, takes) in [
        ("ldr r4, [r1]\n mov r5, r4", 3),
        ("ldr r4, [r1]\n mov r5, r6", 2),
        ("ldr r4, [r1]\n mov r6, r7\n mov r5, r4", 3),
        ("ldr r4, [r1], #4\n ldr r5, [r1]", 2),
        ("ldr r4, [r1]\n str r4, [r0]", 3),
        ("ldmia r1, {r4, r5}\n mov r6, r5", 4),
        ("ldmia r1, {r4, r5}\n mov r6, r4", 3),
        ("ldmia r1, {r4}\n mov r6, r4", 4),
        ("mov r4, #1\n mov r5, r6, lsl r4", 3),
        ("mov r4, #0\n b 1f\n1: mov r5, r4", 4),
        ("teq r0, r0\n bne 1f\n1: mov r5, r4", 3),
    ] {
        assert_eq!(cycles(lines) - nothing, takes, "{lines}");
    }
}

/// The multiplier is through sooner where the upper bits of Rs are 0.
#[test]
fn products_take_what_rs_says() {
    let cycles = |lines: &str| time(lines, 64).max;
    let nothing = cycles("");
    for (rs, m) in [
        (0, 1),
        (0x7ff, 1),
        (0x800, 2),
        (0x7f_ffff, 2),
        (0x80_0000, 3),
        (u32::MAX, 3),
    ] {
        let load = format!("ldr r4, 1f\n b 2f\n1: .word {rs:#x}\n2: ");
        let alone = cycles(&load) - nothing;
        for (product, more) in [
            ("mul r5, r6, r4", 0),
            ("umull r5, r7, r6, r4", 1),
            ("umlal r5, r7, r6, r4", 1),
        ] {
            let lines = format!("{load}{product}");
            assert_eq!(
                cycles(&lines) - nothing - alone,
                m + more,
                "{product}, {rs:#x}"
            );
        }
    }
}

/// The core has no BX: what returns by it does not return.
#[test]
fn there_is_no_bx() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.s");
    std::fs::write(
        &path,
        ".text\n.global f\n.type f, %function\nf: bx lr\n.size f, . - f\n",
    )
    .expect("written");
    let file = ARM.compile(&path, &["-c"]);
    let returns = |core| {
        let audit = check(&file, core, Question::of("f", 32)).expect("f");
        audit.judged.proof.abi == Verdict::Proved
    };
    assert!(returns(ARM.core), "an ARM7TDMI");
    assert!(!returns(STRONGARM.core), "a StrongARM");
}

/// A bit of Rs that is set in any case settles how long a product without signs takes, where it is above what stops the
/// multiplier early: bit 23 on a StrongARM. Whatever computes with the word afterwards forgets it.
#[test]
fn a_bit_that_is_set_settles_a_product() {
    let varies = |lines: &str| {
        let Span { min, max } = time(lines, 64);
        min < max
    };
    for (between, product, settled) in [
        ("", "umull r5, r7, r6, r4", false),
        ("orr r4, r4, #0x80000000", "umull r5, r7, r6, r4", true),
        ("orr r4, r4, #0x800000", "umlal r5, r7, r6, r4", true),
        ("orr r4, r4, #0x400000", "umull r5, r7, r6, r4", false),
        // Ones at the top may stop a product with signs.
        ("orr r4, r4, #0x80000000", "smull r5, r7, r6, r4", false),
        ("orr r4, r4, #0x80000000", "mul r5, r6, r4", false),
        (
            "orr r4, r4, #0x80000000\n mov r5, r4\n ldr r4, [r1]",
            "umull r8, r7, r6, r5",
            true,
        ),
        (
            "orr r4, r4, #0x80000000\n and r4, r4, r6",
            "umull r5, r7, r6, r4",
            false,
        ),
        (
            "orr r4, r4, #0x80000000\n and r4, r4, #0xff000000",
            "umull r5, r7, r6, r4",
            true,
        ),
        (
            "orr r4, r4, #0x80000000\n eor r4, r4, #0x80000000",
            "umull r5, r7, r6, r4",
            false,
        ),
        (
            "orr r4, r4, #0x80000000\n add r4, r4, r4",
            "umull r5, r7, r6, r4",
            false,
        ),
        (
            "orr r4, r4, #0x80000000\n mov r4, r4, lsr #16",
            "umull r5, r7, r6, r4",
            false,
        ),
    ] {
        let lines = format!("ldr r4, [r1]\n ldr r6, [r2]\n {between}\n {product}");
        assert_eq!(varies(&lines), !settled, "{lines}");
    }
}

/// A product of one word in constant time: b with its top bit set makes UMULL slow in any case, and a times what that
/// adds is taken out again: `a b = a (b | 2^31) - 2^31 (a & ~mask)`, the mask ones if the bit was set before.
const STEADY: &str = "ldr r1, [r1]\n ldr r2, [r2]\n orr r12, r2, #0x80000000\n umull r3, r12, r1, r12\n \
                      mov r2, r2, asr #31\n bic r1, r1, r2\n subs r3, r3, r1, lsl #31\n sbc r12, r12, r1, lsr #1\n \
                      stmia r0, {r3, r12}";

/// Correct for all inputs, and in constant time?
fn judged(compiler: Compiler, lines: &str) -> [bool; 2] {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.s");
    let text = format!(
        ".syntax unified\n.text\n.global f\n.type f, %function\nf: {lines}\n mov pc, lr\n.size f, . - f\n"
    );
    std::fs::write(&path, text).expect("written");
    let file = compiler.compile(&path, &["-c"]);
    let audit = check(&file, compiler.core, Question::of("f", 32)).expect("f");
    let own = audit.judged.constant_time.iter();
    let mut own = own.filter(|(core, _)| core == compiler.core);
    let steady = own.next().is_some_and(|(_, timing)| timing.leak.is_none());
    [audit.judged.proof.holds(), steady]
}

#[test]
fn a_product_in_constant_time() {
    for compiler in [STRONGARM, ARM] {
        assert_eq!(judged(compiler, STEADY), [true, true], "{}", compiler.core);
        for (old, new) in [
            ("orr r12, r2, #0x80000000", "mov r12, r2"),
            ("orr r12, r2, #0x80000000", "orr r12, r2, #0x40000000"),
            ("orr r12, r2, #0x80000000", "orr r12, r2, #0xc0000000"),
            ("orr r12, r2, #0x80000000", "orr r12, r1, #0x80000000"),
            ("asr #31", "asr #30"),
            ("asr #31", "lsr #31"),
            ("bic r1", "and r1"),
            ("lsl #31", "lsl #30"),
            ("lsr #1", "lsr #2"),
            ("sbc r12", "sub r12"),
        ] {
            let wrong = STEADY.replacen(old, new, 1);
            assert_ne!(wrong, STEADY);
            let [proved, _] = judged(compiler, &wrong);
            assert!(!proved, "{}: {old} -> {new}", compiler.core);
        }
    }
}

/// Bits of products and squares, and whether `tests/paper/constant-time.toml` has them.
const SIZES: [(u32, bool); 8] = [
    (32, false),
    (64, false),
    (96, false),
    (160, true),
    (192, false),
    (256, true),
    (384, false),
    (512, true),
];

/// `steady-rows`: proved, in constant time on every ARM, and right on numbers; cycles as on record. Without an
/// instruction it is not proved.
#[test]
fn rows_in_constant_time() {
    for (bits, printed) in tier::part(SIZES, 2, 2) {
        for request in [Request::mul(bits), Request::sqr(bits)] {
            in_one_time(&request, "steady-rows", printed);
        }
    }
}

/// The same modulo numbers, whose words are no secret.
#[test]
fn residues_in_constant_time() {
    for (modulus, bits, printed) in tier::part(
        [
            ("p192", 192, false),
            ("p256", 256, true),
            ("secp256k1", 256, false),
            ("p384", 384, false),
        ],
        2,
        1,
    ) {
        for op in [Op::Montmul, Op::Montsqr] {
            let request = Request::new(op, bits).modulus(modulus);
            in_one_time(&request, "steady-rows+sps", printed);
        }
    }
    for (modulus, bits, printed) in tier::some([("2^255-19", 256, true), ("p192", 192, false)], 1) {
        for op in [Op::Modmul, Op::Modsqr] {
            let request = Request::new(op, bits).modulus(modulus);
            in_one_time(&request, "steady-rows+fold", printed);
        }
    }
    // All products are by words of the modulus.
    for (op, printed) in [(Op::Redc, false), (Op::Tomont, false), (Op::Frommont, true)] {
        let request = Request::new(op, 256).modulus("p256");
        in_one_time(&request, "steady-rows+sps", printed);
    }
}

fn in_one_time(request: &Request, method: &str, printed: bool) {
    let mut figures = [toml::Table::new(), toml::Table::new()];
    let mut name = String::new();
    for core in ["arm7tdmi", "sa-1100"] {
        let target = Target::core(core).expect("a core");
        let request = request.clone().constant_time();
        let kernel = request.generate(&target).expect("a proved kernel");
        let at = format!("{core} {}", kernel.name());
        assert!(kernel.verdicts().all_proved(), "{at}");
        assert_eq!(kernel.report().method, method, "{at}");
        let body = kernel.cycles().body;
        assert_eq!(body.min, body.max, "{at}");
        let times = &kernel.report().verdict.constant_time;
        assert!(times.values().all(|time| *time == "proved"), "{times:?}");
        for operands in vectors::of(kernel.spec(), 40, 1) {
            let made = kernel.run(&operands).expect("it returns");
            assert!(kernel.spec().accepts(&operands, &made.result), "{at}");
            assert_eq!(made.cost.body, body, "{at}");
        }
        // Nothing of the first row may be missing.
        let named = request.clone().method(method);
        for index in tier::some(8..20, 3) {
            let wrong = named.clone().without_instruction(index).generate(&target);
            assert!(wrong.is_err(), "{at} without {index}");
        }
        let one_time = kernel.report().one_time.as_ref().expect("a price");
        assert!(one_time.refused.is_none(), "{at}");
        for (figures, body) in figures.iter_mut().zip([body, one_time.body]) {
            figures.insert(core.into(), Value::from(body.max as i64));
        }
        name = kernel.name().to_string();
    }
    let table = include_str!("../paper/constant-time.toml");
    let table: Value = toml::from_str(table).expect("TOML");
    let rows = table["kernel"].as_array().expect("rows");
    let row = rows
        .iter()
        .find(|row| row["symbol"].as_str() == Some(&name));
    assert_eq!(
        row.is_some(),
        printed,
        "tests/paper/constant-time.toml: {name}"
    );
    if let Some(row) = row {
        let said = [&row["ours"], &row["leaking"]];
        assert_eq!(said, figures.map(Value::Table).each_ref(), "{name}");
    }
}

/// Where no method is there, the refusal says why, and what the kernel takes that leaks.
#[test]
fn a_refusal_says_what_it_costs() {
    let target = Target::core("sa-1100").expect("a core");
    let runtime = Request::new(Op::Montmul, 128).modulus("runtime");
    for (request, why) in [
        (runtime, "the words of a modulus that is an operand"),
        (
            Request::new(Op::Mullo, 128),
            "no method makes mullo in one time",
        ),
    ] {
        let leaking = request.clone().variable_time().generate(&target);
        let leaking = leaking.expect("a proved kernel").cycles().body;
        let Err(Error::Unproved(report)) = request.constant_time().generate(&target) else {
            panic!("it leaks");
        };
        let one_time = report.one_time.as_ref().expect("a price");
        let text = one_time.text(&report.cycles.body);
        assert_eq!(one_time.body, leaking);
        assert!(
            text.contains(why) && text.contains(&leaking.max.to_string()),
            "{text}"
        );
    }
}

/// `--constant-time` takes it where the cheapest kernel leaks, and leaves alone what does not.
#[test]
fn constant_time_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let method = |line: &str| {
        let output = oracle::lozenge()
            .args(line.split_whitespace())
            .args(["--json", "-o"])
            .arg(folder.path())
            .output()
            .expect("lozenge runs");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), report["method"].clone())
    };
    let (code, steady) = method("gen mul 128 --core sa-1100 --constant-time");
    assert_eq!((code, steady), (Some(0), "steady-rows".into()));
    let (code, refused) = method("gen mul 128 --core sa-1100");
    assert!(code == Some(1) && refused != "steady-rows");
    let listed = oracle::lozenge()
        .args("compare mul 64 --core sa-1100 --csv --constant-time".split(' '))
        .output()
        .expect("lozenge runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let steady: Vec<_> = listed
        .lines()
        .filter(|l| l.contains("steady-rows"))
        .collect();
    assert!(steady.len() == 1 && listed.lines().count() > 5, "{listed}");
    let plain = method("gen mul 128 --mcu atmega128 --constant-time");
    assert_eq!(plain, method("gen mul 128 --mcu atmega128"));
}
