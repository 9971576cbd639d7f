//! From a driver to everything that ships with it: its kernels, proved, and its own instructions.

use machine::isa::core::{Core, Insn};
use make::driver::image::Image;
use make::driver::{Action, Assembled, Driver, image};
use make::lower::{self, LowerError};
use make::request::Request;
use spec::Alias;

use crate::driver::secrecy::{self, Told};
use crate::kernel;
use crate::kernel::Kernel;

/// Why there is no driver.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// A kernel does not exist.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A step cannot be lowered to the machine.
    #[error("the driver: {0}")]
    Lower(#[from] LowerError),
    /// Driver and kernels cannot be put together.
    #[error("the driver: {0}")]
    Link(String),
    /// A kernel, by its symbol, is not proved.
    #[error("{0} is not proved, so nothing is built on it")]
    Unproved(String),
    /// Driver and kernels are too long.
    #[error(
        "no driver within {most} bytes of flash: its own code has {driver} bytes, {kernel} {least} at least, and {left} \
         are left for that"
    )]
    Flash {
        /// The most bytes that are asked for.
        most: usize,
        /// Bytes of the driver alone.
        driver: usize,
        /// The kernel that does not fit, by its symbol.
        kernel: String,
        /// Bytes of its shortest form.
        least: usize,
        /// Bytes that are left for it.
        left: usize,
        /// What `--max-flash` would do.
        wanted: usize,
    },
}

/// A driver with its kernels.
pub struct Built {
    /// The steps.
    pub driver: Driver,
    /// The kernels that they call, proved.
    pub kernels: Vec<Kernel>,
    /// The instructions of the steps.
    pub assembled: Assembled<Insn>,
    /// All of it in one piece, as runs need it.
    pub image: Image,
}

impl Built {
    /// Makes and proves the kernels of `driver` and lowers it. `told` hears what is made next.
    ///
    /// # Errors
    /// When there is no such kernel, or it is not proved, or the driver cannot be lowered.
    pub fn new(driver: Driver, core: &Core, mut told: impl FnMut(&str)) -> Result<Self, Error> {
        let assembled = lower::drive(core, &driver)?;
        let mut kernels = Vec::with_capacity(driver.kernels.len());
        for (i, request) in driver.kernels.iter().enumerate() {
            told(&format!("{}{}", request.op.name(), request.size));
            kernels.push(suitable(request, core, &overlaps(&driver, i))?);
        }
        Self::of(driver, assembled, kernels, core)
    }

    /// The same in `most` bytes of program memory: kernels that are too long give way to the fastest of their share.
    ///
    /// # Errors
    /// Besides: when a kernel is longer than its share in any case.
    pub fn within(
        driver: Driver,
        core: &Core,
        most: usize,
        mut told: impl FnMut(&str),
    ) -> Result<Self, Error> {
        let built = Self::new(driver, core, &mut told)?;
        if built.image.code.len() <= most {
            return Ok(built);
        }
        let (own, mut driver, mut kernels) =
            (built.image.driver_bytes, built.driver, built.kernels);
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        order.sort_by_key(|i| kernels[*i].code.len());
        let mut used = own;
        for (done, i) in order.iter().enumerate() {
            let open = order.len() - done;
            let share = most.saturating_sub(used) / open;
            if kernels[*i].code.len() > share {
                let overlaps = overlaps(&driver, *i);
                let request = &mut driver.kernels[*i];
                told(&format!("a smaller {}{}", request.op.name(), request.size));
                request.budget.flash = Some(share);
                let refused = |error: Error| match error {
                    Error::Kernel(kernel::Error::Budget { least, .. }) => {
                        let least = least.unwrap_or(share + 1);
                        Error::Flash {
                            most,
                            driver: own,
                            kernel: kernels[*i].spec.symbol(),
                            least,
                            left: share,
                            wanted: used + least * open,
                        }
                    }
                    error => error,
                };
                kernels[*i] = suitable(request, core, &overlaps).map_err(refused)?;
            }
            used += kernels[*i].code.len();
        }
        Self::of(driver, built.assembled, kernels, core)
    }

    /// Of kernels that are proved.
    fn of(
        driver: Driver,
        assembled: Assembled<Insn>,
        kernels: Vec<Kernel>,
        core: &Core,
    ) -> Result<Self, Error> {
        let codes: Vec<&[u8]> = kernels.iter().map(|k| k.code.as_slice()).collect();
        let image = image::link(core, &assembled, &codes).map_err(Error::Link)?;
        Ok(Self {
            driver,
            kernels,
            assembled,
            image,
        })
    }

    /// About how many cycles a run takes: those of the kernels, as often as they are called on average.
    pub fn estimate(&self) -> f64 {
        let calls = self.driver.calls().into_iter().zip(&self.kernels);
        calls.map(|(n, k)| n * k.cost.call.max as f64).sum()
    }

    /// What time and addresses tell on `core` of any number in the area: all instructions are followed, those of kernels,
    /// too.
    ///
    /// # Errors
    /// The first instruction that leaks, or what could not be followed.
    pub fn whole_constant_time(&self, core: &Core) -> Result<(), Told> {
        secrecy::of_image(core, &self.driver, &self.image, false)
    }

    /// Per core that runs the code: what time tells of the numbers, of the driver first; of an exponent
    /// that is public it may.
    pub fn constant_time(&self, core: &Core, public: bool) -> Vec<(String, Result<(), Told>)> {
        let judge = |relative: Core| {
            let name = relative.name();
            let mut verdict =
                secrecy::constant_time(&relative, &self.driver, &self.assembled, public);
            for kernel in &self.kernels {
                let timing = kernel.constant_time.iter().find(|(core, _)| *core == name);
                let leak = timing.and_then(|(_, timing)| timing.leak.as_ref());
                if let (true, Some(leak)) = (verdict.is_ok(), leak) {
                    let symbol = kernel.spec.symbol();
                    verdict = Err(Told {
                        known: leak.is_known(),
                        text: format!("{symbol}: {}", leak.text),
                    });
                }
            }
            (name, verdict)
        };
        core.relatives().into_iter().map(judge).collect()
    }
}

/// The kernel that is asked for, if it is proved; one in one time where the fastest leaks and that is not accepted.
fn proved(request: &Request, core: &Core) -> Result<Kernel, Error> {
    let mut kernel = kernel::generate(request, core)?;
    let leaks = kernel.is_sound() && !kernel.keeps_its_time() && request.method.is_none();
    if let (true, Some(steady)) = (leaks, request.in_one_time(&lower::facts(core))) {
        kernel = kernel::generate(&steady, core)?;
    }
    match kernel.is_proved() {
        true => Ok(kernel),
        false => Err(Error::Unproved(kernel.spec.symbol())),
    }
}

/// The same, and proved for these overlaps: the fastest kernel if it is, else the fastest of those that are.
fn suitable(request: &Request, core: &Core, overlaps: &[Alias]) -> Result<Kernel, Error> {
    let kernel = proved(request, core)?;
    let allowed = |alias: &Alias| {
        let mut cases = kernel.aliasing.iter();
        cases.any(|case| case.alias == *alias && case.allowed)
    };
    if overlaps.iter().all(allowed) {
        return Ok(kernel);
    }
    let mut request = request.clone();
    request.demands.aliases.extend(overlaps);
    proved(&request, core)
}

/// Where the result of kernel `kernel` lies on operands in calls of it.
fn overlaps(driver: &Driver, kernel: usize) -> Vec<Alias> {
    let factors = driver.kernels[kernel].op.factors();
    let overlap = |step: &Action| match step {
        Action::Call {
            kernel: called,
            pointers,
        } if *called == kernel => overlap(factors, pointers),
        _ => None,
    };
    let found: Vec<_> = driver.steps().into_iter().filter_map(overlap).collect();
    let every = Alias::ALL.into_iter();
    every.filter(|alias| found.contains(alias)).collect()
}

/// What the result has in common with factors, of which there are so many.
fn overlap(factors: usize, pointers: &[usize]) -> Option<Alias> {
    let same = |i: usize, j: usize| pointers.get(i) == pointers.get(j);
    match (same(0, 1), factors == 2 && same(0, 2)) {
        (true, true) => Some(Alias::All),
        (true, false) => Some(Alias::RIsA),
        (false, true) => Some(Alias::RIsB),
        (false, false) => None,
    }
}
