//! Operand scanning and FIOS in two nested loops on MSP430: proved and compared with big integers whatever interrupt handlers do
//! with the multiplier, as long as other sizes, and attacked.

use lozenge::call::Operands;
use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::cores::Core;
use lozenge::isa::msp430::multiplier::Irq;
use lozenge::kernel::{self, Kernel, Request};
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{Alias, Op};
use lozenge::vectors;

use crate::kit::{any, ask, known, mutants, tier};

/// Operation, bits, modulus.
type Cell = (Op, u32, Option<(&'static str, Reduce)>);

const RUNTIME: Option<(&str, Reduce)> = Some(("runtime", Reduce::Full));

#[rustfmt::skip]
const CELLS: [Cell; 12] = {
    use Op::{Montmul, Montsqr, Mul};
    use Reduce::{Almost, Full, Lazy};
    [
        (Mul, 32, None),
        (Mul, 112, None),
        (Mul, 144, None),
        (Montmul, 32, RUNTIME),
        (Montmul, 80, RUNTIME),
        (Montmul, 96, Some(("runtime", Almost))),
        (Montmul, 112, Some(("2^109-31", Lazy))),
        (Montmul, 160, Some(("opf160", Full))),
        (Montsqr, 32, RUNTIME),
        (Montsqr, 112, RUNTIME),
        (Montsqr, 144, Some(("runtime", Almost))),
        (Montsqr, 160, Some(("secp160r1", Full))),
    ]
};

fn core(name: &str) -> Core {
    *Core::named(name).expect("a core")
}

fn method(op: Op) -> &'static str {
    match op {
        Op::Mul => "operand-scanning",
        _ => "fios",
    }
}

/// The kernel in this style, with so many words in a pass if that is said.
fn made((op, bits, modulus): Cell, style: Style, unroll: Option<usize>, core: &Core) -> Kernel {
    let asked = Request {
        modular: modulus.map(|(modulus, reduce)| ask::modular(modulus, reduce)),
        style: Some(style),
        method: Some(method(op).into()),
        params: unroll
            .map(|u| ("unroll".to_string(), u))
            .into_iter()
            .collect(),
        ..ask::of(op, bits)
    };
    let name = format!(
        "{} {bits} {modulus:?} {style:?} {unroll:?} {:?}",
        op.name(),
        core.irq
    );
    let kernel = known::generate(&asked, &any(core)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
    let leaks = kernel.constant_time.iter().any(|(_, t)| t.leak.is_some());
    assert!(!leaks, "{name}");
    kernel
}

#[test]
fn rows_are_proved_and_right_whatever_interrupts_do() {
    let cores = ["msp430-mpy16", "msp430x-mpy32"].map(core);
    let cores = cores.iter().flat_map(|core| {
        let policies = core.policies().into_iter();
        policies.map(|(irq, _)| core.with_irq(irq))
    });
    let styles = [Style::Rolled, Style::Looped];
    let all = cores.flat_map(|core| styles.map(|style| (core, style)));
    let all: Vec<_> = all
        .flat_map(|(core, style)| CELLS.map(|cell| (core, style, cell)))
        .collect();
    for (i, (core, style, cell)) in tier::some(all.into_iter().enumerate(), 41) {
        let unroll = [None, Some(1), Some(2), Some(4)][i % 4];
        let kernel = made(cell, style, unroll, &core);
        let longest = kernel.cost.masked;
        match core.irq {
            Irq::None | Irq::SaveRestore => assert_eq!(longest, None),
            Irq::MaskAll => assert!(longest.expect("masked") + 50 > kernel.cost.body.max),
            // A product, or a quotient and one.
            Irq::MaskPerColumn => assert!(longest.expect("masked") <= 40, "{longest:?}"),
        }
        let call = any(&core);
        let call = call.calls(Function::kernel(&kernel.code));
        for sources in vectors::of(&kernel.spec, tier::of_each(30), 5) {
            let operands = Operands::of(&kernel.spec, &sources, Alias::Distinct);
            let (got, _) = call(&operands, kernel::RUN_LIMIT).unwrap_or_else(|e| panic!("{e:?}"));
            assert!(
                kernel.spec.accepts(&sources, &got),
                "{cell:?}: {sources:x?}"
            );
        }
    }
}

/// The code of rolled rows is as long for all sizes with the same rest; that of a product is shorter than columns.
#[test]
fn rows_do_not_grow() {
    for name in ["msp430-mpy16", "msp430x-mpy32"] {
        let core = core(name);
        for (op, modulus) in [
            (Op::Mul, None),
            (Op::Montmul, RUNTIME),
            (Op::Montsqr, RUNTIME),
        ] {
            let bytes = |bits| {
                made((op, bits, modulus), Style::Rolled, Some(4), &core)
                    .code
                    .len()
            };
            let (small, large) = (bytes(128), bytes(256));
            assert!(large <= small + 8, "{name} {}: {small}, {large}", op.name());
        }
        let columns = Request {
            style: Some(Style::Rolled),
            method: Some("product-scanning".into()),
            ..ask::of(Op::Mul, 256)
        };
        let (_, columns) = kernel::choose(&columns, &any(&core)).expect("columns");
        let rows = made((Op::Mul, 256, None), Style::Rolled, None, &core);
        assert!(rows.code.len() < columns.code.len(), "{name}");
    }
}

/// Where rows have one word fewer each, passes are told from the rest by bits.
#[test]
fn passes_of_three_are_refused_where_rows_differ() {
    let asked = |op: Op, method: &str| {
        let request = Request {
            modular: op
                .is_modular()
                .then(|| ask::modular("runtime", Reduce::Full)),
            style: Some(Style::Rolled),
            method: Some(method.into()),
            params: [("unroll".to_string(), 3)].into(),
            ..ask::of(op, 128)
        };
        known::generate(&request, &any(&core("msp430-mpy16")))
    };
    for (op, method) in [
        (Op::Montsqr, "fios"),
        (Op::Montmul, "fips"),
        (Op::Mul, "product-scanning"),
    ] {
        let error = asked(op, method).err().expect("refused").to_string();
        assert!(error.contains("power of 2"), "{method}: {error}");
    }
    for (op, method) in [(Op::Montmul, "fios"), (Op::Mul, "operand-scanning")] {
        assert!(asked(op, method).expect("a kernel").is_proved(), "{method}");
    }
}

#[test]
fn the_prover_rejects_faults_in_rows() {
    let attacked = [
        (Op::Mul, 4, Style::Rolled, 1, Irq::None),
        (Op::Mul, 5, Style::Looped, 2, Irq::MaskPerColumn),
        (Op::Montmul, 3, Style::Rolled, 2, Irq::None),
        (Op::Montmul, 4, Style::Rolled, 1, Irq::MaskPerColumn),
        (Op::Montsqr, 3, Style::Looped, 1, Irq::MaskAll),
        (Op::Montsqr, 5, Style::Rolled, 2, Irq::None),
    ];
    let cases = attacked.map(|(op, words, style, unroll, irq)| {
        let modulus = op.is_modular().then_some(("runtime", Reduce::Full));
        let spec = ask::spec(op, words, modulus, 16);
        let name = if words % 2 == 0 {
            "msp430x-mpy32"
        } else {
            "msp430-mpy16"
        };
        let core = core(name).with_irq(irq);
        (core, spec, style, method(op), vec![("unroll", unroll)])
    });
    mutants::attack::<Msp430Isa>(cases.into(), 120, 17).hold(540, 5);
}
