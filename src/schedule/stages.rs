//! A product in loops, and what is made of it in words: two stages, of which the second reads the product
//! where the first wrote it.

use super::{Counts, Schedule, ScheduleError, Words};
use crate::spec::Spec;
use crate::vectors;

/// Two stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stages {
    /// What both together compute.
    pub spec: Spec,
    /// The product of the factors, or the square of the one.
    pub product: Box<Schedule>,
    /// Its only operand is the product.
    pub rest: Words,
}

impl Stages {
    /// Words of the product.
    pub fn words(&self) -> usize {
        self.rest.lengths.iter().sum()
    }

    /// Counts of both.
    ///
    /// # Errors
    /// The first violation.
    pub fn count(&self) -> Result<Counts, ScheduleError> {
        Ok(self.product.count()?.then(self.rest.count()?))
    }

    /// Checks the first stage, and runs the second on products of structured operands.
    ///
    /// # Errors
    /// The first violation, or operands with a wrong result.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let counts = self.product.check()?.then(self.rest.count()?);
        for operands in vectors::of(&self.spec, 8, 1) {
            let last = self.spec.op.factors() - 1;
            let product = &operands[0] * &operands[last];
            let got = self.rest.result_of(&[product]);
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
