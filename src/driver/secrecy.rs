//! What time and addresses tell of a driver's numbers: a run in the secret domain.
//!
//! The kernels have verdicts of their own; here each is replaced by a function that copies secret
//! words to its result. So what is shown is of the driver's own instructions, all passes of all its loops.

use machine::domain::abstract_memory::Region;
use machine::domain::secret::Secret;
use machine::domain::{Abstract, Address, Base, Domain};
use machine::fault::Fault;
use machine::isa::Stopped;
use machine::isa::core::{Core, Insn};
use machine::{of_width, told};
use make::driver::image::Image;
use make::driver::{Assembled, Driver, EXPONENT, image};
use make::lower;
use spec::vectors::Random;

/// What time or an address tells, or what could not be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// Is it known to tell, rather than not followed?
    pub known: bool,
    /// The instruction, and the secret behind it.
    pub text: String,
}

impl Told {
    /// `leaks` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self.known {
            true => "leaks",
            false => "unknown",
        }
    }

    fn unknown(text: String) -> Self {
        Self { known: false, text }
    }
}

/// The most instructions that are followed.
const STEPS: u64 = 100_000_000;

/// Shows that neither time nor addresses depend on any number in the area, but for an exponent that is
/// public: then of one without pattern.
///
/// # Errors
/// The first instruction that leaks, or what could not be followed.
pub fn constant_time(
    core: &Core,
    driver: &Driver,
    assembled: &Assembled<Insn>,
    public: bool,
) -> Result<(), Told> {
    let stubs = driver.kernels.iter().map(|request| {
        let spec = request.spec(core.word_bits()).map_err(|e| e.to_string())?;
        core.encode(&lower::stub(core, spec.result_bytes()))
    });
    let stubs = stubs.collect::<Result<Vec<_>, String>>();
    let stubs = stubs.map_err(Told::unknown)?;
    let stubs: Vec<&[u8]> = stubs.iter().map(Vec::as_slice).collect();
    let image = image::link(core, assembled, &stubs).map_err(Told::unknown)?;
    of_image(core, driver, &image, public)
}

/// The same of a driver that is linked with its kernels, or with what stands for them.
///
/// # Errors
/// The first instruction that leaks, or what could not be followed.
pub fn of_image(core: &Core, driver: &Driver, image: &Image, public: bool) -> Result<(), Told> {
    let function = image.function(core);
    let mut d = Secret::default();
    let base = Base(Base::FIRST_OPERAND);
    d.declare(
        base,
        Region::operand("the area", driver.bytes, true, driver.word as u64),
    );
    let mut random = Random::new(driver.bytes as u64);
    for field in &driver.fields {
        let known = public && field.name == EXPONENT;
        for i in (0..field.place.bytes).step_by(driver.word) {
            let name = format!("{}[{}]", field.name, i / driver.word);
            let offset = (field.place.at + i) as i64;
            let at = Address { base, offset };
            let put = of_width!(8 * driver.word, |W| match known {
                false => secret::<W>(&mut d, at, name),
                true => public_word::<W>(&mut d, at, random.draw()),
            });
            put.map_err(|fault| Told::unknown(fault.to_string()))?;
        }
    }
    let called = core.call(d, &function, &[base], STEPS);
    let called = called.map_err(|stopped: Stopped| Told {
        known: matches!(stopped.1, Fault::SecretBranch(_) | Fault::SecretAddress(_)),
        text: told::describe(core, &function, &stopped),
    })?;
    match called.slow_operand {
        Some(slow) => Err(Told {
            known: true,
            text: slow.text.to_string(),
        }),
        None => Ok(()),
    }
}

fn public_word<const W: u32>(d: &mut Secret, at: Address, value: u64) {
    let word: <Secret as Domain>::Word<W> = d.known::<W>(value);
    d.init::<W>(at, &word);
}

fn secret<const W: u32>(d: &mut Secret, at: Address, name: String) {
    let word: <Secret as Domain>::Word<W> = d.unknown::<W>(name);
    d.init::<W>(at, &word);
}
