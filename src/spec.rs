//! What a kernel computes: the operation, its sizes, and which operands may share memory.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;
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
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 6] = [Op::Mul, Op::Sqr, Op::Mullo, Op::Mulhi, Op::Add, Op::Sub];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Op::Mul => "mul",
            Op::Sqr => "sqr",
            Op::Mullo => "mullo",
            Op::Mulhi => "mulhi",
            Op::Add => "add",
            Op::Sub => "sub",
        }
    }

    /// How many operands are read: a, or a and b.
    pub fn sources(self) -> usize {
        match self {
            Op::Sqr => 1,
            Op::Mul | Op::Mullo | Op::Mulhi | Op::Add | Op::Sub => 2,
        }
    }

    /// Does the function return a word, the carry or borrow, besides what it writes?
    pub fn returns(self) -> bool {
        matches!(self, Op::Add | Op::Sub)
    }

    /// What the operation makes of its sources, the first of which has `bits` bits; what is
    /// returned stands above what is written.
    pub fn value(self, sources: &[BigUint], bits: u32) -> BigUint {
        let product: BigUint = sources.iter().product();
        let [a, b] = [&sources[0], &sources[sources.len() - 1]];
        match self {
            Op::Mul => product,
            Op::Sqr => &product * &product,
            Op::Mullo => product % (BigUint::from(1u8) << bits),
            Op::Mulhi => product >> bits,
            Op::Add => a + b,
            // 2^n + (2^n + a - b): a borrow of 1 is bit n.
            Op::Sub if a < b => (BigUint::from(2u8) << bits) + a - b,
            Op::Sub => a - b,
        }
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
        }
    }
}

/// Bits of the operands: `160` for one size, `256x64` for two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    pub a: u32,
    pub b: u32,
}

impl From<u32> for Size {
    fn from(bits: u32) -> Self {
        Self { a: bits, b: bits }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            let wrong = |_| format!("{text} is not a size in bits: try 160 or 256x64");
            part.parse::<u32>().map_err(wrong)
        };
        match text.split_once('x') {
            Some((a, b)) => Ok(Self {
                a: number(a)?,
                b: number(b)?,
            }),
            None => Ok(number(text)?.into()),
        }
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

/// An operation and the sizes of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    pub op: Op,
    pub size: Size,
}

/// A size no kernel can have.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum SpecError {
    #[error("{0} bits: an operand has at least one word: try {1}")]
    Zero(u32, u32),
    #[error("{0} bits are not a whole number of {1}-bit words: try {2}")]
    NotWhole(u32, u32, String),
    #[error("{0} bits: the largest operand is {MAX_BITS} bits")]
    TooLarge(u32),
    #[error("{0} {1}: only mul has operands of two sizes: try {0} {2}")]
    TwoSizes(&'static str, Size, u32),
}

impl Spec {
    /// A spec on a machine of `word_bits` bits.
    ///
    /// # Errors
    /// When a size is zero, over [`MAX_BITS`] or not a multiple of `word_bits`, or when there
    /// are two and the operation takes one.
    pub fn new(op: Op, size: impl Into<Size>, word_bits: u32) -> Result<Self, SpecError> {
        let size = size.into();
        for bits in [size.a, size.b] {
            if bits == 0 {
                return Err(SpecError::Zero(bits, word_bits));
            }
            if bits > MAX_BITS {
                return Err(SpecError::TooLarge(bits));
            }
            if !bits.is_multiple_of(word_bits) {
                let down = bits / word_bits * word_bits;
                let near = match down {
                    0 => word_bits.to_string(),
                    _ => format!("{down} or {}", down + word_bits),
                };
                return Err(SpecError::NotWhole(bits, word_bits, near));
            }
        }
        if op != Op::Mul && size.a != size.b {
            return Err(SpecError::TwoSizes(op.name(), size, size.a));
        }
        Ok(Self { op, size })
    }

    /// Bits of each source.
    pub fn source_bits(&self) -> Vec<u32> {
        let mut bits = vec![self.size.a, self.size.b];
        bits.truncate(self.op.sources());
        bits
    }

    /// Bytes of each source.
    pub fn source_bytes(&self) -> Vec<usize> {
        let bits = self.source_bits();
        bits.iter().map(|bits| *bits as usize / 8).collect()
    }

    /// Words of the factors a and b; those of a twice when it is squared.
    pub fn words(&self, word_bits: u32) -> [usize; 2] {
        [self.size.a, self.size.b].map(|bits| (bits / word_bits) as usize)
    }

    /// Bits of the result.
    pub fn result_bits(&self) -> u32 {
        match self.op {
            Op::Mul | Op::Sqr => self.size.a + self.size.b,
            Op::Mullo | Op::Mulhi | Op::Add | Op::Sub => self.size.a,
        }
    }

    /// Bytes of the result.
    pub fn result_bytes(&self) -> usize {
        self.result_bits() as usize / 8
    }

    /// What the operation makes of `sources`.
    pub fn value(&self, sources: &[BigUint]) -> BigUint {
        self.op.value(sources, self.size.a)
    }

    /// The equation: `r = a * b`.
    pub fn equation(&self) -> String {
        self.op.equation(&self.size.a.to_string())
    }

    /// The symbol: `mul160`, `mul256x64`.
    pub fn symbol(&self) -> String {
        format!("{}{}", self.op.name(), self.size)
    }

    /// The cases of aliasing, distinct operands first.
    pub fn aliases(&self) -> &'static [Alias] {
        match self.op.sources() {
            1 => &[Alias::Distinct, Alias::RIsA],
            _ => &Alias::ALL,
        }
    }
}

/// Which operands start at the same address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Alias {
    #[serde(rename = "distinct")]
    Distinct,
    #[serde(rename = "a == b")]
    AIsB,
    #[serde(rename = "r == a")]
    RIsA,
    #[serde(rename = "r == b")]
    RIsB,
    #[serde(rename = "r == a == b")]
    All,
}

impl Alias {
    /// Every case, the two that the contract always offers first.
    pub const ALL: [Alias; 5] = [
        Alias::Distinct,
        Alias::AIsB,
        Alias::RIsA,
        Alias::RIsB,
        Alias::All,
    ];

    /// Must a kernel be proved for this case to be written?
    pub fn is_required(self) -> bool {
        matches!(self, Alias::Distinct | Alias::AIsB)
    }

    /// As the header says it.
    pub fn text(self) -> &'static str {
        match self {
            Alias::Distinct => "r, a, b distinct",
            Alias::AIsB => "a == b",
            Alias::RIsA => "r == a",
            Alias::RIsB => "r == b",
            Alias::All => "r == a == b",
        }
    }

    /// For r, a and b: a number, the same for those that share an address.
    pub fn places(self) -> [usize; 3] {
        match self {
            Alias::Distinct => [0, 1, 2],
            Alias::AIsB => [0, 1, 1],
            Alias::RIsA => [0, 0, 2],
            Alias::RIsB => [0, 1, 0],
            Alias::All => [0, 0, 0],
        }
    }
}
