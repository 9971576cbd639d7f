//! A schedule in one of its forms. One form has two stages: a product in loops, then a second stage, in words or in
//! loops, which reads the product where the first one wrote it.

use spec::{Op, Spec, vectors};

use crate::facts::Style;
use crate::schedule::blocks::{Blocks, Counts, ScheduleError};
use crate::schedule::halves::Halves;
use crate::schedule::loops::Loops;
use crate::schedule::scans::Scans;
use crate::schedule::tiles::Tiles;
use crate::schedule::words::Words;

/// The order of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    Blocks(Blocks),
    Words(Words),
    Tiles(Tiles),
    Loops(Loops),
    Halves(Halves),
    Scans(Scans),
    Stages(Stages),
}

impl Schedule {
    /// Counts, and checks its form.
    ///
    /// # Errors
    /// The first violation.
    pub fn count(&self) -> Result<Counts, ScheduleError> {
        match self {
            Schedule::Blocks(blocks) => blocks.check(),
            Schedule::Words(words) => words.count(),
            Schedule::Tiles(tiles) => tiles.check(),
            Schedule::Loops(loops) => loops.check(),
            Schedule::Halves(halves) => halves.check(),
            Schedule::Scans(scans) => scans.words.count(),
            Schedule::Stages(stages) => stages.count(),
        }
    }

    /// Checks that the schedule computes what it should, and counts.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        match self {
            Schedule::Blocks(blocks) => blocks.check(),
            Schedule::Words(words) => words.check(),
            Schedule::Tiles(tiles) => tiles.check(),
            Schedule::Loops(loops) => loops.check(),
            Schedule::Halves(halves) => halves.check(),
            Schedule::Scans(scans) => scans.check(),
            Schedule::Stages(stages) => stages.check(),
        }
    }

    /// How much of it is written out.
    pub fn style(&self) -> Style {
        match self {
            Schedule::Blocks(_) | Schedule::Words(_) => Style::Unrolled,
            Schedule::Tiles(_) => Style::Looped,
            Schedule::Loops(loops) => loops.style,
            Schedule::Halves(_) => Style::Rolled,
            Schedule::Scans(scans) => scans.style,
            Schedule::Stages(stages) => stages.product.style(),
        }
    }
}

/// Two stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stages {
    /// What both together compute.
    pub spec: Spec,
    /// The product of the factors, or the square of the one.
    pub product: Box<Schedule>,
    /// Its first operand is the product, its second the modulus, if that is an operand.
    pub rest: Box<Schedule>,
}

impl Stages {
    /// Words of the product.
    pub fn words(&self) -> usize {
        2 * (self.spec.size.a / self.spec.word_bits) as usize
    }

    /// The argument after the result that is the modulus, if it is one.
    pub fn modulus(&self) -> Option<usize> {
        let side = 1 + self.spec.op.factors();
        self.spec.is_runtime().then_some(side)
    }

    /// What each stage computes. Only a reduction in loops is an operation of its own.
    pub fn operations(&self) -> [Spec; 2] {
        let square = self.spec.op.factors() == 1;
        let product = Spec {
            op: if square { Op::Sqr } else { Op::Mul },
            modular: None,
            ..self.spec.clone()
        };
        let rest = Spec {
            op: Op::Redc,
            ..self.spec.clone()
        };
        [product, rest]
    }

    /// The steps of the second stage, whether they are loops or not.
    fn steps(&self) -> Result<&Words, ScheduleError> {
        match &*self.rest {
            Schedule::Words(words) => Ok(words),
            Schedule::Scans(scans) => Ok(&scans.words),
            _ => Err(ScheduleError::Loops),
        }
    }

    /// Counts of both.
    ///
    /// # Errors
    /// The first violation.
    pub fn count(&self) -> Result<Counts, ScheduleError> {
        Ok(self.product.count()?.then(self.rest.count()?))
    }

    /// Checks the first stage and the loops of the second, and runs this on products of structured operands.
    ///
    /// # Errors
    /// The first violation, or operands with a wrong result.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        if let Schedule::Scans(scans) = &*self.rest {
            scans.check()?;
        }
        let counts = self.product.check()?.then(self.rest.count()?);
        let last = self.spec.op.factors() - 1;
        for operands in vectors::of(&self.spec, 8, 1) {
            let mut read = vec![&operands[0] * &operands[last]];
            read.extend(operands[last + 1..].iter().cloned());
            let got = self.steps()?.result_of(&read);
            if !self.spec.accepts(&operands, &got) {
                let want = self.spec.value(&operands);
                return Err(ScheduleError::Wrong(format!(
                    "{operands:x?}: {got:#x} for {want:#x}"
                )));
            }
        }
        Ok(counts)
    }
}
