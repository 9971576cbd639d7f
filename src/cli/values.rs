//! The values of arguments: names of operations, dialects and the like, and their parsers.

use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lozenge::emit::Assembler;
use lozenge::method::METHODS;
use lozenge::method::signature::PLAN;
use lozenge::nearest::did_you_mean;
use lozenge::plans::{self, Plan};
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{self, Alias};
use num_bigint::BigUint;

/// The operations on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum OpArg {
    /// r = a * b, also of two sizes: 256x64
    Mul,
    /// r = a^2
    Sqr,
    /// r = a * b mod 2^n, the low half
    Mullo,
    /// r = floor(a * b / 2^n), the high half
    Mulhi,
    /// r + 2^n carry = a + b, the carry returned
    Add,
    /// r - 2^n borrow = a - b, the borrow returned
    Sub,
    /// r + 2^n carry = 2 a, the carry returned
    Shl,
    /// r = floor(a / 2)
    Shr,
    /// r + 2^n carry = a + b * s, s a word, the carry returned
    Addmul,
    /// r - 2^n borrow = a - b * s, s a word, the borrow returned
    Submul,
    /// r + 2^n carry = a * s, s a word, the carry returned
    Mulword,
    /// r + 2^n carry = a + b + s, s a carry in, the carry returned
    Addc,
    /// r - 2^n borrow = a - b - s, s a borrow in, the borrow returned
    Subb,
    /// r + 2^n carry = a + b if s = 1, a if s = 0, the carry returned
    Addif,
    /// r - 2^n borrow = a - b if s = 1, a if s = 0, the borrow returned
    Subif,
    /// r = a if s = 0, b if s = 1
    Select,
    /// r = the two numbers in a, exchanged if s = 1
    Swap,
    /// r = 1 if a = 0, else 0
    Iszero,
    /// r = 1 if a = b, else 0
    Equal,
    /// r = a * b * 2^-n mod m, Montgomery's product
    Montmul,
    /// r = a^2 * 2^-n mod m
    Montsqr,
    /// r = a * 2^-n mod m, a of twice the size
    Redc,
    /// r = a * 2^n mod m
    Tomont,
    /// r = a * 2^-n mod m, a below m
    Frommont,
    /// r = a * b mod m
    Modmul,
    /// r = a^2 mod m
    Modsqr,
    /// r = a + b mod m
    Modadd,
    /// r = a - b mod m
    Modsub,
    /// r = -a mod m
    Modneg,
    /// r = a / 2 mod m
    Modhalf,
    /// r = a * k mod m, the number k by --times
    Modtimes,
}

impl From<OpArg> for spec::Op {
    fn from(op: OpArg) -> Self {
        match op {
            OpArg::Mul => spec::Op::Mul,
            OpArg::Sqr => spec::Op::Sqr,
            OpArg::Mullo => spec::Op::Mullo,
            OpArg::Mulhi => spec::Op::Mulhi,
            OpArg::Add => spec::Op::Add,
            OpArg::Sub => spec::Op::Sub,
            OpArg::Shl => spec::Op::Shl,
            OpArg::Shr => spec::Op::Shr,
            OpArg::Addmul => spec::Op::Addmul,
            OpArg::Submul => spec::Op::Submul,
            OpArg::Mulword => spec::Op::Mulword,
            OpArg::Addc => spec::Op::Addc,
            OpArg::Subb => spec::Op::Subb,
            OpArg::Addif => spec::Op::Addif,
            OpArg::Subif => spec::Op::Subif,
            OpArg::Select => spec::Op::Select,
            OpArg::Swap => spec::Op::Swap,
            OpArg::Iszero => spec::Op::Iszero,
            OpArg::Equal => spec::Op::Equal,
            OpArg::Montmul => spec::Op::Montmul,
            OpArg::Montsqr => spec::Op::Montsqr,
            OpArg::Redc => spec::Op::Redc,
            OpArg::Tomont => spec::Op::Tomont,
            OpArg::Frommont => spec::Op::Frommont,
            OpArg::Modmul => spec::Op::Modmul,
            OpArg::Modsqr => spec::Op::Modsqr,
            OpArg::Modadd => spec::Op::Modadd,
            OpArg::Modsub => spec::Op::Modsub,
            OpArg::Modneg => spec::Op::Modneg,
            OpArg::Modhalf => spec::Op::Modhalf,
            OpArg::Modtimes => spec::Op::Modtimes,
        }
    }
}

impl OpArg {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        spec::Op::from(self).name()
    }
}

/// What `gen` makes: a kernel, or a driver with its kernels.
#[derive(Clone, Copy)]
pub enum GenOp {
    Kernel(OpArg),
    Driver(DriverOp),
}

impl GenOp {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            GenOp::Kernel(op) => op.name(),
            GenOp::Driver(op) => op.name(),
        }
    }
}

/// Whole computations.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DriverOp {
    /// base^exponent mod m, m odd and an operand
    Modexp,
    /// 1 / base mod m, m a prime that is in the kernels
    Modinv,
    /// RSA's private operation by way of the primes (CRT): input^d mod p q
    Rsa,
    /// RSA's public operation: input^65537 mod m
    RsaPublic,
}

impl DriverOp {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DriverOp::Modexp => "modexp",
            DriverOp::Modinv => "modinv",
            DriverOp::Rsa => "rsa",
            DriverOp::RsaPublic => "rsa-public",
        }
    }
}

/// The operations that kernels are made for; `check` knows others.
fn made() -> impl Iterator<Item = &'static OpArg> {
    let has_method = |op: &&OpArg| METHODS.iter().any(|m| m.computes(spec::Op::from(**op)));
    OpArg::value_variants().iter().filter(has_method)
}

/// The operations of `compare`.
pub fn kernel_op() -> impl TypedValueParser<Value = OpArg> {
    let values: Vec<_> = made().filter_map(OpArg::to_possible_value).collect();
    PossibleValuesParser::new(values).try_map(|name| OpArg::from_str(&name, false))
}

/// The operations of `gen`: those of kernels, and those of drivers.
pub fn gen_op() -> impl TypedValueParser<Value = GenOp> {
    let values = |list: Vec<Option<PossibleValue>>| list.into_iter().flatten();
    let kernels = made().map(|op| op.to_possible_value());
    let drivers = DriverOp::value_variants().iter();
    let drivers = drivers.map(DriverOp::to_possible_value);
    let all = PossibleValuesParser::new(values(kernels.chain(drivers).collect()));
    all.try_map(|name| {
        let kernel = OpArg::from_str(&name, false).map(GenOp::Kernel);
        kernel.or_else(|_| DriverOp::from_str(&name, false).map(GenOp::Driver))
    })
}

/// Who knows the exponent.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SecrecyArg {
    /// Time may not depend on it
    Secret,
    /// Time may depend on it
    Public,
}

/// The languages of drivers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LanguageArg {
    /// Assembly, and an object
    Asm,
    /// C, for your compiler: whether that keeps its time constant, nobody has looked
    C,
}

/// The reductions on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum ReduceArg {
    /// Below m
    Full,
    /// Below 2^n
    Almost,
    /// Below 2m, for 4m <= 2^n
    Lazy,
}

impl From<ReduceArg> for Reduce {
    fn from(reduce: ReduceArg) -> Self {
        match reduce {
            ReduceArg::Full => Reduce::Full,
            ReduceArg::Almost => Reduce::Almost,
            ReduceArg::Lazy => Reduce::Lazy,
        }
    }
}

/// Overlaps with the result on the command line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AliasArg {
    /// The result may be the first operand
    #[value(name = "r=a")]
    RIsA,
    /// The result may be the second operand
    #[value(name = "r=b")]
    RIsB,
    /// All three may be one
    #[value(name = "r=a=b")]
    All,
}

/// The overlaps that are asked for; whoever may overlap either operand may overlap one that is both.
pub fn aliases(given: &[AliasArg], op: spec::Op) -> Vec<Alias> {
    let has = |alias: AliasArg| given.contains(&alias);
    let both = has(AliasArg::RIsA) && has(AliasArg::RIsB) && op.factors() == 2;
    let asked = [
        (Alias::RIsA, has(AliasArg::RIsA)),
        (Alias::RIsB, has(AliasArg::RIsB)),
        (Alias::All, has(AliasArg::All) || both),
    ];
    let asked = asked.into_iter().filter(|(_, asked)| *asked);
    asked.map(|(alias, _)| alias).collect()
}

/// The dialects on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum DialectArg {
    /// GNU as, through the C preprocessor
    Gnu,
    /// IAR, for AVR, ARM and MSP430
    Iar,
    /// Rowley CrossWorks, for AVR
    #[value(name = "crossworks")]
    CrossWorks,
    /// ARM and Keil, for ARM
    Armasm,
    /// TI, for MSP430
    Ti,
}

impl From<DialectArg> for Assembler {
    fn from(dialect: DialectArg) -> Self {
        match dialect {
            DialectArg::Gnu => Assembler::Gnu,
            DialectArg::Iar => Assembler::Iar,
            DialectArg::CrossWorks => Assembler::CrossWorks,
            DialectArg::Armasm => Assembler::Armasm,
            DialectArg::Ti => Assembler::Ti,
        }
    }
}

/// What `list` lists.
#[derive(Clone, Copy, ValueEnum)]
pub enum Topic {
    Methods,
    Cores,
    Mcus,
    Ops,
    /// Karatsuba's plans: names for choices of its method
    Plans,
    /// Moduli with a name
    Moduli,
}

/// A number, decimal or 0x-hexadecimal.
pub fn number(text: &str) -> Result<BigUint, String> {
    let digits = match text.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
        None => BigUint::parse_bytes(text.as_bytes(), 10),
    };
    digits.ok_or_else(|| format!("{text} is not a number: try 65537 or 0x10001"))
}

/// A prefix for names in C.
pub fn identifier(text: &str) -> Result<String, String> {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let fits =
        text.starts_with(is_start) && text.chars().all(|c| is_start(c) || c.is_ascii_digit());
    if fits || text.is_empty() {
        return Ok(text.to_string());
    }
    Err("a name in C begins with a letter and goes on with letters, digits and _: try lz_".into())
}

/// A parameter of a method as it is typed.
#[derive(Clone, Debug)]
pub enum Given {
    /// `e=10`.
    Number(String, usize),
    /// `plan=k160-a`.
    Plan(Arc<Plan>),
}

impl Given {
    /// The parameter.
    pub fn name(&self) -> &str {
        match self {
            Given::Number(name, _) => name,
            Given::Plan(_) => PLAN,
        }
    }
}

/// `NAME=VALUE`, or the name of a plan.
pub fn given(text: &str) -> Result<Given, String> {
    let Some(name) = text.strip_prefix("plan=") else {
        return parameter(text).map(|(name, value)| Given::Number(name, value));
    };
    let near = || did_you_mean(name, plans::names());
    plans::find(name).cloned().map(Given::Plan).ok_or_else(|| {
        format!(
            "there is no plan {name}{}: try `lozenge list plans`",
            near()
        )
    })
}

/// `NAME=VALUE`.
pub fn parameter(text: &str) -> Result<(String, usize), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text} is not NAME=VALUE: try e=10"))?;
    let value = value
        .parse()
        .map_err(|_| format!("{value} is not a whole number: try {name}=10"))?;
    Ok((name.to_string(), value))
}

/// Bytes: a number; with a k so many times 1024.
pub fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1024),
        None => (text, 1),
    };
    let bytes = digits.parse().ok().and_then(|n: usize| n.checked_mul(unit));
    bytes.ok_or_else(|| format!("{text} is not a number of bytes: try 1536 or 8k"))
}

/// What rows of `compare` are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SortArg {
    /// The most cycles of a call.
    Cycles,
    /// Bytes of code.
    Bytes,
    /// Bytes of stack.
    Stack,
    /// The most energy of a call.
    Energy,
}
