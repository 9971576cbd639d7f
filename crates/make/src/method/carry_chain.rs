//! Sums, differences, negatives and halves modulo a number: a carry chain, then the modulus taken, or given
//! back, under a mask of the borrow; half of an odd number is half of its sum with the modulus.
//!
//! Factors and result are below `M`, or below `2 M` (lazy), where `2 M` is taken. Below `2^n` (almost) it is the
//! largest multiple `2^n - c` of `M` there is, twice, as a sum of such numbers may be `2^(n+1) - 2`: a carry
//! out of the top becomes `c`, and so does the carry of that. What is left then is less than `c` (or `2^n` less
//! it is at most `c`), so that the second `c` reaches no further than `2 c`. An operand must have a 1 as its top
//! bit there: `c = 2^n - M` is at most `M` then, and twice is enough.

use num_bigint::BigUint;
use spec::modulus::{Modular, Modulus, Reduce};
use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::reduction::{digits, masked};
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Chain, End, Link, Scans, Schedule, Sum, Word, WordStep, Words};

/// Modular sums and differences.
pub static METHOD: Method = Method {
    name: "carry-chain",
    summary: "the sum or difference, then the modulus under a mask of the borrow; or half of what is even",
    source: "Menezes, van Oorschot, Vanstone 1996, section 14.3.1",
    ops: &[Op::Modadd, Op::Modsub, Op::Modneg, Op::Modhalf],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let modular = spec.modular.as_ref().ok_or(MethodError::NoModulus)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let mut words = Words::new(spec.op, spec.word_bits, &vec![n; spec.op.factors()]);
    words.modular = Some(modular.clone());
    let a = words.operand(0);
    words.result = match (spec.op, modular.fixed(), modular.reduce) {
        (Op::Modhalf, ..) => half(&mut words, &a, modular),
        (_, Some(m), Reduce::Almost) => almost(&mut words, &a, m),
        (_, None, Reduce::Almost) => twice(&mut words, &a),
        _ => below(&mut words, &a, modular),
    };
    if facts.style == Style::Unrolled {
        return Ok(Schedule::Words(words));
    }
    if spec.op == Op::Modhalf {
        return Err(MethodError::NoLoopsOfHalves);
    }
    let loops = Scans::chains(facts.style, words);
    let loops = loops.filter(|_| modular.reduce == Reduce::Full && modular.fixed().is_none());
    loops.map(Schedule::Scans).ok_or(MethodError::NoLoopsOfSums)
}

/// `(A + M (A mod 2)) / 2`, which is below whatever `A` and `M` are below.
fn half(words: &mut Words, a: &[Word], modular: &Modular) -> Vec<Word> {
    let n = a.len();
    let m = match &modular.modulus {
        Modulus::Fixed { value, .. } => digits(words, value, n),
        _ => words.add_operand(n).into_iter().map(Some).collect(),
    };
    let [odd, carry] = [words.fresh(), words.fresh()];
    words.push(WordStep::Odd { x: a[0], out: odd });
    // Does A + M take one bit more?
    let bits = u64::from(words.word_bits) * n as u64;
    let fits = match (modular.fixed(), modular.reduce) {
        (_, Reduce::Lazy) => true,
        (Some(m), Reduce::Full) => m.bits() < bits,
        _ => false,
    };
    let (mut above, end) = match fits {
        true => (None, End::Drop),
        false => (Some(carry), End::Mask { out: carry }),
    };
    words.push(WordStep::Part("add m to what is odd".into()));
    let sum = masked(words, Sum::Add, a, &m, odd, end);
    words.push(WordStep::Part("half of it".into()));
    let out = words.fresh_words(n);
    for (x, out) in sum.into_iter().zip(&out).rev() {
        words.push(WordStep::Right {
            x,
            above,
            out: *out,
        });
        above = Some(x);
    }
    out
}

/// Below `M` or `2 M`.
fn below(words: &mut Words, a: &[Word], modular: &Modular) -> Vec<Word> {
    let n = a.len();
    let twice = usize::from(modular.reduce == Reduce::Lazy);
    let m = match &modular.modulus {
        Modulus::Fixed { value, .. } => digits(words, &(value << twice), n),
        _ => {
            let mut m = words.add_operand(n);
            if twice == 1 {
                words.push(WordStep::Part("2 m".into()));
                m = words.chain(Sum::Add, &m, &m, End::Drop);
            }
            m.into_iter().map(Some).collect()
        }
    };
    let mask = words.fresh();
    let end = End::Mask { out: mask };
    let difference = match words.op {
        Op::Modadd => {
            // Does the sum of two factors take one word more?
            let top = words.fresh();
            let bits = u64::from(words.word_bits) * n as u64;
            let carries = twice == 0 && modular.fixed().is_none_or(|m| m.bits() == bits);
            let end_of_sum = match carries {
                true => End::Carry { out: top },
                false => End::Drop,
            };
            words.push(WordStep::Part("a + b".into()));
            let b = words.operand(1);
            let mut t = words.chain(Sum::Add, a, &b, end_of_sum);
            t.extend(carries.then_some(top));
            words.push(WordStep::Part("subtract m".into()));
            let m = (0..t.len()).map(|i| m.get(i).copied().flatten());
            let pairs = t.iter().copied().map(Some).zip(m).collect();
            words.links(Sum::Sub, pairs, end)
        }
        Op::Modsub => {
            words.push(WordStep::Part("a - b".into()));
            let b = words.operand(1);
            words.chain(Sum::Sub, a, &b, end)
        }
        _ => {
            words.push(WordStep::Part("-a".into()));
            let pairs = a.iter().map(|a| (None, Some(*a))).collect();
            words.links(Sum::Sub, pairs, end)
        }
    };
    words.push(WordStep::Part("add m under the borrow".into()));
    masked(words, Sum::Add, &difference[..n], &m, mask, End::Drop)
}

/// Below `2^n`, modulo the number `m`.
fn almost(words: &mut Words, a: &[Word], m: &BigUint) -> Vec<Word> {
    let n = a.len();
    let bits = words.word_bits as usize * n;
    let c = (BigUint::from(1u8) << bits) % m;
    let reach = (2u8 * &c - 1u8).bits().div_ceil(words.word_bits.into()) as usize;
    let c = digits(words, &c, n);
    let (sum, text) = match words.op {
        Op::Modadd => (Sum::Add, "a + b"),
        Op::Modsub => (Sum::Sub, "a - b"),
        _ => (Sum::Sub, "-a"),
    };
    let [first, second] = [words.fresh(), words.fresh()];
    words.push(WordStep::Part(text.into()));
    let pairs = pairs(words, a);
    let t = words.links(sum, pairs, End::Mask { out: first });
    words.push(WordStep::Part("2^n mod m for the carry".into()));
    let t = masked(words, sum, &t, &c, first, End::Mask { out: second });
    words.push(WordStep::Part("and for the carry of that".into()));
    let (low, high) = t.split_at(reach.min(n));
    let mut out = masked(words, sum, low, &c[..low.len()], second, End::Drop);
    out.extend(high);
    out
}

/// Below `2^n`, modulo an operand of all `n` bits: a carry out of the top becomes `2^n - m`, which is `1` more than
/// the complement of `m`, and for the carry of that `m` is taken.
fn twice(words: &mut Words, a: &[Word]) -> Vec<Word> {
    let pairs = pairs(words, a);
    let m = words.add_operand(a.len());
    let (sum, back, text) = match words.op {
        Op::Modadd => (Sum::Add, Sum::Sub, "a + b"),
        Op::Modsub => (Sum::Sub, Sum::Add, "a - b"),
        _ => (Sum::Sub, Sum::Add, "-a"),
    };
    let [first, second] = [words.fresh(), words.fresh()];
    words.push(WordStep::Part(text.into()));
    let t = words.links(sum, pairs, End::Mask { out: first });
    words.push(WordStep::Part("2^n - m for the carry".into()));
    let ones = words.constant(u64::MAX >> (64 - words.word_bits));
    let mut links = Vec::with_capacity(a.len());
    for (t, m) in t.iter().zip(&m) {
        let [y, out] = [words.fresh(), words.fresh()];
        words.push(WordStep::Xor {
            x: *m,
            y: ones,
            out: y,
        });
        links.push(Link {
            mask: Some(first),
            ..Link::new(Some(*t), Some(y), out)
        });
    }
    let t: Vec<_> = links.iter().map(|link| link.out).collect();
    words.push(WordStep::Chain(Chain {
        sum,
        carry: Some(first),
        links,
        end: End::Mask { out: second },
    }));
    words.push(WordStep::Part("m for the carry of that".into()));
    let m: Vec<_> = m.into_iter().map(Some).collect();
    masked(words, back, &t, &m, second, End::Drop)
}

/// `a` and `b`, or 0 and `a`.
fn pairs(words: &Words, a: &[Word]) -> Vec<(Option<Word>, Option<Word>)> {
    let a = a.iter().copied().map(Some);
    match words.op {
        Op::Modneg => a.map(|a| (None, a)).collect(),
        _ => a.zip(words.operand(1).into_iter().map(Some)).collect(),
    }
}
