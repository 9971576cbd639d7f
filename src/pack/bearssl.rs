//! `--for bearssl`: BearSSL's tables and functions over a pack, beside the library's own, which stay as they are.
//!
//! The library calls whole operations through pointers: curves by a `br_ec_impl`, RSA by a `br_rsa_public` and a
//! `br_rsa_private`. X25519 is such an operation already; the others are written in C over a pack's kernels.
//! RSA's private operation goes by the primes (Garner; RFC 8017, section 5.1.2); points of the curves of NIST are added by formulas
//! without exceptions (Renes, Costello and Batina 2016). Both have windows of 4 bits, whose entries are read all and masked.

use num_bigint::BigUint;
use spec::Op;

use crate::face::Kernel;
use crate::pack::data::Wanted;
use crate::pack::made::Made;

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

/// A curve `y^2 = x^3 - 3 x + b` of FIPS 186-4: the pack, the library's name, b and the generator's x and y.
#[derive(Debug)]
pub struct Curve {
    pack: &'static str,
    name: &'static str,
    b: &'static str,
    base: [&'static str; 2],
}

const CURVES: [Curve; 3] = [
    Curve {
        pack: "p256",
        name: "secp256r1",
        b: "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        base: [
            "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
            "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        ],
    },
    Curve {
        pack: "p384",
        name: "secp384r1",
        b: "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
        base: [
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
            "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        ],
    },
    Curve {
        pack: "p521",
        name: "secp521r1",
        b: "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        base: [
            "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
            "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
        ],
    },
];

/// Bits of a limb of the numbers of RSA and of points.
pub const LIMB: u32 = 32;

/// The files' names.
pub const NAME: &str = "bearssl_lozenge.c";
const HEADER_NAME: &str = "bearssl_lozenge.h";

/// The README begins so.
const README: &str = "BearSSL (tried with the version in the crate bearssl-sys): compile `bearssl_lozenge.c`, with BearSSL's folder `inc` and this \
                      one in the include path, and give ";

/// What is C around the kernels.
const AROUND: &str = " The functions around the kernels are C: time does not depend on secrets if the compiler's code for `a & mask` \
                      has no branch";

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
                points(curve, made),
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

/// 1 if the results of some of these kernels may not lie where operands do, else 0.
fn apart<'k>(kernels: impl IntoIterator<Item = &'k Kernel>) -> String {
    let in_place = kernels.into_iter().all(Made::in_place);
    u8::from(!in_place).to_string()
}

/// The C file and the declarations of RSA.
fn rsa(made: &Made<'_>) -> (String, String) {
    let products = made.kernels.iter().filter(|k| is_product(k.spec().op));
    let bits = products.clone().map(|k| k.spec().size.a).max().unwrap_or(0);
    let text = include_str!("bearssl/rsa.c")
        .replace("APART", &apart(products))
        .replace("COUNT", &(bits / LIMB).to_string());
    let declarations = RSA.replace("BITS", &bits.to_string());
    [text, declarations]
        .map(|text| text.replace("PREFIX", made.file))
        .into()
}

/// The C file of a curve.
fn points(curve: &Curve, made: &Made<'_>) -> String {
    let modulus = |op: Op| {
        let kernel = made.kernels.iter().find(|k| k.spec().op == op);
        let modular = kernel.and_then(|k| k.spec().modular.as_ref());
        modular.and_then(|m| m.fixed()).cloned().unwrap_or_default()
    };
    let (prime, order) = (modulus(Op::Modmul), modulus(Op::Montmul));
    let bytes = prime.bits().div_ceil(8) as usize;
    let hex = |text: &str| BigUint::parse_bytes(text.as_bytes(), 16).unwrap_or_default();
    let row = |number: &BigUint| listed(number, bytes);
    let array = |number: &BigUint| format!("{{{}\n}}", row(number));
    let ops = [Op::Modmul, Op::Modsqr, Op::Modadd, Op::Modsub];
    let field = made.kernels.iter().filter(|k| ops.contains(&k.spec().op));
    include_str!("bearssl/prime.c")
        .replace("APART", &apart(field))
        .replace("COUNT", &bytes.div_ceil(LIMB as usize / 8).to_string())
        .replace("BITS", &prime.bits().to_string())
        .replace("{PRIME}", &array(&prime))
        .replace("{ORDER}", &array(&order))
        .replace("{B}", &array(&hex(curve.b)))
        .replace("BASE", &curve.base.map(|x| row(&hex(x))).concat())
        .replace("BR_EC_NAME", &format!("BR_EC_{}", curve.name))
        .replace("PREFIX", made.file)
}

/// So many bytes, the highest first, as C reads them.
fn listed(number: &BigUint, bytes: usize) -> String {
    /// In a line.
    const LINE: usize = 16;
    let digits = number.to_bytes_be();
    let zeros = vec![0; bytes.saturating_sub(digits.len())];
    let all = [zeros, digits].concat();
    let line = |line: &[u8]| {
        let each = line.iter().map(|byte| format!("0x{byte:02x},"));
        format!("\n\t{}", each.collect::<Vec<_>>().join(" "))
    };
    all.chunks(LINE).map(line).collect()
}
