//! Branches on secrets: the first of them, the way of the secret to it, and whether both ways through
//! it take the same time.

use lozenge::audit::Audit;
use lozenge::prove::{Leak, Ways};

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, check};

/// A product of one word; then a branch on whether b is 0, with nothing on one side and NOPs on the
/// other. As many NOPs as `balance` take as long as the branch.
struct Case {
    compiler: Compiler,
    bits: u32,
    source: &'static str,
    balance: usize,
    /// The branch, and the load of b.
    branch: &'static str,
    load: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        compiler: AVR,
        bits: 8,
        source: "f: movw r30, r22\n ld r18, Z\n movw r30, r20\n ld r19, Z\n mul r18, r19\n \
                 movw r30, r24\n st Z, r0\n std Z+1, r1\n clr r1\n tst r19\n breq 1f\n NOPS\n1: ret\n",
        balance: 1,
        branch: "brbs 1, ",
        load: "ld r19, Z",
    },
    Case {
        compiler: ARM,
        bits: 32,
        source: "f: ldr r1, [r1]\n ldr r2, [r2]\n umull r3, r12, r1, r2\n stmia r0, {r3, r12}\n \
                 cmp r2, #0\n beq 1f\n NOPS\n1: bx lr\n",
        balance: 2,
        branch: "beq ",
        load: "ldr r2, [r2]",
    },
    Case {
        compiler: MIPS,
        bits: 32,
        source: ".set noreorder\nf: lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n \
                 sw $2, 0($4)\n sw $3, 4($4)\n beqz $6, 1f\n nop\n NOPS\n b 2f\n nop\n1: nop\n nop\n2: jr $31\n nop\n",
        balance: 0,
        branch: "beq $a2, $zero, ",
        load: "lw $a2, 0($a2)",
    },
];

impl Case {
    fn audit(&self, nops: usize) -> Audit {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("f.s");
        let body = self.source.replace("NOPS", &"nop\n ".repeat(nops));
        let kind = if self.compiler.gcc == ARM.gcc {
            "%"
        } else {
            "@"
        };
        let head = format!(".text\n.global f\n.type f, {kind}function\n");
        std::fs::write(&path, format!("{head}{body}.size f, . - f\n")).expect("written");
        let file = self.compiler.compile(&path, &["-c"]);
        check(&file, self.compiler.core, Question::of("f", self.bits)).expect("f")
    }

    fn leak(&self, audit: &Audit) -> Leak {
        let timing = audit.judged.constant_time.iter();
        let mut own = timing.filter(|(core, _)| core == self.compiler.core);
        let (_, timing) = own.next().expect("the core itself");
        timing.leak.clone().expect("a leak")
    }
}

#[test]
fn a_balanced_branch_is_a_leak_and_balanced() {
    for case in &CASES {
        let audit = case.audit(case.balance);
        let leak = case.leak(&audit);
        let text = leak.verdict();
        assert!(
            text.starts_with("leaks: a branch depends on the secret b[0] at 0x"),
            "{text}"
        );
        let Ways {
            branches,
            both,
            gone,
            complete,
            cycles,
            balanced,
        } = leak.ways.expect("ways");
        assert_eq!((branches, both, gone, complete), (1, 1, 2, true), "{text}");
        assert!(balanced, "{text}");
        let told = "; cycle-balanced: all 2 ways through a branch on secrets take";
        assert!(text.contains(told), "{text}");
        // The runs on numbers went both ways, too: b = 0 is among them.
        let measured = audit.judged.measured.expect("runs");
        let within = cycles.min <= measured.call.min && measured.call.max <= cycles.max;
        assert!(measured.runs > 100 && within, "{measured:?} {cycles:?}");
    }
}

#[test]
fn a_branch_that_is_not_balanced_is_told() {
    for case in &CASES {
        let audit = case.audit(case.balance + 2);
        let leak = case.leak(&audit);
        let ways = leak.ways.expect("ways");
        assert!(ways.complete && !ways.balanced, "{ways:?}");
        assert!(
            leak.verdict().contains("; not cycle-balanced: all 2 ways"),
            "{}",
            leak.verdict()
        );
        assert_eq!(
            ways.cycles, audit.judged.cost.call,
            "the report's cycles are those of all ways"
        );
        let measured = audit.judged.measured.expect("runs").call;
        let within = ways.cycles.min <= measured.min && measured.max <= ways.cycles.max;
        assert!(
            within && measured.min < measured.max,
            "{measured:?} {ways:?}"
        );
    }
}

#[test]
fn the_way_of_the_secret_is_told() {
    for case in &CASES {
        let leak = case.leak(&case.audit(case.balance));
        let branch = &leak.place.instruction;
        assert!(branch.starts_with(case.branch), "{branch}");
        assert_eq!(leak.secret.as_deref(), Some("the secret b[0]"));
        let first = leak.path.first().expect("a path");
        assert_eq!(first.instruction, case.load);
        assert!(first.address < leak.place.address);
        let word = serde_json::to_value(&leak).expect("JSON");
        assert_eq!(word["address"], leak.place.address);
        assert_eq!(word["path"][0]["instruction"], case.load);
        assert_eq!(word["ways"]["balanced"], true);
    }
}

/// A look-up in a table of flash or of the code, and multipliers that stop early: which load the secret comes
/// from, and what it passed.
#[test]
fn the_way_to_tables_and_multipliers_is_told() {
    let cases = [
        (
            AVR,
            8,
            "f: movw r30, r22\n ld r18, Z\n ldi r30, lo8(1f)\n ldi r31, hi8(1f)\n add r30, r18\n adc r31, r1\n \
             lpm r19, Z\n movw r30, r24\n st Z, r19\n std Z+1, r1\n ret\n1: .byte 1, 2, 3, 4\n",
            "an address depends on the secret a[0] at 0xc: lpm r19, Z, by way of 0x2: ld r18, Z, 0x8: add r30, r18",
        ),
        (
            ARM,
            32,
            "f: ldr r1, [r1]\n and r1, r1, #12\n adr r3, 1f\n ldr r3, [r3, r1]\n str r3, [r0]\n str r3, [r0, #4]\n \
             bx lr\n1: .word 1, 2, 3, 4\n",
            "an address depends on the secret a[0] at 0xc: ldr r3, [r3, r1], by way of 0x0: ldr r1, [r1], 0x4: and r1, r1, #12",
        ),
        (
            ARM,
            32,
            "f: ldr r1, [r1]\n ldr r2, [r2]\n mov r3, r2\n add r3, r3, #0\n umull r3, r12, r1, r3\n \
             stmia r0, {r3, r12}\n bx lr\n",
            "at 0x10: umull r3, r12, r1, r3: umull takes 3 to 6 cycles depending on the secret b[0]; use a core whose \
             multiplier has fixed time, or set the top bit of r3 (ORR) and take out what that adds, by way of 0x4: ldr r2, [r2], 0xc: add r3, r3, #0",
        ),
        (
            MIPS,
            32,
            ".set noreorder\nf: lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n sw $2, 0($4)\n \
             jr $31\n sw $3, 4($4)\n",
            "at 0x8: multu $a1, $a2: the time of multu depends on the secret b[0], by way of 0x4: lw $a2, 0($a2)",
        ),
    ];
    for (compiler, bits, source, told) in cases {
        let case = Case {
            compiler,
            bits,
            source,
            balance: 0,
            branch: "",
            load: "",
        };
        let leak = case.leak(&case.audit(0));
        assert_eq!(leak.text, told);
        assert!(leak.is_known() && !leak.path.is_empty());
    }
}

/// Four branches, each of which leaves out a row: 16 ways.
#[test]
fn all_ways_are_gone() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let file =
            compiler.multiplications(bits, 4, &["-Os", "-fno-tree-loop-distribute-patterns"]);
        let audit = check(&file, compiler.core, Question::of("skips", 4 * bits)).expect("skips");
        for (core, timing) in &audit.judged.constant_time {
            let ways = timing
                .leak
                .as_ref()
                .and_then(|leak| leak.ways)
                .expect("ways");
            assert!(ways.complete && !ways.balanced, "{core}: {ways:?}");
            assert_eq!((ways.gone, ways.both), (16, ways.branches), "{core}");
        }
        let measured = audit.judged.measured.expect("runs").call;
        let all = audit.judged.cost.call;
        assert!(
            all.min <= measured.min && measured.max <= all.max,
            "{measured:?} {all:?}"
        );
    }
}

/// 2^20 ways: as many as the limits allow, among them both ways of each branch.
#[test]
fn too_many_ways_are_not_all() {
    let file = AVR.multiplications(8, 20, &["-O2", "-fno-tree-loop-distribute-patterns"]);
    let audit = check(&file, AVR.core, Question::of("skips", 160)).expect("skips");
    for (core, timing) in &audit.judged.constant_time {
        let ways = timing
            .leak
            .as_ref()
            .and_then(|leak| leak.ways)
            .expect("ways");
        assert!(
            !ways.complete && ways.gone > 21 && ways.both == ways.branches,
            "{core}: {ways:?}"
        );
        assert_eq!(timing.cost, None, "{core}");
    }
}
