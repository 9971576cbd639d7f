//! Signed Karatsuba in the terms of each machine: carries in a flag, in an inverted flag, in words.
//!
//! What the instructions of a machine ask of the algebra domain is asked directly; the equation
//! must be shown for each. `tests/kernels/claims.rs` has the same formula as AVR code.

use lozenge::checker::{Corner, Goal, Modulus, Rest, Term};
use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::{Abstract, Domain, Logic, Shift, Signs, identity};
use num_bigint::BigInt;

/// How a machine keeps carries and borrows.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Terms {
    /// A carry flag that is also the borrow (AVR).
    Flag,
    /// A carry flag that is the complement of the borrow (ARM).
    Inverted,
    /// Comparisons (MIPS): borrows `(a < b) + (d < c)`.
    Compared,
    /// `(a < b) | (d < c)`.
    ComparedOr,
    /// The borrow joins the subtrahend first: `(t < c) + (a < t)`, `t = b + c`.
    ComparedFirst,
}

struct Machine<const W: u32> {
    d: Algebra,
    terms: Terms,
}

impl<const W: u32> Machine<W> {
    fn zero(&mut self) -> Value {
        self.d.known::<W>(0)
    }

    fn off(&mut self) -> BitValue {
        self.d.flag(false)
    }

    fn plain_sum(&mut self, a: Value, b: Value) -> Value {
        let off = self.off();
        self.d.add::<W>(&a, &b, &off).word
    }

    fn plain_difference(&mut self, a: Value, b: Value) -> Value {
        let off = self.off();
        self.d.sub::<W>(&a, &b, &off).word
    }

    /// `a < b` as a word.
    fn less(&mut self, a: Value, b: Value) -> Value {
        let (zero, off) = (self.zero(), self.off());
        let bit = self.d.sub::<W>(&a, &b, &off).carry;
        self.d.with_bit::<W>(&zero, 0, &bit)
    }

    /// A flag as a word.
    fn word(&mut self, bit: BitValue) -> Value {
        let zero = self.zero();
        self.d.add::<W>(&zero, &zero, &bit).word
    }

    fn add(&mut self, a: &[Value], b: &[Value]) -> (Vec<Value>, Value) {
        let mut words = Vec::new();
        let mut flag = self.off();
        let mut carry = self.zero();
        for (a, b) in a.iter().zip(b) {
            if matches!(self.terms, Terms::Flag | Terms::Inverted) {
                let s = self.d.add::<W>(a, b, &flag);
                words.push(s.word);
                flag = s.carry;
                continue;
            }
            let s = self.plain_sum(*a, *b);
            let first = self.less(s, *b);
            let t = self.plain_sum(s, carry);
            let second = self.less(t, carry);
            words.push(t);
            carry = self.plain_sum(first, second);
        }
        match self.terms {
            Terms::Flag | Terms::Inverted => (words, self.word(flag)),
            _ => (words, carry),
        }
    }

    fn subtract(&mut self, a: &[Value], b: &[Value]) -> (Vec<Value>, Value) {
        let mut words = Vec::new();
        let mut flag = self.d.flag(self.terms == Terms::Inverted);
        let mut borrow = self.zero();
        for (a, b) in a.iter().zip(b) {
            match self.terms {
                Terms::Flag => {
                    let s = self.d.sub::<W>(a, b, &flag);
                    words.push(s.word);
                    flag = s.carry;
                }
                Terms::Inverted => {
                    let taken = self.d.not(&flag);
                    let s = self.d.sub::<W>(a, b, &taken);
                    words.push(s.word);
                    flag = self.d.not(&s.carry);
                }
                Terms::ComparedFirst => {
                    let t = self.plain_sum(*b, borrow);
                    let first = self.less(t, borrow);
                    words.push(self.plain_difference(*a, t));
                    let second = self.less(*a, t);
                    borrow = self.plain_sum(first, second);
                }
                Terms::Compared | Terms::ComparedOr => {
                    let first = self.less(*a, *b);
                    let s = self.plain_difference(*a, *b);
                    let second = self.less(s, borrow);
                    words.push(self.plain_difference(s, borrow));
                    borrow = match self.terms {
                        Terms::Compared => self.plain_sum(second, first),
                        _ => self.d.logic::<W>(Logic::Or, &first, &second),
                    };
                }
            }
        }
        if self.terms == Terms::Inverted {
            flag = self.d.not(&flag);
        }
        match self.terms {
            Terms::Flag | Terms::Inverted => (words, self.word(flag)),
            _ => (words, borrow),
        }
    }

    /// `0 - bit`.
    fn mask(&mut self, bit: Value) -> Value {
        let zero = self.zero();
        self.plain_difference(zero, bit)
    }

    fn sign(&mut self, e: Value) -> Value {
        if self.terms == Terms::Flag {
            let off = self.off();
            let top = self.d.add::<W>(&e, &e, &off).carry;
            return self.d.sub::<W>(&e, &e, &top).word;
        }
        self.d.shift::<W>(Shift::ArithmeticRight, &e, W - 1).0
    }

    /// By columns.
    fn product(&mut self, x: &[Value], y: &[Value]) -> Vec<Value> {
        let (zero, off) = (self.zero(), self.off());
        let n = x.len();
        let mut words = Vec::new();
        let mut sum = [zero; 3];
        for k in 0..2 * n {
            for i in (0..n).filter(|i| (*i..i + n).contains(&k)) {
                let (lo, hi) = self.d.mul::<W>(&x[i], &y[k - i], Signs::Unsigned);
                let mut carry = off;
                for (word, addend) in sum.iter_mut().zip([lo, hi, zero]) {
                    let s = self.d.add::<W>(word, &addend, &carry);
                    (*word, carry) = (s.word, s.carry);
                }
            }
            words.push(sum[0]);
            sum = [sum[1], sum[2], zero];
        }
        words
    }

    /// The words of `x * y` for operands of `2 h` words.
    fn karatsuba(&mut self, x: &[Value], y: &[Value]) -> Vec<Value> {
        let h = x.len() / 2;
        let ((xl, xh), (yl, yh)) = (x.split_at(h), y.split_at(h));
        let zero = self.zero();
        let l = self.product(xl, yl);
        let product = self.product(xh, yh);
        let upper = [&l[h..], &vec![zero; h]].concat();
        let (z, _) = self.add(&product, &upper);
        let (da, sa) = self.subtract(xl, xh);
        let (db, sb) = self.subtract(yh, yl);
        let (ma, mb) = (self.mask(sa), self.mask(sb));
        let (mid, c1) = self.add(&[&l[..h], &z[..h]].concat(), &z);
        let mut e = c1;
        let mut top = mid[h..].to_vec();
        for (mask, factor) in [(ma, &db), (mb, &da)] {
            let masked: Vec<_> = factor
                .iter()
                .map(|word| self.d.logic::<W>(Logic::And, word, &mask))
                .collect();
            let borrow;
            (top, borrow) = self.subtract(&top, &masked);
            e = self.plain_difference(e, borrow);
        }
        let both = self.d.logic::<W>(Logic::And, &ma, &mb);
        e = self.plain_difference(e, both);
        let product = self.product(&da, &db);
        let (u, v) = self.add(&product, &[&mid[..h], &top].concat());
        e = self.plain_sum(v, e);
        let sign = self.sign(e);
        let mut extended = vec![sign; h];
        extended[0] = e;
        let (upper, _) = self.add(&z[h..], &extended);
        [&l[..h], &u, &upper].concat()
    }
}

fn proves<const W: u32>(terms: Terms, h: usize) {
    let mut m = Machine::<W> {
        d: Algebra::default(),
        terms,
    };
    let [a, b] = ["a", "b"].map(|name| {
        (0..2 * h)
            .map(|i| m.d.unknown::<W>(format!("{name}[{i}]")))
            .collect::<Vec<_>>()
    });
    let mut result = m.karatsuba(&a, &b);
    let shown = |m: &Machine<W>, result: &[Value]| {
        let (w, a, b) = (W, &a[..], &b[..]);
        let term = Term {
            sign: 1,
            shift: 0,
            w,
            a,
            b: Some(b),
        };
        let bits = u64::from(w) * result.len() as u64;
        let goal = Goal {
            w,
            result,
            h: 0,
            value: vec![term],
            scale: 1.into(),
            modulus: Modulus::Number(&BigInt::ZERO),
            corners: vec![Corner {
                modulus: BigInt::ZERO,
                least: BigInt::ZERO,
                most: (BigInt::from(1) << bits) - 1,
                bound: None,
            }],
            bits,
            rest: Rest::Nothing,
        };
        identity::show(&m.d, &goal)
    };
    assert_eq!(
        shown(&m, &result),
        Ok(()),
        "{terms:?}, {h} words of {W} bits"
    );
    // One word is a stranger.
    let last = result.len() - 1;
    for i in [0, h, 2 * h, last] {
        let kept = std::mem::replace(&mut result[i], a[0]);
        assert!(shown(&m, &result).is_err());
        result[i] = kept;
    }
}

#[test]
fn signed_karatsuba_is_shown_in_the_terms_of_every_machine() {
    for terms in [
        Terms::Flag,
        Terms::Inverted,
        Terms::Compared,
        Terms::ComparedOr,
        Terms::ComparedFirst,
    ] {
        for h in 1..=4 {
            proves::<32>(terms, h);
            proves::<8>(terms, h);
        }
    }
}
