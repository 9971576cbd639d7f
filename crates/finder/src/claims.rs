//! Claims: equations between words, offered with a program and shown before they are used.
//!
//! A claim says `2^(W lead) sum 2^(W i) words[i] = sum of terms` about words the run has computed. It is
//! shown in two steps, as soon as its last word is written:
//!
//! - modulo `2^(W (lead + len))` by elimination ([`crate::polynomial`]), with all claims shown before;
//! - over the integers because both sides lie in `0 .. 2^(W (lead + len))`: the left as `len` words, the
//!   right by the bounds of its words.
//!
//! A carry that leaves the top of the words needs no argument of its own: it vanishes in the
//! first step. What is shown bounds the words jointly ([`crate::bounds`]) and replaces them as
//! a group in later eliminations. A claim that is not shown is not used.
//!
//! A claim that words are an absolute value `|D|` is shown from how it was made, and used for
//! two things: the square of the words is `D^2`, and of a product of two the sign is known ([`crate::signed`]).

pub(crate) use machine::domain::trace::Product;
use machine::domain::trace::{Change, Entry, Multiples, Step};
use machine::domain::variable::{Value, VarId};
use machine::domain::{Address, Base};
use machine::program::{Area, Claim, Place, Written};
use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

use crate::algebra::Algebra;
use crate::claim::{Equation, MOST_WORK, Magnitude, Spot, Watched, positive};
use crate::polynomial::{Polynomial, Scaled};

impl Algebra {
    /// Offers claims about the run to come; their instructions are byte addresses, and operands lie at
    /// `bases`.
    pub fn offer(&mut self, claims: Vec<Claim>, bases: &[Base]) {
        self.claims.waiting = vec![0; claims.len()];
        let mut watched: FxHashMap<Written, Watched> = FxHashMap::default();
        for (index, claim) in claims.iter().enumerate() {
            for written in claim.places() {
                let place = match written.place {
                    Place::Register(r) => Some(Spot::Register(r)),
                    Place::Memory(area, offset) => {
                        let base = match area {
                            Area::Operand(i) => bases.get(i).copied(),
                            Area::Stack => Some(Base::STACK),
                            Area::DataStack => Some(Base::DATA_STACK),
                        };
                        base.map(|base| Spot::Memory(Address { base, offset }))
                    }
                };
                // A claim about an operand that is not there waits for ever.
                let Some(place) = place else {
                    self.claims.waiting[index] += 1;
                    continue;
                };
                let entry = watched.entry(*written).or_insert_with(|| Watched {
                    written: *written,
                    place,
                    claims: Vec::new(),
                });
                if entry.claims.last() != Some(&index) {
                    entry.claims.push(index);
                    self.claims.waiting[index] += 1;
                }
            }
        }
        for word in watched.into_values() {
            let at = self.claims.watched.entry(word.written.insn).or_default();
            at.1.push(word);
        }
        for (_, words) in self.claims.watched.values_mut() {
            words.sort_by_key(|word| std::cmp::Reverse(word.written.visit));
        }
        self.claims.offered = claims;
    }

    /// Notes the words that claims speak of, and shows the claims that are complete.
    pub(crate) fn look(&mut self, pc: usize, w: u32, register: impl Fn(u8) -> Value) {
        let Some((visits, words)) = self.claims.watched.get_mut(&pc) else {
            return;
        };
        *visits += 1;
        let mut complete = Vec::new();
        while let Some(word) = words.pop_if(|word| word.written.visit == *visits) {
            let value = match word.place {
                Spot::Register(r) => Some(register(r)),
                Spot::Memory(at) => self.run.memory.peek(at),
            };
            let Some(value) = value else { continue };
            self.claims.held.insert(word.written, value);
            for index in word.claims {
                self.claims.waiting[index] -= 1;
                if self.claims.waiting[index] == 0 {
                    complete.push(index);
                }
            }
        }
        complete.sort_unstable();
        for index in complete {
            if let Err(text) = self.judge(index, w) {
                self.claims.refused.get_or_insert((pc, text));
            }
        }
    }

    /// Shows an offered claim and uses it from now on.
    fn judge(&mut self, index: usize, w: u32) -> Result<(), String> {
        let missing = "it speaks of words that are not written";
        let claim = self.claims.offered.get(index).ok_or(missing)?;
        self.claims.spend(claim.products());
        if self.claims.work.get() > MOST_WORK {
            return Err("all claims together are too long".into());
        }
        let equation = self.claims.equation(claim, w).ok_or(missing)?;
        if claim.magnitude.is_none() {
            if self.is_quotient(&equation)? {
                return Ok(());
            }
            if let Some((signed, step)) = self.product_of_distances(&equation)? {
                self.note(Entry::Step(step));
                self.accept(signed);
                return Ok(());
            }
            let is_half = self.is_half(&equation);
            let (equation, used) = self.shown(equation)?;
            match is_half {
                true => {
                    let step = Step::Half {
                        equation: equation.traced(),
                        used,
                    };
                    self.note(Entry::Step(step));
                    self.claims.quotients.halves.push(equation);
                }
                false => {
                    let step = Step::Claim {
                        equation: equation.traced(),
                        used,
                    };
                    self.note(Entry::Step(step));
                    self.accept(equation);
                }
            }
            return Ok(());
        }
        let (wrapped, mask) = self.claims.made(claim).ok_or(missing)?;
        let (negative, used) = self.show_magnitude(&equation, &wrapped, mask)?;
        self.note(Entry::Step(Step::Magnitude {
            equation: equation.traced(),
            wrapped,
            mask,
            used,
        }));
        let Equation { words, terms, .. } = equation;
        self.claims.magnitudes.push(Magnitude {
            words,
            terms,
            negative,
        });
        Ok(())
    }

    /// Shows `words = |D|`, `D` the sum of the terms, `n` words long.
    ///
    /// `wrapped = D + 2^(W n) s` lies in `0 .. 2^(W n)`, hence `s = 1` exactly if `D < 0`, and
    /// `|D| = (1 - 2 s) D`. With `-2^(W n) < D` this lies in `0 .. 2^(W n)` as the words do, and
    /// it is enough that both agree modulo `2^(W n)`.
    fn show_magnitude(
        &self,
        equation: &Equation,
        wrapped: &[Value],
        mask: Value,
    ) -> Result<(VarId, [Multiples; 2]), String> {
        let Equation {
            w, words, terms, ..
        } = equation;
        let bits = u64::from(*w) * words.len() as u64;
        let (s, _) = self
            .mask_bit(mask, *w)
            .ok_or("its mask is not all ones or 0")?;
        if wrapped.len() != words.len() || terms.iter().any(|t| !t.y.is_empty()) {
            return Err("the parts of its absolute value do not match".into());
        }
        let negative: Vec<_> = terms.iter().filter(|t| t.sign < 0).cloned().collect();
        let below = self.most(&Equation {
            terms: positive(&negative),
            ..equation.clone()
        });
        if below.is_none_or(|below| below.bits() > bits) {
            return Err(format!("its sum may be below -2^{bits}"));
        }
        let one = Scaled::new(BigInt::from(1), 0);
        let difference = Equation {
            words: wrapped.to_vec(),
            ..equation.clone()
        };
        let mut p = Polynomial::new(self, u64::MAX);
        let shown = difference.add_to(&mut p, &one).and_then(|()| {
            p.add_value(Value::Var(s), &one.carried(bits))?;
            p.close()
        });
        self.claims.spend(p.products + p.steps);
        shown.map_err(|open| open.text)?;
        let first = p.used();
        // words - D + 2 s D
        let mut p = Polynomial::new(self, bits);
        let twice = Equation {
            words: Vec::new(),
            terms: (terms.iter().cloned())
                .map(|t| Product {
                    y: vec![Value::Var(s)],
                    ..t
                })
                .collect(),
            ..equation.clone()
        };
        let shown = equation
            .add_to(&mut p, &one)
            .and_then(|()| twice.add_to(&mut p, &one.times(-2)))
            .and_then(|()| p.close());
        self.claims.spend(p.products + p.steps);
        shown.map_err(|open| open.text)?;
        Ok((s, [first, p.used()]))
    }

    /// The equation with the bound of its right side, if it holds.
    fn shown(&self, mut equation: Equation) -> Result<(Equation, Multiples), String> {
        let bits = equation.bits();
        let most = self
            .most(&equation)
            .filter(|most| most.bits() <= bits)
            .ok_or_else(|| format!("its right side may not lie in 0 .. 2^{bits}"))?;
        equation.most = most >> (equation.w as usize * equation.lead);
        let mut p = Polynomial::new(self, bits);
        let one = Scaled::new(BigInt::from(1), 0);
        let shown = equation
            .add_to(&mut p, &one)
            .and_then(|()| self.add_known_multiple(&equation, &mut p))
            .and_then(|()| p.close());
        self.claims.spend(p.products + p.steps);
        shown.map_err(|open| open.text)?;
        let used = p.used();
        Ok((equation, used))
    }

    /// The largest value of the right side, if its smallest is not below 0.
    fn most(&self, equation: &Equation) -> Option<BigUint> {
        let mut most = BigUint::default();
        for term in &equation.terms {
            let y = match term.y.as_slice() {
                [] => BigUint::from(1u8),
                words => self.largest(words, equation.w),
            };
            let largest = self.largest(&term.x, equation.w) * y;
            match term.sign {
                1 => most += largest << (equation.w as usize * term.shift),
                _ => return None,
            }
        }
        Some(most)
    }

    /// The largest value of `sum 2^(w i) words[i]`.
    fn largest(&self, words: &[Value], w: u32) -> BigUint {
        let known = self.claims.shown.iter().find(|e| e.words == words);
        let each = words.iter().rev().fold(BigUint::default(), |sum, word| {
            (sum << w) + self.bound(*word, w)
        });
        match known {
            Some(equation) => each.min(equation.most.clone()),
            None => each,
        }
    }

    /// Uses a shown equation from now on.
    fn accept(&mut self, mut equation: Equation) {
        equation.terms = self.claims.square_magnitudes(&equation.terms);
        let Some(rank) = equation.rank() else {
            return;
        };
        for (i, word) in equation.words.iter().enumerate() {
            if let Value::Var(v) = word {
                let share = &equation.most >> (equation.w as usize * i);
                let var = &mut self.vars[*v as usize];
                var.rank = var.rank.min(rank);
                var.bound = u64::try_from(share).unwrap_or(u64::MAX).min(var.bound);
            }
        }
        let index = self.claims.shown.len();
        let (most, w) = (equation.most.clone(), equation.w);
        let reason = Change::Claim { index };
        self.bounds.group(&equation.words, most, w, reason);
        self.note_joints();
        self.claims.order.insert((rank, self.claims.shown.len()));
        self.claims.shown.push(equation);
    }
}
