//! `--for bearssl`: BearSSL's tables and functions over a pack, beside the library's own, which stay as they are.
//!
//! The library calls whole operations through pointers: curves by a `br_ec_impl`, RSA by a `br_rsa_public` and a
//! `br_rsa_private`. X25519 is such an operation already; the others are written in C over a pack's kernels.
//! RSA's private operation goes by the primes (Garner; RFC 8017, section 5.1.2), with windows of 4 bits, whose entries are read
//! all and masked. Points are in [`crate::pack::points`].

use spec::Op;

use crate::pack::data::Wanted;
use crate::pack::made::Made;
use crate::pack::points::{CURVES, Curve, LIMB};

/// What the library calls.
#[derive(Clone, Copy, Debug)]
pub enum Called {
    /// Products on Curve25519.
    X25519,
    /// Products of points.
    Points(&'static Curve),
    /// RSA.
    Rsa,
}

/// The files' names.
pub const NAME: &str = "bearssl_lozenge.c";
const HEADER_NAME: &str = "bearssl_lozenge.h";

/// The README begins so.
const README: &str = "BearSSL (tried with the version in the crate bearssl-sys): compile `bearssl_lozenge.c`, with BearSSL's folder `inc` and this \
                      one in the include path, and give ";

/// What is C around the kernels.
const AROUND: &str = " The functions around the kernels are C: time does not depend on secrets if the compiler's code for `a & mask` \
                      has no branch";

/// What a C file with points includes.
const HEAD: &str = "#include <string.h>\n#include \"bearssl_lozenge.h\"\n#include \"PREFIX.h\"\n\n";

/// The header: `DECLARATIONS` is replaced.
const HEADER: &str = "\
#ifndef BEARSSL_LOZENGE_H
#define BEARSSL_LOZENGE_H

#include \"bearssl.h\"

#ifdef __cplusplus
extern \"C\" {
#endif

DECLARATIONS
#ifdef __cplusplus
}
#endif

#endif
";

const TABLE: &str = "extern const br_ec_impl NAME;\n";
const RSA: &str = "/* As br_rsa_public and br_rsa_private, for keys of BITS bits; the top bits of modulus and primes are set. */
uint32_t PREFIX_public(unsigned char *x, size_t xlen, const br_rsa_public_key *pk);
uint32_t PREFIX_private(unsigned char *x, const br_rsa_private_key *sk);
";

/// What BearSSL calls of a pack.
///
/// # Errors
/// The packs of which it calls something, if it is none of them.
pub fn called(name: &str, wanted: &[Wanted]) -> Result<Called, String> {
    let curve = CURVES.iter().find(|curve| curve.pack == name);
    let is_ours = |w: &Wanted| is_product(w.op) && w.modulus.as_deref() == Some("runtime");
    match curve {
        Some(curve) => Ok(Called::Points(curve)),
        None if wanted.iter().any(is_ours) => Ok(Called::Rsa),
        None => {
            let packs = CURVES.iter().map(|curve| curve.pack);
            let packs: Vec<_> = ["x25519"].into_iter().chain(packs).collect();
            Err(packs.join(", "))
        }
    }
}

/// Is it one of the operations that RSA is written over?
fn is_product(op: Op) -> bool {
    matches!(op, Op::Montmul | Op::Montsqr)
}

impl Called {
    /// How it is built, for the README.
    pub(super) fn readme(self, made: &Made<'_>) -> String {
        let file = made.file;
        match self {
            Called::X25519 => format!(
                "{README}`x25519_bearssl`, a `br_ec_impl`, where you gave `br_ec_c25519_i31` or its like."
            ),
            Called::Points(_) => format!(
                "{README}`{file}_bearssl`, a `br_ec_impl`, where you gave `br_ec_prime_i31` or its like.{AROUND}."
            ),
            Called::Rsa => format!(
                "{README}`{file}_public` and `{file}_private` where you gave `br_rsa_i31_public` and `br_rsa_i31_private`. \
                 Keys of other sizes are left to these; define LOZENGE_ONLY to refuse them, which saves the flash.{AROUND} and \
                 its product of two words takes one time."
            ),
        }
    }

    /// The C file and its header, names and contents.
    pub(super) fn files(self, made: &Made<'_>) -> [(String, String); 2] {
        let (text, declarations) = match self {
            Called::X25519 => (
                include_str!("bearssl/x25519.c").into(),
                TABLE.replace("NAME", "x25519_bearssl"),
            ),
            Called::Points(curve) => (
                curve.file(made, HEAD, include_str!("points/bearssl.c")),
                TABLE.replace("NAME", &format!("{}_bearssl", made.file)),
            ),
            Called::Rsa => rsa(made),
        };
        let header = HEADER.replace("DECLARATIONS\n", &declarations);
        [(NAME, text), (HEADER_NAME, header)].map(|(name, text)| {
            let banner = made.banner(&format!("{name}: what BearSSL calls."));
            (name.into(), banner + &text)
        })
    }
}

/// The C file and the declarations of RSA.
fn rsa(made: &Made<'_>) -> (String, String) {
    let products = made.kernels.iter().filter(|k| is_product(k.spec().op));
    let bits = products.map(|k| k.spec().size.a).max().unwrap_or(0);
    let text = include_str!("bearssl/rsa.c").replace("COUNT", &(bits / LIMB).to_string());
    let declarations = RSA.replace("BITS", &bits.to_string());
    [text, declarations]
        .map(|text| text.replace("PREFIX", made.file))
        .into()
}
