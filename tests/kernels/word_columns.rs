//! Columns with products of two words by two: all products of a sweep are in them, each once and at its weight.

use std::collections::BTreeMap;

use lozenge::facts::Style;
use lozenge::isa::core::Core;
use lozenge::isa::msp430::cores::Core as Msp430Core;
use lozenge::lower;
use lozenge::method::{self, Params};
use lozenge::schedule::{Schedule, Sweep, Word, WordColumn, WordStep};
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{Op, Spec};

use crate::kit::{any, ask};

/// How often each product or addend counts at each weight: an addend is a product by no word.
type Terms = BTreeMap<(usize, Word, Option<Word>), u32>;

fn add(terms: &mut Terms, k: usize, x: Word, y: Option<Word>, times: u32) {
    let (x, y) = match y {
        Some(y) => (x.min(y), Some(x.max(y))),
        None => (x, None),
    };
    *terms.entry((k, x, y)).or_default() += times;
}

fn of_sweep(sweep: &Sweep) -> Terms {
    let mut terms = Terms::new();
    for (k, pile) in sweep.piles.iter().enumerate() {
        for (times, list) in [(2, &pile.doubled), (1, &pile.products)] {
            for (x, y) in list {
                add(&mut terms, k, *x, Some(*y), times);
            }
        }
        for word in &pile.addends {
            add(&mut terms, k, *word, None, 1);
        }
        if let Some(quotient) = pile.quotient {
            add(&mut terms, k, quotient.q, Some(quotient.m), 1);
        }
    }
    terms
}

fn of_columns(columns: &[WordColumn]) -> Terms {
    let mut terms = Terms::new();
    for (k, column) in columns.iter().enumerate() {
        let reduced = column.clearing.iter();
        let reduced = reduced.map(|reduction| (1, vec![reduction.q], reduction.m.clone()));
        let of =
            |times: u32| move |p: &lozenge::schedule::Factors| (times, p.x.clone(), p.y.clone());
        let doubled = column.doubled.iter().map(of(2));
        let products = column.products.iter().map(of(1));
        for (times, xs, ys) in doubled.chain(products).chain(reduced) {
            for (i, x) in xs.iter().enumerate() {
                for (j, y) in ys.iter().enumerate() {
                    add(&mut terms, k + i + j, *x, Some(*y), times);
                }
            }
        }
        for number in &column.addends {
            for (i, word) in number.iter().enumerate() {
                add(&mut terms, k + i, *word, None, 1);
            }
        }
    }
    terms
}

/// The sweeps of a method, and how many products of two words by two are in them.
fn whole(core: &Core, op: Op, name: &str, words: u32, modulus: Option<&str>) -> usize {
    let method = method::find(name).expect("a method");
    let spec: Spec = ask::spec(op, words, modulus.map(|m| (m, Reduce::Full)), 16);
    let facts = lower::facts(core).styled(Style::Unrolled);
    let params: Params = (method.defaults)(&spec, &facts).pop().unwrap_or_default();
    let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
    let Schedule::Words(made) = schedule else {
        panic!("{name} is not in words")
    };
    let mut count = 0;
    for step in &made.steps {
        let WordStep::Sweep(sweep) = step else {
            continue;
        };
        let columns = WordColumn::in_pairs(sweep);
        let wide = columns
            .iter()
            .flat_map(|c| c.doubled.iter().chain(&c.products));
        count += wide.filter(|p| p.x.len() + p.y.len() == 4).count();
        // What lies above the last column is dropped.
        let mut terms = of_columns(&columns);
        terms.retain(|(k, ..), _| *k < sweep.piles.len());
        assert_eq!(terms, of_sweep(sweep), "{name} {words}");
        assert_eq!(
            of_columns(&WordColumn::of(sweep)),
            of_sweep(sweep),
            "{name} {words}"
        );
    }
    count
}

#[test]
fn all_products_are_in_columns_of_two_words() {
    let core = any(Msp430Core::named("msp430x-mpy32").expect("a core"));
    for n in 1..=9 {
        let half = (n / 2) as usize;
        let pairs = |count: usize| count * count.saturating_sub(1) / 2;
        let squares = whole(&core, Op::Sqr, "square-product-scanning", n, None);
        assert_eq!(squares, half + pairs(half), "{n}");
        let short = whole(&core, Op::Mullo, "product-scanning", n, None);
        let ours = (n as usize).div_ceil(2);
        assert!(short <= half + pairs(ours), "{n}: {short}");
        let montgomery = whole(&core, Op::Montmul, "fips", n, Some("runtime"));
        // All of a b, and those of q m whose quotients are not of the same column.
        assert!(montgomery >= half * half + pairs(half), "{n}: {montgomery}");
    }
    // Words of a modulus that are equal are one.
    let moduli = [
        ("p192-order", 12),
        ("p224", 14),
        ("p256", 16),
        ("p256-order", 16),
        ("p384", 24),
    ];
    for (modulus, words) in moduli {
        for op in [Op::Montmul, Op::Montsqr] {
            assert!(whole(&core, op, "fips", words, Some(modulus)) > 0);
        }
    }
}
