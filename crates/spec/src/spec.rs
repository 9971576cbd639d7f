//! An operation, the sizes of its operands, and what it works modulo.

use std::str::FromStr;

use num_bigint::BigUint;

use crate::alias::Alias;
use crate::error::SpecError;
use crate::folded;
use crate::modulus::{Modular, Modulus, Reduce};
use crate::op::{MAX_BITS, Op, Size};

/// An operation, the sizes of its operands, and what it works modulo.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    pub op: Op,
    /// Bits of a and b; of a reduction, those of the modulus.
    pub size: Size,
    /// Of a modular operation.
    pub modular: Option<Modular>,
    /// Bits of a machine word.
    pub word_bits: u32,
}

/// A source operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    pub name: &'static str,
    pub bits: u32,
}

impl Spec {
    /// A spec on a machine of `word_bits` bits.
    ///
    /// # Errors
    /// When a size is zero, over [`MAX_BITS`] or not a multiple of `word_bits`, or when there
    /// are two and the operation takes one.
    pub fn new(op: Op, size: impl Into<Size>, word_bits: u32) -> Result<Self, SpecError> {
        Self::with(op, size, None, word_bits)
    }

    /// The same, modulo a number where the operation needs one.
    ///
    /// # Errors
    /// Also when the modulus is missing, even, or does not fit.
    pub fn with(
        op: Op,
        size: impl Into<Size>,
        modular: Option<Modular>,
        word_bits: u32,
    ) -> Result<Self, SpecError> {
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
        let agree = match op {
            Op::Mul => true,
            op if op.is_sum() => size.a >= size.b,
            _ => size.a == size.b,
        };
        if !agree {
            return Err(SpecError::TwoSizes(op.name(), size, size.a));
        }
        match &modular {
            None if op.is_modular() => {
                let operand = match op {
                    // Folded by its form, which must be known.
                    Op::Modmul | Op::Modsqr => {
                        "--modulus secp256k1 (for a modulus at run time: montmul)"
                    }
                    _ => "--modulus runtime",
                };
                return Err(SpecError::NoModulus(op.name(), operand));
            }
            Some(_) if !op.is_modular() => return Err(SpecError::NotModular(op.name())),
            Some(modular) => fits(op, modular, size.a, word_bits)?,
            None => {}
        }
        Ok(Self {
            op,
            size,
            modular,
            word_bits,
        })
    }

    /// The sources: factors, and a modulus that is known at run time only, in Montgomery's operations
    /// followed by `m' = -m^-1 mod 2^w`, and where a factor of Montgomery's is made by `2^(2n) mod m`; or a word `s`.
    pub fn sources(&self) -> Vec<Source> {
        let bits = match self.op {
            Op::Redc | Op::Swap => [2 * self.size.a, 0],
            _ => [self.size.a, self.size.b],
        };
        let source = |(name, bits)| Source { name, bits };
        let factors = ["a", "b"].into_iter().zip(bits).take(self.op.factors());
        let inverse = if self.inverse_follows() {
            self.word_bits
        } else {
            0
        };
        let square = if self.op == Op::Tomont {
            self.size.a
        } else {
            0
        };
        let fold = if self.is_folded() {
            let words = self.words(self.word_bits)[0];
            folded::following(words) as u32 * self.word_bits
        } else {
            0
        };
        let modulus = self
            .is_runtime()
            .then(|| ("m", self.size.a + inverse + square + fold));
        let word = self.op.most_of_word(self.word_bits);
        let word = word.map(|_| ("s", self.word_bits));
        factors.chain(modulus).chain(word).map(source).collect()
    }

    /// Bytes of each source.
    pub fn source_bytes(&self) -> Vec<usize> {
        let sources = self.sources();
        sources.iter().map(|s| s.bits as usize / 8).collect()
    }

    /// Is the modulus an operand?
    pub fn is_runtime(&self) -> bool {
        let modulus = self.modular.as_ref().map(|m| &m.modulus);
        matches!(
            modulus,
            Some(Modulus::Runtime | Modulus::RuntimeBare | Modulus::RuntimeFolded)
        )
    }

    /// Does what [`folded`] says follow the modulus?
    pub fn is_folded(&self) -> bool {
        let modulus = self.modular.as_ref().map(|m| &m.modulus);
        modulus == Some(&Modulus::RuntimeFolded)
    }

    /// Must a modulus at run time have a 1 as its top bit? Sums below `2^(n+1)` come below `2^n` then by taking
    /// it twice.
    pub fn has_all_bits(&self) -> bool {
        let almost = |modular: &Modular| modular.reduce == Reduce::Almost;
        self.is_runtime()
            && matches!(self.op, Op::Modadd | Op::Modsub | Op::Modneg)
            && self.modular.as_ref().is_some_and(almost)
    }

    /// The ends of what a modulus at run time lies between.
    pub fn modulus_range(&self) -> [BigUint; 2] {
        let power = |bits| BigUint::from(1u8) << bits;
        let n = self.size.a;
        match self.modular.as_ref().map(|modular| modular.reduce) {
            Some(Reduce::Lazy) => [power(0), power(n - 2)],
            _ if self.has_all_bits() => [power(n - 1), power(n)],
            _ => [power(0), power(n)],
        }
    }

    /// Does `m' = -m^-1 mod 2^w` follow the modulus?
    pub fn inverse_follows(&self) -> bool {
        let modulus = self.modular.as_ref().map(|m| &m.modulus);
        self.op.is_montgomery() && modulus == Some(&Modulus::Runtime)
    }

    /// Words of the factors a and b; those of a twice when it is squared.
    pub fn words(&self, word_bits: u32) -> [usize; 2] {
        [self.size.a, self.size.b].map(|bits| (bits / word_bits) as usize)
    }

    /// Bits of the result.
    pub fn result_bits(&self) -> u32 {
        match self.op {
            Op::Mul | Op::Sqr => self.size.a + self.size.b,
            Op::Swap => 2 * self.size.a,
            Op::Iszero | Op::Equal => self.word_bits,
            _ => self.size.a,
        }
    }

    /// Bytes of the result.
    pub fn result_bytes(&self) -> usize {
        self.result_bits() as usize / 8
    }

    /// The modulus among `sources`, if there is one.
    pub fn modulus(&self, sources: &[BigUint]) -> Option<BigUint> {
        let low = |m: &BigUint| m % (BigUint::from(1u8) << self.size.a);
        match &self.modular.as_ref()?.modulus {
            Modulus::Fixed { value, .. } => Some(value.clone()),
            Modulus::Runtime | Modulus::RuntimeBare | Modulus::RuntimeFolded => {
                sources.last().map(low)
            }
        }
    }

    /// What the operation makes of `sources`; modulo a number, its smallest representative. What is
    /// returned stands above what is written.
    pub fn value(&self, sources: &[BigUint]) -> BigUint {
        let (bits, one) = (self.size.a, BigUint::from(1u8));
        let product: BigUint = sources.iter().take(self.op.factors()).product();
        // x 2^-halvings modulo m: 1/2 = (m + 1) / 2.
        let halved = |x: BigUint, halvings: u32| match self.modulus(sources) {
            Some(m) => x * ((&m + 1u8) >> 1u8).modpow(&halvings.into(), &m) % &m,
            None => x,
        };
        let reduced = |x: BigUint| match self.modulus(sources) {
            Some(m) => x % m,
            None => x,
        };
        let negated = |x: &BigUint| match self.modulus(sources) {
            Some(m) => &m - x % &m,
            None => x.clone(),
        };
        match self.op {
            Op::Mul => product,
            Op::Sqr => &product * &product,
            Op::Mullo => product % (BigUint::from(1u8) << bits),
            Op::Mulhi => product >> bits,
            Op::Add => &sources[0] + &sources[1],
            Op::Addc => &sources[0] + &sources[1] + &sources[2],
            Op::Sub => borrowed(&sources[0], &sources[1], bits),
            Op::Subb => borrowed(&sources[0], &(&sources[1] + &sources[2]), bits),
            Op::Submul | Op::Subif => borrowed(&sources[0], &(&sources[1] * &sources[2]), bits),
            Op::Mulword => &sources[0] * &sources[1],
            Op::Shl => &sources[0] << 1,
            Op::Shr => &sources[0] >> 1,
            Op::Addmul | Op::Addif => &sources[0] + &sources[1] * &sources[2],
            Op::Select => sources[usize::from(sources[2] == one)].clone(),
            Op::Swap if sources[1] == one => {
                (&sources[0] >> bits) + ((&sources[0] % (&one << bits)) << bits)
            }
            Op::Swap => sources[0].clone(),
            Op::Iszero => u8::from(sources[0] == BigUint::ZERO).into(),
            Op::Equal => u8::from(sources[0] == sources[1]).into(),
            Op::Montmul | Op::Redc | Op::Frommont => halved(product, bits),
            Op::Montsqr => halved(&product * &product, bits),
            Op::Tomont => reduced(product << bits),
            Op::Modhalf => halved(product, 1),
            Op::Modmul => halved(product, self.shift()),
            Op::Modsqr => halved(&product * &product, self.shift()),
            Op::Modadd => reduced(&sources[0] + &sources[1]),
            Op::Modsub => reduced(&sources[0] + negated(&sources[1])),
            Op::Modneg => reduced(negated(&sources[0])),
            Op::Modtimes => reduced(product * self.times()),
        }
    }

    /// Is `result` what the operation makes of `sources`, as far as the contract says?
    pub fn accepts(&self, sources: &[BigUint], result: &BigUint) -> bool {
        let want = self.value(sources);
        match (&self.modular, self.modulus(sources)) {
            (Some(modular), Some(m)) => {
                result % &m == want && *result < modular.reduce.bound(&m, self.size.a)
            }
            _ => *result == want,
        }
    }

    /// What each factor must be below, if that is less than what its words hold.
    pub fn limit(&self, sources: &[BigUint]) -> Option<BigUint> {
        let modular = self.modular.as_ref()?;
        let m = self.modulus(sources)?;
        match (self.op, modular.reduce) {
            (Op::Redc, _) if self.is_folded() => None,
            // Below 2^n m the reduced number is below 2 m.
            (Op::Redc, _) => Some(m << self.size.a),
            (_, Reduce::Almost) => None,
            (_, reduce) => Some(reduce.bound(&m, self.size.a)),
        }
    }

    /// How far numbers are shifted: `2^-shift` is a factor of products and squares.
    pub fn shift(&self) -> u32 {
        self.modular.as_ref().map_or(0, |modular| modular.shift)
    }

    /// The number that a number is multiplied by: `k`.
    pub fn times(&self) -> u32 {
        self.modular.as_ref().map_or(0, |modular| modular.times)
    }

    /// The equation: `r = a * b`.
    pub fn equation(&self) -> String {
        let equation = self.op.equation(&self.size.a.to_string());
        match (self.shift(), self.times()) {
            (0, 0) => equation,
            (0, times) => equation.replace(" k ", &format!(" {times} ")),
            (shift, _) => equation.replace(" mod", &format!(" * 2^-{shift} mod")),
        }
    }

    /// The contract of a modular operation: what operands and result are below.
    pub fn contract(&self) -> Option<String> {
        let modular = self.modular.as_ref()?;
        let n = self.size.a;
        let bound = modular.reduce.bound_text(n);
        let factors = match self.op {
            Op::Redc if self.is_folded() => format!("a < 2^{}", 2 * n),
            Op::Redc => format!("a < 2^{n} m"),
            _ if self.op.factors() == 1 => format!("a < {bound}"),
            _ => format!("a, b < {bound}"),
        };
        let modulus = match (&modular.modulus, modular.reduce) {
            (Modulus::Fixed { .. }, _) => return Some(format!("{factors} give r < {bound}")),
            (_, Reduce::Lazy) => format!("1 < m <= 2^{}", n - 2),
            _ if self.has_all_bits() => format!("2^{} <= m", n - 1),
            _ => "1 < m".into(),
        };
        let w = self.word_bits;
        let inverse = format!("the word -m^-1 mod 2^{w}");
        let square = format!("2^{} mod m", 2 * n);
        let follow = [
            self.inverse_follows().then_some(inverse),
            (self.op == Op::Tomont).then_some(square),
        ];
        let mut follow: Vec<_> = follow.into_iter().flatten().collect();
        if self.is_folded() {
            follow = folded::contract(n, w);
        }
        let odd = match self.op.is_montgomery() || self.op == Op::Modhalf {
            true => "odd m, ",
            false => "",
        };
        let followed = match follow.as_slice() {
            [] => String::new(),
            words => format!(", followed by {}", words.join(" and ")),
        };
        Some(format!(
            "{odd}{modulus}{followed}; {factors} give r < {bound}"
        ))
    }

    /// The symbol: `mul160`, `mul256x64`, `montmul160_secp160r1`.
    pub fn symbol(&self) -> String {
        let modulus = match self.modular.as_ref().map(|m| &m.modulus) {
            Some(Modulus::Fixed { text, .. }) if !text.starts_with("0x") => {
                format!("_{}", text.replace('-', "_"))
            }
            _ => String::new(),
        };
        let shift = match (self.shift(), self.times()) {
            (0, 0) => String::new(),
            (0, times) => format!("_{times}"),
            (shift, _) => format!("_shift{shift}"),
        };
        format!("{}{}{modulus}{shift}", self.op.name(), self.size)
    }

    /// The cases of aliasing, distinct operands first.
    pub fn aliases(&self) -> &'static [Alias] {
        match self.op.factors() {
            1 => &[Alias::Distinct, Alias::RIsA],
            _ => &Alias::ALL,
        }
    }
}

/// Can one reduce modulo it in `bits` bits?
pub fn fits(op: Op, modular: &Modular, bits: u32, word_bits: u32) -> Result<(), SpecError> {
    if modular.shift > 0 {
        match (op, modular.fixed()) {
            (Op::Modmul | Op::Modsqr, Some(_)) if modular.shift <= bits => {}
            (Op::Modmul | Op::Modsqr, Some(_)) => {
                return Err(SpecError::Shift(modular.shift, bits, bits / 2));
            }
            (Op::Modmul | Op::Modsqr, None) => return Err(SpecError::ShiftedRuntime),
            _ => return Err(SpecError::Shifted(op.name())),
        }
    }
    let most = 32.min(bits);
    match (op, modular.times, modular.fixed()) {
        (Op::Modtimes, 0, _) => return Err(SpecError::NoTimes(op.name())),
        (Op::Modtimes, _, None) => return Err(SpecError::TimesRuntime),
        (Op::Modtimes, times, Some(_)) if u64::from(times) >> most > 0 => {
            return Err(SpecError::LargeTimes(times, most));
        }
        (Op::Modtimes, ..) | (_, 0, _) => {}
        (_, _, _) => return Err(SpecError::Times(op.name())),
    }
    if modular.modulus == Modulus::RuntimeFolded {
        return match (op, modular.reduce) {
            (Op::Redc, Reduce::Almost) if bits.is_multiple_of(4 * word_bits) => Ok(()),
            (Op::Redc, Reduce::Almost) => Err(SpecError::Quarters(
                bits,
                bits.next_multiple_of(4 * word_bits),
            )),
            (Op::Redc, reduce) => Err(SpecError::FoldedReduce(reduce.name())),
            _ => Err(SpecError::Folded(op.name())),
        };
    }
    let Modulus::Fixed { value, text } = &modular.modulus else {
        return Ok(());
    };
    let text = text.clone();
    if *value < BigUint::from(3u8) {
        return Err(SpecError::SmallModulus(text));
    }
    if !value.bit(0) {
        return Err(SpecError::Even(text, op.name()));
    }
    if value.bits() > u64::from(bits) {
        let near = value.bits().next_multiple_of(u64::from(word_bits));
        return Err(SpecError::LargeModulus(text, value.bits(), bits, near));
    }
    if modular.reduce == Reduce::Lazy && value.bits() + 2 > u64::from(bits) {
        return Err(SpecError::NotLazy(bits, text));
    }
    Ok(())
}

impl Alias {
    /// The same for r and the sources of `spec`; a modulus or a word `s` shares its place with nothing.
    pub fn of(self, spec: &Spec) -> Vec<usize> {
        let factors = self.places().into_iter().take(1 + spec.op.factors());
        let word = spec.op.most_of_word(spec.word_bits).is_some();
        factors
            .chain((spec.is_runtime() || word).then_some(3))
            .collect()
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
/// `x - y` in words of so many bits, where it is below 0 `x - y + 2^bits c` for the least such `c`, which stands above.
fn borrowed(x: &BigUint, y: &BigUint, bits: u32) -> BigUint {
    if x >= y {
        return x - y;
    }
    let below = y - x;
    let power = BigUint::from(1u8) << bits;
    let borrow = (&below + &power - 1u8) / &power;
    let difference = &borrow * &power - below;
    difference + borrow * power
}
