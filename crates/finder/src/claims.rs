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

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use num_bigint::{BigInt, BigUint};

use crate::algebra::{Algebra, Value, VarId};
use crate::polynomial::{Polynomial, Scaled};
use crate::quotient::Quotients;
use judge::prove::Open;
use machine::domain::trace;
pub(crate) use machine::domain::trace::Product;
use machine::domain::trace::{Change, Entry, Multiples, Step};
use machine::domain::{Address, Base};
use machine::program::{Area, Claim, Place, Term, Written};

/// `2^(w lead) sum 2^(w i) words[i] = sum of terms`, over the integers; the sum of the words is `most` at most.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    pub w: u32,
    pub words: Vec<Value>,
    pub lead: usize,
    pub terms: Vec<Product>,
    pub most: BigUint,
}

/// `sum 2^(w i) words[i] = |sum of terms|`, the terms numbers.
#[derive(Clone, Debug)]
pub(crate) struct Magnitude {
    pub words: Vec<Value>,
    pub terms: Vec<Product>,
    /// The bit that says whether the sum is negative.
    pub negative: VarId,
}

/// A word that claims speak of: after which visit it is read, where, and by which claims it is used.
struct Watched {
    written: Written,
    place: Spot,
    claims: Vec<usize>,
}

/// A place, with its address if it lies in memory.
#[derive(Clone, Copy)]
enum Spot {
    Register(u8),
    Memory(Address),
}

/// What was offered, what of it is still to be shown, and what is shown.
#[derive(Default)]
pub(crate) struct Claims {
    /// Instructions are byte addresses here.
    offered: Vec<Claim>,
    /// How often an instruction was executed, and what is to be read after it.
    watched: HashMap<usize, (usize, Vec<Watched>)>,
    held: HashMap<Written, Value>,
    /// How many words each claim still waits for.
    waiting: Vec<usize>,
    shown: Vec<Equation>,
    pub magnitudes: Vec<Magnitude>,
    pub quotients: Quotients,
    /// The shown claims by their earliest variable, where they are applied.
    pub order: BTreeSet<(VarId, usize)>,
    /// The first claim that was not shown: its last instruction, and what stayed open.
    refused: Option<(usize, String)>,
    /// Products and variables that were looked at to show claims.
    work: Cell<u64>,
}

/// The most work for all claims: a hundred times what a product of 2048 bits in five levels takes.
const MOST_WORK: u64 = 1 << 27;

impl Claims {
    /// The first claim that was not shown: the address of its last instruction, and what stayed open.
    pub fn refused(&self) -> Option<(usize, &str)> {
        let refused = self.refused.as_ref();
        refused.map(|(pc, text)| (*pc, text.as_str()))
    }

    pub fn get(&self, index: usize) -> Option<&Equation> {
        self.shown.get(index)
    }

    /// The equations that were offered and whose words are known.
    pub(crate) fn offers(&self, w: u32) -> Vec<Equation> {
        let plain = self.offered.iter().filter(|c| c.magnitude.is_none());
        plain.filter_map(|claim| self.equation(claim, w)).collect()
    }

    /// The shown ones.
    pub fn shown(&self) -> &[Equation] {
        &self.shown
    }

    fn spend(&self, work: u64) {
        self.work.set(self.work.get().saturating_add(work));
    }

    fn values(&self, places: &[Written]) -> Option<Vec<Value>> {
        let value = |place| self.held.get(place).copied();
        places.iter().map(value).collect()
    }

    /// What the claim says an absolute value was made from.
    fn made(&self, claim: &Claim) -> Option<(Vec<Value>, Value)> {
        let made = claim.magnitude.as_ref()?;
        Some((self.values(&made.wrapped)?, *self.held.get(&made.mask)?))
    }

    /// `T^2 = D^2` where `T = |D|`: products of an absolute value with itself become products of
    /// the numbers whose sum it is of.
    fn square_magnitudes(&self, terms: &[Product]) -> Vec<Product> {
        let mut out = Vec::with_capacity(terms.len());
        for term in terms {
            let mut known = self.magnitudes.iter();
            let squared = known.find(|m| m.words == term.x && m.words == term.y);
            let Some(magnitude) = squared else {
                out.push(term.clone());
                continue;
            };
            for x in &magnitude.terms {
                out.extend(magnitude.terms.iter().map(|y| Product {
                    sign: term.sign * x.sign * y.sign,
                    shift: term.shift + x.shift + y.shift,
                    x: x.x.clone(),
                    y: y.x.clone(),
                }));
            }
        }
        out
    }

    /// The equation of a claim, if every word is known by now.
    fn equation(&self, claim: &Claim, w: u32) -> Option<Equation> {
        let term = |t: &Term| {
            (matches!(t.sign, -1 | 1) && t.shift <= claim.words.len()).then_some(())?;
            Some(Product {
                sign: t.sign,
                shift: t.shift,
                x: self.values(&t.x)?,
                y: self.values(&t.y)?,
            })
        };
        (claim.lead <= claim.words.len()).then_some(())?;
        Some(Equation {
            w,
            words: self.values(&claim.words)?,
            lead: claim.lead,
            terms: claim.terms.iter().map(term).collect::<Option<_>>()?,
            most: BigUint::default(),
        })
    }
}

/// The terms with all signs positive.
fn positive(terms: &[Product]) -> Vec<Product> {
    let terms = terms.iter().cloned();
    terms.map(|t| Product { sign: 1, ..t }).collect()
}

impl Equation {
    /// As it is written down.
    pub fn traced(&self) -> trace::Equation {
        trace::Equation {
            w: self.w,
            words: self.words.clone(),
            lead: self.lead,
            terms: self.terms.clone(),
        }
    }

    /// Bits of the left side.
    pub fn bits(&self) -> u64 {
        u64::from(self.w) * (self.lead + self.words.len()) as u64
    }

    /// Adds `by * (2^(w lead) sum 2^(w i) words[i] - sum of terms)`.
    ///
    /// # Errors
    /// When an address is among the words.
    pub fn add_to(&self, p: &mut Polynomial<'_>, by: &Scaled) -> Result<(), Open> {
        let at = |by: &Scaled, i: usize| Scaled {
            odd: by.odd.clone(),
            shift: by.shift + u64::from(self.w) * i as u64,
        };
        for (i, word) in self.words.iter().enumerate() {
            p.add_value(*word, &at(by, self.lead + i))?;
        }
        for term in &self.terms {
            let by = at(&by.times(-i64::from(term.sign)), term.shift);
            for (i, x) in term.x.iter().enumerate() {
                if term.y.is_empty() {
                    p.add_value(*x, &at(&by, i))?;
                }
                for (j, y) in term.y.iter().enumerate() {
                    p.add_product(*x, *y, &at(&by, i + j))?;
                }
            }
        }
        Ok(())
    }

    /// The variables among the words, with their weights as powers of 2.
    pub fn variables(&self) -> impl DoubleEndedIterator<Item = (u64, VarId)> {
        let words = self.words.iter().enumerate();
        words.filter_map(|(i, v)| match v {
            Value::Var(v) => Some((u64::from(self.w) * (self.lead + i) as u64, *v)),
            Value::Public(_) => None,
        })
    }

    /// The factor `f` for which `p` contains `f 2^(W lead) sum 2^(W i) words[i]`, if it does; a word may be there
    /// more often where `p` leaves the rest as it is. The lowest word decides, whose coefficient is known
    /// best modulo a power of 2; over the integers first the highest, which is no quotient of Montgomery's:
    /// where a product is folded, its high words are there for other ones, and the lowest decides.
    pub fn factor_in(&self, p: &Polynomial<'_>) -> Option<Scaled> {
        let ends = [self.variables().next_back(), self.variables().next()];
        let highest = usize::from(p.bits != u64::MAX);
        let mut ends = ends.into_iter().skip(highest).flatten();
        ends.find_map(|end| self.factor_of(end, p))
    }

    /// The factor that the word `first` with its weight has, if it is that of all words.
    fn factor_of(&self, (weight, first): (u64, VarId), p: &Polynomial<'_>) -> Option<Scaled> {
        let mut factor = p.coefficient(first)?.clone();
        factor.shift = factor.shift.checked_sub(weight)?;
        for (weight, v) in self.variables() {
            let mut rest = factor.carried(weight);
            if let Some(by) = p.coefficient(v) {
                rest.add(by);
            }
            if !rest.vanishes(p.bits) && !p.leaves(&rest) {
                return None;
            }
        }
        Some(factor)
    }

    /// The earliest variable among the words.
    fn rank(&self) -> Option<VarId> {
        self.variables().map(|(_, v)| v).min()
    }
}

impl Algebra {
    /// Offers claims about the run to come; their instructions are byte addresses, and operands lie at
    /// `bases`.
    pub fn offer(&mut self, claims: Vec<Claim>, bases: &[Base]) {
        self.claims.waiting = vec![0; claims.len()];
        let mut watched: HashMap<Written, Watched> = HashMap::new();
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
