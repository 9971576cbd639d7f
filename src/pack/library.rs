//! `--for`: libraries that a pack's kernels are put into.

use crate::face::Kernel;
use crate::pack::bearssl::Called;
use crate::pack::made::Made;
use crate::pack::micro_ecc::{self, Curve};
use crate::pack::{mbedtls, p256_m, points};

/// A library, and what it takes of a pack.
#[derive(Debug)]
pub enum Library {
    /// The products of a curve.
    MicroEcc(Curve),
    /// Montgomery's products.
    MbedTls,
    /// Whole operations.
    BearSsl(Called),
    /// Operations on P-256.
    P256m(&'static points::Curve),
}

impl Library {
    /// How it is built, for the README.
    pub fn readme(&self, made: &Made<'_>) -> String {
        match self {
            Library::MicroEcc(_) => micro_ecc::README.into(),
            Library::MbedTls => mbedtls::README.into(),
            Library::BearSsl(called) => called.readme(made),
            Library::P256m(_) => p256_m::README.into(),
        }
    }

    /// Can it call these kernels? All but micro-ecc's file have results take the place of operands.
    ///
    /// # Errors
    /// The kernel whose result may not, and what to do.
    pub fn takes(&self, kernels: &[Kernel]) -> Result<(), String> {
        let writes = |k: &&Kernel| k.spec().modular.is_some() && !Made::in_place(k);
        match (self, kernels.iter().find(writes)) {
            (Library::MicroEcc(_), _) | (_, None) => Ok(()),
            (_, Some(kernel)) => Err(format!(
                "{} may not write where it reads, which the library has it do: try another core, or --variable-time",
                kernel.name()
            )),
        }
    }

    /// The files that call the kernels: name and contents.
    pub fn files(&self, made: &Made<'_>) -> Vec<(String, String)> {
        match self {
            Library::MicroEcc(curve) => vec![curve.file(made)],
            Library::MbedTls => vec![mbedtls::file(made)],
            Library::BearSsl(called) => called.files(made).into(),
            Library::P256m(curve) => vec![p256_m::file(curve, made)],
        }
    }
}
