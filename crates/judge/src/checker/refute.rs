//! Refutations: suppose that some variables have some values, and find that another one has none left.

use std::collections::BTreeMap;

use machine::domain::trace::Combination;
use machine::domain::variable::{Def, VarId};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::checker::form::{Form, Range, spread, times};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// How often all equations are looked at.
const ROUNDS: usize = 40;

/// What a form that is 0 does to the ranges of its variables.
enum Narrowed {
    /// There are no such numbers.
    Impossible,
    Yes,
    No,
}

/// Narrows the ranges of the variables of a form that is 0.
fn narrow(form: &Form, ranges: &mut BTreeMap<VarId, Range>) -> Check<Narrowed> {
    let mut total = (form.constant, form.constant);
    for (v, by) in &form.terms {
        total = spread(total, ranges[v], *by)?;
    }
    if total.0 > 0 || total.1 < 0 {
        return Ok(Narrowed::Impossible);
    }
    let mut narrowed = Narrowed::No;
    for (v, by) in &form.terms {
        let old = ranges[v];
        let share = spread((0, 0), old, *by)?;
        // by v = -(the others)
        let rest = (share.1 - total.1, share.0 - total.0);
        let rest = if *by > 0 { rest } else { (-rest.1, -rest.0) };
        let k = by.abs();
        let new = (
            old.0.max(-(-rest.0).div_euclid(k)),
            old.1.min(rest.1.div_euclid(k)),
        );
        if new.0 > new.1 {
            return Ok(Narrowed::Impossible);
        }
        if new != old {
            let after = spread((0, 0), new, *by)?;
            total = (total.0 + after.0 - share.0, total.1 + after.1 - share.1);
            ranges.insert(*v, new);
            narrowed = Narrowed::Yes;
        }
    }
    Ok(narrowed)
}

impl Checker<'_> {
    /// The sum of `factor * (v - definition of v)`, which is 0. The definition of a carry is that of its word.
    pub(super) fn combined(&self, by: &Combination) -> Check<Form> {
        let mut form = Form::default();
        for (v, factor) in by {
            form.add(*v, (*factor).into())?;
            let (terms, constant) = self.sum(*v).ok_or("it is no sum")?;
            let factor = -i128::from(*factor);
            form.add_number(times(factor, constant.into())?)?;
            for (t, k) in terms {
                form.add(*t, times(factor, (*k).into())?)?;
            }
        }
        Ok(form)
    }

    /// Is it impossible that these variables lie in these ranges? Each equation narrows the range of each of its
    /// variables to what the others leave for it, until one of them is empty.
    pub(super) fn refuted(&mut self, supposed: &[(VarId, Range)], by: &[Combination]) -> Check {
        self.refuted_with(supposed, by, &[])
    }

    /// The same, with other forms that are 0.
    pub(super) fn refuted_with(
        &mut self,
        supposed: &[(VarId, Range)],
        by: &[Combination],
        known: &[Form],
    ) -> Check {
        let mut forms: Vec<Form> = by
            .iter()
            .map(|by| self.combined(by))
            .collect::<Check<_>>()?;
        forms.extend(known.iter().cloned());
        let mut ranges: BTreeMap<VarId, Range> = BTreeMap::new();
        for v in forms
            .iter()
            .flat_map(|form| form.terms.iter().map(|(v, _)| v))
        {
            ranges.insert(*v, self.range(*v)?);
        }
        for (v, (least, most)) in supposed {
            let (low, high) = self.range(*v)?;
            ranges.insert(*v, (low.max(*least), high.min(*most)));
        }
        if ranges.values().any(|(least, most)| least > most) {
            return Ok(());
        }
        for _ in 0..ROUNDS {
            let mut narrowed = false;
            for form in &forms {
                match narrow(form, &mut ranges)? {
                    Narrowed::Impossible => return Ok(()),
                    Narrowed::Yes => narrowed = true,
                    Narrowed::No => {}
                }
            }
            if !narrowed {
                break;
            }
        }
        Err("what is said to be impossible is not shown to be")
    }

    /// What a difference is of, by its operands.
    pub(super) fn equations_of(&self, d: VarId) -> Vec<Form> {
        self.differences.get(&d).cloned().into_iter().collect()
    }

    /// `out = 1` just where `c = 1` and `d` is not 0: no borrow left `d = x - y`, so that `y - x`, the difference that
    /// was taken last, leaves one.
    pub(super) fn is_higher(&mut self, c: VarId, d: VarId, out: &Form) -> Check {
        let mut forms = self.equations_of(d);
        let last = self.difference.clone();
        if let Some(first) = forms.first() {
            forms.push(self.plus(first.clone(), &last, 1)?);
        }
        forms.push(last);
        let by: Vec<_> = self.sum(c).map(|_| vec![(c, 1)]).into_iter().collect();
        let most = self.range(d)?.1;
        let (no, yes) = ((0, 0), (1, 1));
        let is = |set: i128| -> Check<Option<(VarId, Range)>> {
            match (out.terms.first(), out.constant) {
                (None, k) => Ok((k != set).then_some((d, (1, 0)))),
                (Some((k, 1)), 0) if out.terms.len() == 1 => Ok(Some((*k, (set, set)))),
                (Some(_), _) => Err("a comparison has no bit for its result"),
            }
        };
        let cases = [
            ([(c, yes), (d, (1, most))].to_vec(), 0),
            ([(c, no)].to_vec(), 1),
            ([(d, no)].to_vec(), 1),
        ];
        for (mut supposed, wrong) in cases {
            // What is a number has this value, or never.
            match is(wrong)? {
                Some((v, (1, 0))) if v == d => continue,
                Some(literal) => supposed.push(literal),
                None => {}
            }
            self.refuted_with(&supposed, &by, &forms)?;
        }
        Ok(())
    }

    /// `0 <= v <= most`.
    pub(super) fn bound(&mut self, v: VarId, most: u64, by: &[Combination]) -> Check {
        self.bound_with(v, most, by, &[])
    }

    /// The same, with other forms that are 0.
    pub(super) fn bound_with(
        &mut self,
        v: VarId,
        most: u64,
        by: &[Combination],
        known: &[Form],
    ) -> Check {
        let (low, high) = self.range(v)?;
        let most = i128::from(most);
        let own = self.sum(v).map(|_| vec![(v, 1)]);
        let by: Vec<_> = by.iter().cloned().chain(own).collect();
        let by = by.as_slice();
        if high > most {
            self.refuted_with(&[(v, (most + 1, high))], by, known)?;
        }
        if low < 0 {
            self.refuted_with(&[(v, (low, -1))], by, known)?;
        }
        self.narrow(v, (0, most))
    }

    /// The carry `c` is 0: `scale c` less multiples of equations, of `lo + 2^w hi <= a b` and of claims is less than
    /// `scale`.
    pub(super) fn never_set(
        &mut self,
        c: VarId,
        scale: &BigInt,
        by: &[(VarId, BigInt)],
        products: &[(VarId, BigInt)],
        claims: &[(usize, BigInt)],
    ) -> Check {
        let mut form: BTreeMap<VarId, BigInt> = BTreeMap::from([(c, scale.clone())]);
        let mut total = BigInt::zero();
        // form = form + factor (definition - v)
        for (v, factor) in by {
            let (terms, constant) = self.sum(*v).ok_or("it is no sum")?;
            *form.entry(*v).or_default() -= factor;
            for (t, k) in terms {
                *form.entry(*t).or_default() += factor * k;
            }
            total += factor * constant;
        }
        // What is known to be at most something, a positive number of times.
        for (lo, factor) in products {
            let Def::Low { a, b, hi, w } = self.def(*lo)? else {
                return Err("it is no product");
            };
            if factor.is_negative() {
                return Err("a bound is taken a negative number of times");
            }
            let most = BigInt::from(self.range_of(a)?.1) * self.range_of(b)?.1;
            *form.entry(*lo).or_default() -= factor;
            *form.entry(hi).or_default() -= factor << w;
            total += most * factor;
        }
        for (index, factor) in claims {
            if factor.is_negative() {
                return Err("a bound is taken a negative number of times");
            }
            let lemma = self.lemmas.get(*index).ok_or("there is no such claim")?;
            for (v, weight) in lemma.weighted() {
                *form.entry(v).or_default() -= factor << weight;
            }
            total += BigInt::from(lemma.most.clone()) * factor;
        }
        for (v, by) in form {
            let (low, high) = self.range(v)?;
            total += if by.is_negative() {
                by * low
            } else {
                by * high
            };
        }
        if total >= *scale {
            return Err("a carry may be set");
        }
        let (low, _) = self.range(c)?;
        if low < 0 {
            return Err("a carry may be below 0");
        }
        self.narrow(c, (0, 0))
    }
}
