//! `--for`: libraries that a pack's kernels are put into.

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
