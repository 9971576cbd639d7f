//! From a driver to everything that ships with it: its kernels, proved, and its own instructions.

use super::image::{self, Image};
use super::{Assembled, Driver, Step, secrecy};
use crate::isa::{Isa, LowerError};
use crate::kernel::{self, Kernel};
use crate::spec::Alias;

/// Why there is no driver.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    #[error("the driver: {0}")]
    Lower(#[from] LowerError),
    #[error("the driver: {0}")]
    Link(String),
    #[error("{0} is not proved, so nothing is built on it")]
    Unproved(String),
    #[error(
        "{0} may not write where it reads, and the driver would have it so (a defect of this tool)"
    )]
    Overlap(String),
}

/// A driver with its kernels.
pub struct Built<I: Isa> {
    pub driver: Driver,
    pub kernels: Vec<Kernel<I>>,
    pub assembled: Assembled<I::Insn>,
    /// All of it in one piece, as runs need it.
    pub image: Image,
}

impl<I: Isa> Built<I> {
    /// Makes and proves the kernels of `driver` and lowers it. `told` hears what is made next.
    ///
    /// # Errors
    /// When there is no such kernel, or it is not proved, or the driver cannot be lowered.
    pub fn new(driver: Driver, core: &I::Core, mut told: impl FnMut(&str)) -> Result<Self, Error> {
        let assembled = I::drive(core, &driver)?;
        let mut kernels = Vec::with_capacity(driver.kernels.len());
        for request in &driver.kernels {
            told(&format!("{}{}", request.op.name(), request.size));
            let kernel = kernel::generate::<I>(request, core)?;
            if !kernel.is_proved() {
                return Err(Error::Unproved(kernel.spec.symbol()));
            }
            kernels.push(kernel);
        }
        for step in driver.steps() {
            if let Step::Call { kernel, pointers } = step {
                overlap(&kernels[*kernel], pointers)?;
            }
        }
        let codes: Vec<&[u8]> = kernels.iter().map(|k| k.code.as_slice()).collect();
        let image = image::link::<I>(core, &assembled, &codes).map_err(Error::Link)?;
        Ok(Self {
            driver,
            kernels,
            assembled,
            image,
        })
    }

    /// Per core that runs the code: what time tells of the numbers, of the driver first; of an exponent
    /// that is public it may.
    pub fn constant_time(&self, core: &I::Core, public: bool) -> Vec<(String, Result<(), String>)> {
        let judge = |relative: I::Core| {
            let name = I::core_name(&relative);
            let mut verdict =
                secrecy::constant_time::<I>(&relative, &self.driver, &self.assembled, public);
            for kernel in &self.kernels {
                let timing = kernel.constant_time.iter().find(|(core, _)| *core == name);
                let leak = timing.and_then(|(_, timing)| timing.leak.as_ref());
                if let (true, Some(leak)) = (verdict.is_ok(), leak) {
                    let symbol = kernel.spec.symbol();
                    verdict = Err(format!("{} ({symbol})", leak.verdict()));
                }
            }
            (name, verdict)
        };
        I::relatives(core).into_iter().map(judge).collect()
    }
}

/// Is what the pointers have in common allowed and proved?
fn overlap<I: Isa>(kernel: &Kernel<I>, pointers: &[usize]) -> Result<(), Error> {
    let same = |i: usize, j: usize| pointers.get(i) == pointers.get(j);
    let factors = kernel.spec.op.factors();
    let alias = match (factors, same(0, 1), factors == 2 && same(0, 2), same(1, 2)) {
        (2, true, true, _) => Alias::All,
        (_, true, ..) => Alias::RIsA,
        (2, _, true, _) => Alias::RIsB,
        (2, _, _, true) => Alias::AIsB,
        _ => return Ok(()),
    };
    let allowed = kernel
        .aliasing
        .iter()
        .any(|case| case.alias == alias && case.allowed);
    match allowed {
        true => Ok(()),
        false => Err(Error::Overlap(kernel.spec.symbol())),
    }
}
