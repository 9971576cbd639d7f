//! The finder, as the judge asks it: a run that is answered, and a reason why its goal is reached.

use judge::certificate::Case;
use judge::checker::{Goal, Modulus};
use judge::prove::{Finder, Shown};
use machine::domain::Base;
use machine::domain::trace::Record;
use machine::domain::variable::Value;
use machine::program::Claim;
use num_traits::Zero;
use spec::{Alias, Op, Spec};

use crate::algebra::Algebra;
use crate::folded::Folded;
use crate::identity;
use crate::modular::Residue;

impl Finder for Algebra {
    fn new(spec: &Spec, word_bits: u32, claims: Vec<Claim>, bases: &[Base]) -> Self {
        let mut d = Self::default();
        d.offer(claims, bases);
        d.limit_words([spec.size.a, spec.size.b].map(|bits| bits.div_ceil(word_bits) as usize));
        d
    }

    fn entered(&mut self, spec: &Spec, sources: &[Vec<Value>]) {
        if spec.op == Op::Modhalf {
            self.watch_parity(sources[0][0]);
        }
    }

    fn find(&mut self, goal: &Goal<'_>) -> Shown<()> {
        match (goal.modulus, &goal.value[..]) {
            (Modulus::Number(m), _) if m.is_zero() => identity::show(self, goal),
            // A half is folded: P is a sum of three.
            (Modulus::Words(m), [_, _, _]) => Folded::of(goal, m).show(self),
            (Modulus::Number(_) | Modulus::Words(_), _) => Residue::of(goal).show(self),
        }
    }

    fn record(&mut self) -> Record<'_> {
        Record {
            variables: &self.vars,
            terms: &self.terms,
            entries: self.log.get_mut(),
            reason: self.reason.get_mut().as_ref(),
        }
    }

    fn case(self, alias: Alias) -> Option<Case> {
        Some(Case {
            alias,
            variables: self.vars.iter().map(|var| var.def).collect(),
            terms: self.terms,
            entries: self.log.into_inner(),
            reason: self.reason.into_inner()?,
        })
    }
}
