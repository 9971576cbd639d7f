//! Wrong operations in C, and sums in place.

use lozenge::prove::Verdict;
use lozenge::spec::Op;

use crate::check::tools::{ARM, AVR, MIPS, NO_MEMSET, Question, check};
use crate::ledger::{Line, Sheet};

/// What is wrong in words or in the carry alone, with operands that show it.
#[test]
fn wrong_ones_are_disproved() {
    let mut lines = Vec::new();
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let file = compiler.operations(bits, 4, &["-O2", NO_MEMSET]);
        for (symbol, op, arguments) in [
            ("add_silent", Op::Add, "r,a,b"),
            ("add_lost", Op::Add, "r,a,b"),
            ("add_forgets", Op::Add, "r,a,b,4"),
            ("sub_mask", Op::Sub, "r,a,b"),
            ("add", Op::Sub, "r,a,b"),
            ("square_wrong", Op::Sqr, "r,a"),
            ("low", Op::Mulhi, "r,a,b"),
            ("high", Op::Mullo, "r,a,b"),
        ] {
            let question = Question {
                op,
                arguments,
                ..Question::of(symbol, 4 * bits)
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            let Verdict::Disproved(text) = &audit.judged.proof.correct else {
                panic!("{compiler:?}: {symbol}: {:?}", audit.judged.proof);
            };
            let shown = text.contains("expected 0x") && text.contains("got 0x");
            assert!(shown, "{symbol}: {text}");
            // Behind the operands, what the algebra left open: it had not proved this.
            assert!(text.contains("; "), "{symbol}: {text}");
            let key = format!("{},{symbol},{}", compiler.gcc, op.name());
            lines.push(Line::known(key, "disproved"));
        }
    }
    let sheet = Sheet {
        name: "foreign/wrong".into(),
        columns: "compiler,function,op,known",
        figures: 0,
    };
    sheet.hold(lines, true);
}

/// The result may lie over an operand where words are read before they are written.
#[test]
fn sums_in_place() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let file = compiler.operations(bits, 4, &["-Os", NO_MEMSET]);
        for op in [Op::Add, Op::Sub] {
            let question = Question {
                op,
                ..Question::of(op.name(), 4 * bits)
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            let allowed = audit.judged.aliasing.iter().filter(|case| case.allowed);
            assert_eq!(
                allowed.count(),
                4,
                "{compiler:?}: {:?}",
                audit.judged.aliasing
            );
        }
    }
}
