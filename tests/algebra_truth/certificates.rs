//! What a run writes down is accepted by the checker as it is, and refused where a word, a carry or a reason of it
//! is exchanged.

use lozenge::checker::Checker;
use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::public::PublicBit;
use lozenge::domain::trace::{Change, Entry, Step};
use lozenge::domain::{Abstract, Domain, Signs};

/// Words of the operands.
const N: usize = 3;

/// The product of two numbers of bytes, column by column, with an accumulator of three bytes.
fn product() -> Algebra {
    let mut d = Algebra::default();
    let mut operand = |name: &str| -> Vec<Value> {
        (0..N)
            .map(|i| d.unknown::<8>(format!("{name}[{i}]")))
            .collect()
    };
    let (a, b) = (operand("a"), operand("b"));
    let zero = d.known::<8>(0);
    let none = d.flag(false);
    let mut acc = [zero, zero, zero];
    for column in 0..2 * N - 1 {
        for i in column.saturating_sub(N - 1)..=column.min(N - 1) {
            let (lo, hi) = d.mul::<8>(&a[i], &b[column - i], Signs::Unsigned);
            let low = d.add::<8>(&acc[0], &lo, &none);
            let middle = d.add::<8>(&acc[1], &hi, &low.carry);
            let high = d.add::<8>(&acc[2], &zero, &middle.carry);
            acc = [low.word, middle.word, high.word];
        }
        acc = [acc[1], acc[2], zero];
    }
    d
}

fn accepts(d: &Algebra, entries: &[Entry]) -> bool {
    Checker::new(&d.vars, &d.terms).run(entries.iter()).is_ok()
}

/// Another word, or another carry: none of them is the same number in every run.
fn exchanged(entry: &Entry, d: &Algebra) -> Vec<Entry> {
    let others = (0..d.vars.len() as u32).map(Value::Var);
    let mut list = Vec::new();
    match entry {
        Entry::Sum { word, carry, .. } => {
            for other in others.filter(|other| other != word) {
                let mut changed = entry.clone();
                if let Entry::Sum { word, .. } = &mut changed {
                    *word = other;
                }
                list.push(changed);
            }
            if matches!(carry, BitValue::Var(_)) {
                let mut changed = entry.clone();
                if let Entry::Sum { carry, .. } = &mut changed {
                    *carry = BitValue::Public(PublicBit::Known(false));
                }
                list.push(changed);
            }
        }
        Entry::Product { lo, hi, .. } => {
            let mut changed = entry.clone();
            let (old_lo, old_hi) = (*lo, *hi);
            if let Entry::Product { lo, hi, .. } = &mut changed {
                (*lo, *hi) = (old_hi, old_lo);
            }
            list.push(changed);
        }
        _ => {}
    }
    list
}

#[test]
fn what_is_exchanged_is_refused() {
    let d = product();
    let entries = d.written();
    assert!(accepts(&d, &entries), "the run itself is not accepted");
    let (mut tried, mut accepted) = (0, Vec::new());
    for (i, entry) in entries.iter().enumerate() {
        for changed in exchanged(entry, &d) {
            let mut list = entries.clone();
            list[i] = changed.clone();
            tried += 1;
            if accepts(&d, &list) {
                accepted.push(format!("{i}: {entry:?} as {changed:?}"));
            }
        }
    }
    assert!(tried > 1000, "{tried} tried");
    assert!(
        accepted.is_empty(),
        "{tried} tried; {}",
        accepted.join("\n")
    );
}

/// A sum from which no carry leaves is refused without its joint bound: bounds of the words alone do not say it.
#[test]
fn a_carry_is_not_0_without_a_reason() {
    let d = product();
    let entries = d.written();
    let bounds = |entry: &&Entry| {
        let Entry::Step(Step::Joint { change, .. }) = entry else {
            return false;
        };
        matches!(change, Change::Bounds { .. })
    };
    let needed = entries.iter().filter(bounds).count();
    assert!(needed > 0, "no joint bound was used");
    let without: Vec<_> = entries.iter().filter(|e| !bounds(e)).cloned().collect();
    assert!(!accepts(&d, &without));
    // A total that leaves an addend out is no bound.
    let raises = |entry: &&Entry| {
        let Entry::Step(Step::Joint { change, .. }) = entry else {
            return false;
        };
        matches!(change, Change::Slice { .. } | Change::Raise { .. })
    };
    let without: Vec<_> = entries.iter().filter(|e| !raises(e)).cloned().collect();
    assert!(!accepts(&d, &without));
}
