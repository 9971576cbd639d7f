//! Points of the curves of NIST, in C over a pack's kernels of the field.
//!
//! Points are added by formulas without exceptions (Renes, Costello and Batina 2016), and multiplied with windows of 4 bits, whose
//! entries are read all and masked.

use num_bigint::BigUint;
use spec::Op;

use crate::pack::made::Made;

/// A curve `y^2 = x^3 - 3 x + b` of FIPS 186-4.
#[derive(Debug)]
pub struct Curve {
    /// The pack with its kernels.
    pub pack: &'static str,
    /// Its name of SEC 2.
    pub name: &'static str,
    b: &'static str,
    /// The generator's x and y.
    base: [&'static str; 2],
}

/// All of them.
pub const CURVES: [Curve; 3] = [
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

/// Bits of a limb.
pub const LIMB: u32 = 32;

impl Curve {
    /// A C file: `head`, which includes what it needs, points, and `tail`, which uses them.
    pub fn file(&self, made: &Made<'_>, head: &str, tail: &str) -> String {
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
        let points = include_str!("points/points.c");
        [head, points, tail]
            .concat()
            .replace("COUNT", &bytes.div_ceil(LIMB as usize / 8).to_string())
            .replace("BITS", &prime.bits().to_string())
            .replace("{PRIME}", &array(&prime))
            .replace("{ORDER}", &array(&order))
            .replace("{B}", &array(&hex(self.b)))
            .replace("BASE", &self.base.map(|x| row(&hex(x))).concat())
            .replace("BR_EC_NAME", &format!("BR_EC_{}", self.name))
            .replace("PREFIX", made.file)
    }
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
