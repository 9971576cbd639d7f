//! `--for`: libraries that a pack's kernels are put into.

use crate::pack::made::Made;
use crate::pack::mbedtls;
use crate::pack::micro_ecc::{self, Curve};

/// A library, and what it takes of a pack.
#[derive(Debug)]
pub enum Library {
    /// The products of a curve.
    MicroEcc(Curve),
    /// Montgomery's products.
    MbedTls,
}

impl Library {
    /// How it is built, for the README.
    pub fn readme(&self) -> &'static str {
        match self {
            Library::MicroEcc(_) => micro_ecc::README,
            Library::MbedTls => mbedtls::README,
        }
    }

    /// The file that is compiled in place of one of the library's: name and contents.
    pub fn file(&self, made: &Made<'_>) -> (String, String) {
        match self {
            Library::MicroEcc(curve) => curve.file(made),
            Library::MbedTls => mbedtls::file(made),
        }
    }
}
