//! What is asked of a driver, and how it is asked for on the command line.

use std::collections::BTreeMap;
use std::sync::Arc;

use lozenge::driver::build::{self, Built};
use lozenge::driver::exponentiation::{self, Kind, Ladder, MOST_WINDOW};
use lozenge::driver::modulo::Products;
use lozenge::driver::{Driver, inversion, numbers, rsa};
use lozenge::facts::Style;
use lozenge::method::{self, METHODS};
use lozenge::nearest::did_you_mean;
use lozenge::plans::Plan;
use lozenge::spec::modulus::Modulus;
use lozenge::spec::{Op, Spec};
use lozenge::vectors::Random;
use machine::isa::core::Core;

use crate::cli::arguments::DriverArgs;
use crate::cli::progress::Progress;
use crate::cli::values::DriverOp;
use crate::cli::words;

/// What is asked for, without the machine.
pub struct Asked<'a> {
    pub op: DriverOp,
    pub bits: u32,
    pub args: &'a DriverArgs,
    pub method: Option<&'a str>,
    pub params: &'a [(String, usize)],
    pub plan: Option<&'a Arc<Plan>>,
    pub style: Option<Style>,
    /// An operand, or a number that is in the kernels.
    pub modulus: &'a Modulus,
    /// Bytes of program memory at most.
    pub max_flash: Option<usize>,
    /// Does it clear what it worked in?
    pub wipe: bool,
}

impl Asked<'_> {
    /// As on the command line.
    pub fn name(&self) -> &'static str {
        self.op.name()
    }

    /// The function's name.
    pub fn symbol(&self) -> String {
        let modulus = match (self.op, self.modulus) {
            (DriverOp::Modinv, Modulus::Fixed { text, .. }) if !text.starts_with("0x") => {
                format!("_{}", text.replace('-', "_"))
            }
            _ => String::new(),
        };
        format!("{}{}{modulus}", self.name().replace('-', "_"), self.bits)
    }

    pub fn equation(&self) -> String {
        let modulus = match self.modulus {
            Modulus::Runtime => "modulus".into(),
            fixed => fixed.to_string(),
        };
        match self.op {
            DriverOp::Modexp => format!("result = base^exponent mod {modulus}"),
            DriverOp::Modinv => format!("result = 1 / base mod {modulus}"),
            DriverOp::Rsa => "result = input^d mod p q".into(),
            DriverOp::RsaPublic => format!("result = input^65537 mod {modulus}"),
        }
    }

    /// How it is computed.
    ///
    /// # Errors
    /// What [`Asked::ladder`] says.
    pub fn how(&self, word: usize) -> Result<String, String> {
        match self.op {
            DriverOp::RsaPublic => Ok("binary".into()),
            DriverOp::Modinv => Ok(match self.modulus {
                Modulus::Fixed { value, .. } => inversion::told(value),
                _ => String::new(),
            }),
            DriverOp::Modexp | DriverOp::Rsa => Ok(self.ladder(word)?.to_string()),
        }
    }

    /// Bits of a number that is multiplied.
    fn number_bits(&self) -> u32 {
        match self.op {
            DriverOp::Rsa => self.bits / 2,
            DriverOp::Modexp | DriverOp::Modinv | DriverOp::RsaPublic => self.bits,
        }
    }

    /// Bits of the exponent.
    pub fn exponent_bits(&self) -> u32 {
        self.args.exponent_bits.unwrap_or(self.number_bits())
    }

    /// Where products modulo a number come from, on a machine with words of `word_bits` bits.
    fn products(&self, word_bits: u32) -> Products {
        match self.modulus {
            Modulus::Fixed { .. } => Products::Montgomery,
            _ => {
                let usual = match Products::usual((self.number_bits() / word_bits) as usize) {
                    // Its kernel is never small.
                    Products::Folded if self.max_flash.is_some() || self.style.is_some() => {
                        Products::Composed
                    }
                    usual => usual,
                };
                self.args.products.unwrap_or(usual)
            }
        }
    }

    /// How its bits are taken.
    ///
    /// # Errors
    /// When the window has no such size, or there is none.
    pub fn ladder(&self, word: usize) -> Result<Ladder, String> {
        let window = self.params.iter().find(|(name, _)| name == "window");
        let kind = self.args.exponentiation.unwrap_or(Kind::Window);
        let window = match window.map(|(_, k)| u32::try_from(*k)) {
            None => None,
            Some(_) if matches!(kind, Kind::Binary | Kind::Montgomery) => {
                return Err("-p window needs --exponentiation window or sliding".into());
            }
            Some(Ok(k @ 1..=MOST_WINDOW)) => Some(k),
            Some(_) => {
                return Err(format!(
                    "a window has 1 to {MOST_WINDOW} bits: try -p window=4"
                ));
            }
        };
        let bits = self.exponent_bits();
        Ok(match kind {
            Kind::Window => window.map_or_else(|| Ladder::cheapest(bits, word), Ladder::Window),
            Kind::Sliding => window.map_or_else(|| Ladder::cheapest_sliding(bits), Ladder::Sliding),
            Kind::Binary => Ladder::Binary,
            Kind::Montgomery => Ladder::Montgomery,
        })
    }

    /// What makes no sense of this computation.
    fn refuse(&self) -> Result<(), String> {
        let args = self.args;
        if matches!(self.modulus, Modulus::RuntimeBare | Modulus::RuntimeFolded) {
            return Err("a driver says what is beside its modulus: try --modulus runtime".into());
        }
        let fixed = *self.modulus != Modulus::Runtime;
        if fixed && args.products.is_some_and(|p| p != Products::Montgomery) {
            return Err(
                "a number as --modulus is in Montgomery's kernels: leave out --products".into(),
            );
        }
        let window = self.params.iter().any(|(name, _)| name == "window");
        let takes = args.exponent_bits.is_some() || args.exponentiation.is_some() || window;
        match self.op {
            DriverOp::Modexp => Ok(()),
            DriverOp::Modinv => self.is_prime(takes || args.products.is_some()),
            DriverOp::Rsa if fixed => {
                Err("the primes of rsa are operands: leave out --modulus".into())
            }
            DriverOp::Rsa if args.exponent_bits.is_some() => Err(
                "the exponents of rsa are as long as the primes: leave out --exponent-bits".into(),
            ),
            DriverOp::Rsa => Ok(()),
            DriverOp::RsaPublic if takes => Err(
                "the exponent of rsa-public is 65537: leave out what says how to take it".into(),
            ),
            DriverOp::RsaPublic => Ok(()),
        }
    }

    /// Is there a prime to divide modulo, and nothing said of an exponent?
    fn is_prime(&self, takes: bool) -> Result<(), String> {
        let Modulus::Fixed { value, text } = self.modulus else {
            return Err("modinv has its prime in its kernels: try --modulus p256".into());
        };
        if takes {
            return Err(
                "the exponent of modinv is m - 2: leave out what says how to take it".into(),
            );
        }
        match numbers::is_prime(value, &mut Random::new(1)) {
            true => Ok(()),
            false => Err(format!(
                "modinv divides modulo a prime, and {text} is none: try p256"
            )),
        }
    }

    /// The driver on a machine with words of `word` bytes.
    ///
    /// # Errors
    /// In one line.
    pub fn driver(&self, word: usize) -> Result<Driver, String> {
        self.refuse()?;
        Spec::new(Op::Mul, self.number_bits(), 8 * word as u32)
            .map_err(|e| words::of(&e.into()).text)?;
        let most = lozenge::spec::MAX_BITS;
        let exponent_bits = self.exponent_bits();
        if self.op == DriverOp::Rsa && !self.bits.is_multiple_of(16 * word as u32) {
            return Err(format!(
                "the primes have half of {} bits, which are no words: try 1024",
                self.bits
            ));
        }
        if !(1..=most).contains(&exponent_bits) {
            return Err(format!(
                "an exponent has 1 to {most} bits: try --exponent-bits {}",
                self.bits
            ));
        }
        let (bits, ladder) = (self.bits, self.ladder(word)?);
        let products = self.products(8 * word as u32);
        let empty = Driver::modulo(word, self.modulus.clone());
        let driver = match self.op {
            DriverOp::Modexp => {
                exponentiation::modulo(empty, bits, exponent_bits, ladder, products)
            }
            DriverOp::Modinv => {
                inversion::driver(empty, bits).ok_or("modinv needs a prime: try --modulus p256")?
            }
            DriverOp::Rsa => rsa::private(word, bits, ladder, products),
            DriverOp::RsaPublic => rsa::public_modulo(empty, bits, products),
        };
        let mut driver = match self.wipe {
            true => driver.wiped(),
            false => driver,
        };
        self.take_method(&mut driver)?;
        Ok(driver)
    }

    /// Style and method of the kernels, as they were asked for.
    fn take_method(&self, driver: &mut Driver) -> Result<(), String> {
        let word_bits = 8 * driver.word as u32;
        let given = self.params.iter().filter(|(name, _)| name != "window");
        let given: Vec<_> = given.collect();
        if self.method.is_none() && !(given.is_empty() && self.plan.is_none()) {
            return Err("-p needs --method: parameters belong to a method, but for window".into());
        }
        let mut used = self.method.is_none();
        for kernel in &mut driver.kernels {
            kernel
                .spec(word_bits)
                .map_err(|e| words::of(&e.into()).text)?;
            kernel.style = self.style;
            let Some(name) = self.method else { continue };
            let method = method::find_for(name, kernel.op).ok_or_else(|| {
                let near = did_you_mean(name, METHODS.iter().map(|m| m.name));
                format!("unknown method {name}{near}; `lozenge list methods` names them all")
            })?;
            if method.computes(kernel.op) {
                used = true;
                kernel.method = Some(name.into());
                kernel.params = BTreeMap::from_iter(given.iter().map(|(n, v)| (n.clone(), *v)));
                kernel.plan = self.plan.cloned();
            }
        }
        match used {
            true => Ok(()),
            false => Err(format!(
                "{} computes none of the kernels: try fips",
                self.method.unwrap_or_default()
            )),
        }
    }

    /// `driver` and its kernels, proved.
    ///
    /// # Errors
    /// In one line.
    pub fn build(&self, driver: Driver, core: &Core) -> Result<Built, build::Error> {
        let name = core.name();
        let progress = Progress::of(format!("{}{} for {name}", self.name(), self.bits));
        let told = |kernel: &str| {
            progress.say(format!("{kernel} for {name}: counting and proving"));
        };
        let built = match self.max_flash {
            Some(most) => Built::within(driver, core, most, told),
            None => Built::new(driver, core, told),
        };
        progress.done();
        built
    }

    /// As on the command line.
    pub fn arguments(&self, word_bits: u32) -> Result<String, String> {
        let mut text = format!("{} {}", self.name(), self.bits);
        text += &match self.modulus {
            Modulus::Runtime => format!(" --products {}", self.products(word_bits).name()),
            fixed => format!(" --modulus {fixed}"),
        };
        if let Some(bits) = self.args.exponent_bits {
            text += &format!(" --exponent-bits {bits}");
        }
        text += &match self.ladder(word_bits as usize / 8)? {
            _ if matches!(self.op, DriverOp::RsaPublic | DriverOp::Modinv) => String::new(),
            Ladder::Binary => " --exponentiation binary".to_string(),
            Ladder::Montgomery => " --exponentiation montgomery".to_string(),
            Ladder::Window(k) => format!(" -p window={k}"),
            Ladder::Sliding(k) => format!(" --exponentiation sliding -p window={k}"),
        };
        if let Some(method) = self.method {
            text += &format!(" --method {method}");
        }
        for (name, value) in self.params.iter().filter(|(name, _)| name != "window") {
            text += &format!(" -p {name}={value}");
        }
        if let Some(plan) = self.plan {
            text += &format!(" -p plan={}", plan.name);
        }
        if let Some(style) = self.style {
            text += &format!(" --style {}", style.name());
        }
        if let Some(most) = self.max_flash {
            text += &format!(" --max-flash {most}");
        }
        if self.wipe {
            text += " --wipe";
        }
        Ok(text)
    }
}
