//! A number modulo a prime next to a power of 2, times a number `k` that is in the code.
//!
//! With a bit to spare above the prime, what lies above that bit is known first: it comes from the upper words of `A` alone,
//! as `k A_0 < X` for `A = A_0 + A_1 X / k'`, where `k'` is the power of the words' base above `k`. So the row of products is
//! one sweep, which folds it: no carry leaves the top. Else the row is made first, and folded as any product.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::number_products;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Params};
use crate::method::special_primes::{Folding, cut};
use crate::schedule::{Pile, Schedule, Word, WordStep, Words};

/// A number times a number in the code.
pub static METHOD: Method = Method {
    name: "number-row",
    summary: "modulo a special prime: the row of products by a number in the code, folded as it is made",
    source: "Crandall 1992",
    ops: &[Op::Modtimes],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let m = spec.modular.as_ref().and_then(|modular| modular.fixed());
    let m = m.ok_or(MethodError::NotSpecial)?;
    let w = spec.word_bits;
    let n = (spec.size.a / w) as usize;
    let folding = Folding::of(m, n, w)?;
    let mut words = Words::new(spec.op, w, &[n]);
    words.one_time = facts.one_time;
    let k = Number::of(spec.times(), w);
    let spare = u64::from(spec.size.a) - m.bits();
    if spare == 1 && folding.is_below_top(w) && k.has_top_bit_free(w) && n > 2 * k.len() + 2 {
        let half = Folding::above(m, n, w);
        let v = top_first(&mut words, &k, &half);
        let reduction = Reduction::of(spec, &mut words)?;
        words.result = match reduction.is_full() {
            true => reduction.subtract(&mut words, &v),
            false => v,
        };
    } else {
        let a = words.operand(0);
        let p = k.row(&mut words, &a);
        folding.fold(spec, &mut words, m, p)?;
    }
    if facts.tile_registers > 0 {
        number_products::make(&mut words);
    }
    Ok(Schedule::Words(words))
}

/// The words of a number, the least significant first.
struct Number(Vec<u64>);

impl Number {
    fn of(k: u32, w: u32) -> Self {
        let digits = (0..u32::BITS.div_ceil(w)).map(|i| u64::from(k) >> (w * i));
        let digits = digits.map(|digit| digit & (u64::MAX >> (64 - w)));
        let mut digits: Vec<_> = digits.collect();
        while digits.len() > 1 && digits.last() == Some(&0) {
            digits.pop();
        }
        Self(digits)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Is the top bit of the top word 0?
    fn has_top_bit_free(&self, w: u32) -> bool {
        self.0.last().is_some_and(|top| top >> (w - 1) == 0)
    }

    /// Column `i` of `k x`.
    fn column(&self, words: &mut Words, x: &[Word], i: usize) -> Pile {
        let mut pile = Pile::default();
        for (place, digit) in self.0.iter().enumerate() {
            let x = i.checked_sub(place).and_then(|j| x.get(j));
            match (x, digit) {
                (None, _) | (_, 0) => {}
                (Some(x), 1) => pile.addends.push(*x),
                (Some(x), digit) => {
                    let digit = words.constant(*digit);
                    pile.products.push((*x, digit));
                }
            }
        }
        pile
    }

    /// `k x`, as long as both together.
    fn row(&self, words: &mut Words, x: &[Word]) -> Vec<Word> {
        let piles = (0..x.len() + self.len()).map(|i| self.column(words, x, i));
        let piles = piles.collect();
        words.sweep(piles)
    }
}

/// `k A` modulo the prime, below its bits and a little: what is above them first.
fn top_first(words: &mut Words, k: &Number, half: &Folding) -> Vec<Word> {
    let a = words.operand(0);
    let n = a.len();
    let (low, high) = a.split_at(n - k.len() - 1);
    words.push(WordStep::Part("the upper words".into()));
    let mut stay = k.row(words, high);
    let above = stay.split_off(high.len());
    let above = cut(words, &mut stay, &above);
    words.push(WordStep::Part("the row, folded".into()));
    let pile = |i: usize| {
        let mut pile = k.column(words, low, i);
        let more = half.column(words, &above, i);
        pile.products.extend(more.products);
        pile.addends.extend(more.addends);
        let upper = i.checked_sub(low.len()).and_then(|j| stay.get(j));
        pile.addends.extend(upper);
        pile
    };
    let piles = (0..n).map(pile).collect();
    words.sweep(piles)
}
