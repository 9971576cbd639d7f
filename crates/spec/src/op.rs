//! Operations, and the sizes of their operands.

use std::fmt;

use serde::Serialize;

/// The operations, by their word on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// `r = a * b`, as long as both operands together.
    Mul,
    /// `r = a^2`.
    Sqr,
    /// `r = a * b mod 2^n`, the low half.
    Mullo,
    /// `r = floor(a * b / 2^n)`, the high half.
    Mulhi,
    /// `2^n c + r = a + b`; the carry `c` is returned.
    Add,
    /// `r - 2^n c = a - b`; the borrow `c` is returned.
    Sub,
    /// `2^n c + r = 2 a`; the bit `c` is returned.
    Shl,
    /// `r = floor(a / 2)`.
    Shr,
    /// `2^n c + r = a + b s` with a word `s`; the word `c` is returned.
    Addmul,
    /// `r - 2^n c = a - b s` with a word `s`; the word `c` is returned.
    Submul,
    /// `2^n c + r = a s` with a word `s`; the word `c` is returned.
    Mulword,
    /// `2^n c + r = a + b + s` with a bit `s`, a carry in; the carry `c` is returned.
    Addc,
    /// `r - 2^n c = a - b - s` with a bit `s`, a borrow in; the borrow `c` is returned.
    Subb,
    /// `2^n c + r = a + b s` with a bit `s`; the carry `c` is returned.
    Addif,
    /// `r - 2^n c = a - b s` with a bit `s`; the borrow `c` is returned.
    Subif,
    /// `r = b` if the bit `s` is 1, `a` if it is 0.
    Select,
    /// `r` is the two numbers in `a`, exchanged if the bit `s` is 1.
    Swap,
    /// The word `r` is 1 if `a` is 0, else 0.
    Iszero,
    /// The word `r` is 1 if `a = b`, else 0.
    Equal,
    /// `r = a * b * 2^-n mod m`, Montgomery's product.
    Montmul,
    /// `r = a^2 * 2^-n mod m`.
    Montsqr,
    /// `r = a * 2^-n mod m` of a number of twice the size: Montgomery's reduction.
    Redc,
    /// `r = a * 2^n mod m`: a number becomes a factor of Montgomery's.
    Tomont,
    /// `r = a * 2^-n mod m`: and a number again.
    Frommont,
    /// `r = a * b mod m`, or `r = a * b * 2^-shift mod m`.
    Modmul,
    /// `r = a^2 mod m`, or `r = a^2 * 2^-shift mod m`.
    Modsqr,
    /// `r = a + b mod m`.
    Modadd,
    /// `r = a - b mod m`.
    Modsub,
    /// `r = -a mod m`.
    Modneg,
    /// `r = a / 2 mod m`.
    Modhalf,
    /// `r = a * k mod m` with a number `k` that is in the code.
    Modtimes,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 31] = [
        Op::Mul,
        Op::Sqr,
        Op::Mullo,
        Op::Mulhi,
        Op::Add,
        Op::Sub,
        Op::Shl,
        Op::Shr,
        Op::Addmul,
        Op::Submul,
        Op::Mulword,
        Op::Addc,
        Op::Subb,
        Op::Addif,
        Op::Subif,
        Op::Select,
        Op::Swap,
        Op::Iszero,
        Op::Equal,
        Op::Montmul,
        Op::Montsqr,
        Op::Redc,
        Op::Tomont,
        Op::Frommont,
        Op::Modmul,
        Op::Modsqr,
        Op::Modadd,
        Op::Modsub,
        Op::Modneg,
        Op::Modhalf,
        Op::Modtimes,
    ];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Op::Mul => "mul",
            Op::Sqr => "sqr",
            Op::Mullo => "mullo",
            Op::Mulhi => "mulhi",
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Shl => "shl",
            Op::Shr => "shr",
            Op::Addmul => "addmul",
            Op::Submul => "submul",
            Op::Mulword => "mulword",
            Op::Addc => "addc",
            Op::Subb => "subb",
            Op::Addif => "addif",
            Op::Subif => "subif",
            Op::Select => "select",
            Op::Swap => "swap",
            Op::Iszero => "iszero",
            Op::Equal => "equal",
            Op::Montmul => "montmul",
            Op::Montsqr => "montsqr",
            Op::Redc => "redc",
            Op::Tomont => "tomont",
            Op::Frommont => "frommont",
            Op::Modmul => "modmul",
            Op::Modsqr => "modsqr",
            Op::Modadd => "modadd",
            Op::Modsub => "modsub",
            Op::Modneg => "modneg",
            Op::Modhalf => "modhalf",
            Op::Modtimes => "modtimes",
        }
    }

    /// How many factors are read: a, or a and b.
    pub fn factors(self) -> usize {
        match self {
            Op::Sqr | Op::Montsqr | Op::Modsqr | Op::Modneg | Op::Modhalf | Op::Modtimes => 1,
            Op::Redc | Op::Tomont | Op::Frommont => 1,
            Op::Shl | Op::Shr | Op::Mulword | Op::Swap | Op::Iszero => 1,
            _ => 2,
        }
    }

    /// Does the function return a word, the carry or borrow, besides what it writes?
    pub fn returns(self) -> bool {
        let row = matches!(self, Op::Addmul | Op::Submul | Op::Mulword);
        row || self.is_sum() || matches!(self, Op::Shl | Op::Addif | Op::Subif)
    }

    /// Is it a sum or difference of two numbers whose carry is returned?
    pub fn is_sum(self) -> bool {
        matches!(self, Op::Add | Op::Sub | Op::Addc | Op::Subb)
    }

    /// The most that the word `s` behind the factors may be, where the operation reads one of `word_bits` bits.
    pub fn most_of_word(self, word_bits: u32) -> Option<u64> {
        match self {
            Op::Addc | Op::Subb | Op::Addif | Op::Subif | Op::Select | Op::Swap => Some(1),
            Op::Addmul | Op::Submul | Op::Mulword => Some(u64::MAX >> (64 - word_bits)),
            Op::Mul
            | Op::Sqr
            | Op::Mullo
            | Op::Mulhi
            | Op::Add
            | Op::Sub
            | Op::Shl
            | Op::Shr
            | Op::Iszero
            | Op::Equal
            | Op::Montmul
            | Op::Montsqr
            | Op::Redc
            | Op::Tomont
            | Op::Frommont
            | Op::Modmul
            | Op::Modsqr
            | Op::Modadd
            | Op::Modsub
            | Op::Modneg
            | Op::Modhalf
            | Op::Modtimes => None,
        }
    }

    /// Is it the same for operands that are longer by zeros? Not where the result is what stands below or above 2^n, or a
    /// carry is returned.
    pub fn takes_shorter(self) -> bool {
        match self {
            Op::Mul | Op::Sqr => true,
            Op::Mullo | Op::Mulhi | Op::Add | Op::Sub | Op::Shl | Op::Addmul | Op::Swap => false,
            Op::Submul | Op::Mulword | Op::Addc | Op::Subb | Op::Addif | Op::Subif => false,
            Op::Shr | Op::Select | Op::Iszero | Op::Equal => true,
            Op::Montmul
            | Op::Montsqr
            | Op::Redc
            | Op::Tomont
            | Op::Frommont
            | Op::Modmul
            | Op::Modsqr
            | Op::Modadd
            | Op::Modsub
            | Op::Modneg
            | Op::Modhalf
            | Op::Modtimes => true,
        }
    }

    /// Does it work modulo a number?
    pub fn is_modular(self) -> bool {
        self.is_montgomery()
            || matches!(
                self,
                Op::Modmul
                    | Op::Modsqr
                    | Op::Modadd
                    | Op::Modsub
                    | Op::Modneg
                    | Op::Modhalf
                    | Op::Modtimes
            )
    }

    /// Does it reduce by Montgomery's quotients?
    pub fn is_montgomery(self) -> bool {
        matches!(
            self,
            Op::Montmul | Op::Montsqr | Op::Redc | Op::Tomont | Op::Frommont
        )
    }

    /// The equation, for operands of `n` bits.
    pub fn equation(self, n: &str) -> String {
        match self {
            Op::Mul => "r = a * b".into(),
            Op::Sqr => "r = a^2".into(),
            Op::Mullo => format!("r = a * b mod 2^{n}"),
            Op::Mulhi => format!("r = floor(a * b / 2^{n})"),
            Op::Add => format!("r + 2^{n} carry = a + b"),
            Op::Sub => format!("r - 2^{n} borrow = a - b"),
            Op::Shl => format!("r + 2^{n} carry = 2 a"),
            Op::Shr => "r = floor(a / 2)".into(),
            Op::Addmul => format!("r + 2^{n} carry = a + b * s"),
            Op::Submul => format!("r - 2^{n} borrow = a - b * s"),
            Op::Mulword => format!("r + 2^{n} carry = a * s"),
            Op::Addc => format!("r + 2^{n} carry = a + b + s"),
            Op::Subb => format!("r - 2^{n} borrow = a - b - s"),
            Op::Addif => format!("r + 2^{n} carry = a + b if s = 1, a if s = 0"),
            Op::Subif => format!("r - 2^{n} borrow = a - b if s = 1, a if s = 0"),
            Op::Select => "r = a if s = 0, b if s = 1".into(),
            Op::Swap => "r = the two numbers in a if s = 0, exchanged if s = 1".into(),
            Op::Iszero => "r = 1 if a = 0, else 0".into(),
            Op::Equal => "r = 1 if a = b, else 0".into(),
            Op::Montmul => format!("r = a * b * 2^-{n} mod m"),
            Op::Montsqr => format!("r = a^2 * 2^-{n} mod m"),
            Op::Redc | Op::Frommont => format!("r = a * 2^-{n} mod m"),
            Op::Tomont => format!("r = a * 2^{n} mod m"),
            Op::Modmul => "r = a * b mod m".into(),
            Op::Modsqr => "r = a^2 mod m".into(),
            Op::Modadd => "r = a + b mod m".into(),
            Op::Modsub => "r = a - b mod m".into(),
            Op::Modneg => "r = -a mod m".into(),
            Op::Modhalf => "r = a / 2 mod m".into(),
            Op::Modtimes => "r = a * k mod m".into(),
        }
    }
}

/// Bits of the operands: `160` for one size, `256x64` for two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    pub a: u32,
    pub b: u32,
}

impl Size {
    /// The same in whole words of `word_bits` bits: a shorter operand has zeros above it.
    pub fn rounded_up(self, word_bits: u32) -> Self {
        let up = |bits: u32| bits.div_ceil(word_bits).saturating_mul(word_bits);
        Self {
            a: up(self.a),
            b: up(self.b),
        }
    }
}

impl From<u32> for Size {
    fn from(bits: u32) -> Self {
        Self { a: bits, b: bits }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.a == self.b {
            true => write!(f, "{}", self.a),
            false => write!(f, "{}x{}", self.a, self.b),
        }
    }
}

/// The largest operand, in bits.
pub const MAX_BITS: u32 = 4096;
