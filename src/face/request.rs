//! What is asked for, built up piece by piece.

use std::collections::BTreeMap;
use std::sync::Arc;

use judge::timing::function_timing;
use machine::format::Assembler;
use machine::function::Function;
use machine::isa::Cost;
use machine::isa::energy::Currents;
use make::facts::Style;
use make::method;
use make::method::Params;
use make::plans;
use make::plans::Plan;
use spec::modulus::Reduce;
use spec::nearest::nearest;
use spec::{Alias, Op, Size};

use crate::draw::{self, Picture};
use crate::face::asked::Asked;
use crate::face::candidates::{Candidates, cells};
use crate::face::error::{Error, What};
use crate::face::kernel::Kernel;
use crate::face::options::{AnyModulus, Options, Watcher};
use crate::kernel::{self, Step};
use crate::target::Target;

/// An operation and its size, and what the kernel may be.
///
/// By default it is the cheapest of all methods, in constant time, and fits the part.
///
/// ```
/// use lozenge::{Dialect, Request, Target};
///
/// let chip = Target::mcu("atmega328p")?;
/// let kernel = Request::mul(64).max_flash(1024).generate(&chip)?;
/// assert!(kernel.verdicts().all_proved());
/// assert!(kernel.assembly(Dialect::Gnu)?.contains("mul64:"));
///
/// let product = kernel.run(&[3u8.into(), 5u8.into()])?;
/// assert_eq!(product.result, 15u8.into());
/// assert_eq!(product.cost.call, kernel.cycles().call);
/// # Ok::<(), lozenge::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request(Asked);

/// Code that is counted and not proved.
#[derive(Clone, Debug)]
pub struct Counted {
    /// How it computes.
    pub method: &'static str,
    /// The parameters of the method.
    pub params: Params,
    /// What a call takes, over all inputs.
    pub cost: Cost,
    /// Its bytes.
    pub code: Vec<u8>,
}

impl Request {
    /// An operation on operands of `size` bits; [`Op::Mul`] takes two sizes, too.
    pub fn new(op: Op, size: impl Into<Size>) -> Self {
        Self(Asked {
            op,
            size: size.into(),
            modulus: None,
            reduce: Reduce::Full,
            shift: 0,
            times: 0,
            method: None,
            params: BTreeMap::new(),
            plan: None,
            style: None,
            variable_time: false,
            options: Options::default(),
        })
    }

    /// `r = a * b`.
    pub fn mul(size: impl Into<Size>) -> Self {
        Self::new(Op::Mul, size)
    }

    /// `r = a^2`.
    pub fn sqr(bits: u32) -> Self {
        Self::new(Op::Sqr, bits)
    }

    /// `r = a * b mod 2^n`.
    pub fn mullo(bits: u32) -> Self {
        Self::new(Op::Mullo, bits)
    }

    /// `r = floor(a * b / 2^n)`.
    pub fn mulhi(bits: u32) -> Self {
        Self::new(Op::Mulhi, bits)
    }

    /// `r = a * b * 2^-n mod m`: Montgomery's product.
    pub fn montmul(bits: u32, modulus: impl Into<AnyModulus>) -> Self {
        Self::new(Op::Montmul, bits).modulus(modulus)
    }

    /// `r = a^2 * 2^-n mod m`.
    pub fn montsqr(bits: u32, modulus: impl Into<AnyModulus>) -> Self {
        Self::new(Op::Montsqr, bits).modulus(modulus)
    }

    /// `r = a * b mod m`.
    pub fn modmul(bits: u32, modulus: impl Into<AnyModulus>) -> Self {
        Self::new(Op::Modmul, bits).modulus(modulus)
    }

    /// `r = a^2 mod m`.
    pub fn modsqr(bits: u32, modulus: impl Into<AnyModulus>) -> Self {
        Self::new(Op::Modsqr, bits).modulus(modulus)
    }

    /// `r = a + b mod m`.
    pub fn modadd(bits: u32, modulus: impl Into<AnyModulus>) -> Self {
        Self::new(Op::Modadd, bits).modulus(modulus)
    }

    /// `r = a - b mod m`.
    pub fn modsub(bits: u32, modulus: impl Into<AnyModulus>) -> Self {
        Self::new(Op::Modsub, bits).modulus(modulus)
    }

    /// Modulo what: `"p256"`, `"2^255-19"`, `"runtime"` or a number.
    pub fn modulus(mut self, modulus: impl Into<AnyModulus>) -> Self {
        self.0.modulus = Some(modulus.into());
        self
    }

    /// How far results are reduced; below the modulus if this is not called.
    pub fn reduce(mut self, reduce: Reduce) -> Self {
        self.0.reduce = reduce;
        self
    }

    /// Numbers are kept times `2^shift`, so that a product has a factor `2^-shift`.
    pub fn shift(mut self, bits: u32) -> Self {
        self.0.shift = bits;
        self
    }

    /// What it multiplies by: of [`Op::Modtimes`].
    pub fn times(mut self, number: u32) -> Self {
        self.0.times = number;
        self
    }

    /// By this method: `"operand-caching"`.
    pub fn method(mut self, name: impl Into<String>) -> Self {
        self.0.method = Some(name.into());
        self
    }

    /// With this parameter of the method: `"e"`, 10.
    pub fn param(mut self, name: impl Into<String>, value: usize) -> Self {
        self.0.params.insert(name.into(), value);
        self
    }

    /// With the plan of this name for the products of the method: `"k160-a"`.
    ///
    /// # Errors
    /// When there is no such plan.
    pub fn plan(self, name: &str) -> Result<Self, Error> {
        let plan = plans::find(name).ok_or_else(|| Error::Unknown {
            what: What::Plan,
            nearest: nearest(name, plans::names()).map(String::from),
            name: name.into(),
            of: None,
            known: Vec::new(),
        })?;
        Ok(self.planned(plan))
    }

    /// With this plan for the products of the method.
    pub fn planned(mut self, plan: &Arc<Plan>) -> Self {
        self.0.plan = Some(plan.clone());
        self
    }

    /// How much is written out.
    pub fn style(mut self, style: Style) -> Self {
        self.0.style = Some(style);
        self
    }

    /// In so many bytes of code at most.
    pub fn max_flash(mut self, bytes: usize) -> Self {
        self.0.options.budget.flash = Some(bytes);
        self
    }

    /// In so many bytes of stack below the return address at most.
    pub fn max_stack(mut self, bytes: usize) -> Self {
        self.0.options.budget.stack = Some(bytes);
        self
    }

    /// In so many free registers at most, besides pointers and product.
    pub fn max_registers(mut self, count: usize) -> Self {
        self.0.options.max_regs = Some(count);
        self
    }

    /// What the core draws, where nothing is published of it or it runs at another voltage.
    pub fn currents(mut self, currents: Currents) -> Self {
        self.0.options.currents = Some(currents);
        self
    }

    /// Time and addresses may depend on operands: for numbers that are no secrets.
    pub fn variable_time(mut self) -> Self {
        self.0.variable_time = true;
        self
    }

    /// Where the cheapest kernel leaks, as a multiplier stops early, one whose products take one time, if there is one:
    /// [`Report::one_time`](crate::report::Report) says what that costs.
    pub fn constant_time(mut self) -> Self {
        self.0.options.constant_time = true;
        self
    }

    /// Operands and result may share memory so, too, and that is proved.
    pub fn alias(mut self, alias: Alias) -> Self {
        self.0.options.aliases.push(alias);
        self
    }

    /// Operands and result lie apart: no overlap is asked for any more.
    pub fn apart(mut self) -> Self {
        self.0.options.aliases.clear();
        self
    }

    /// The function's name begins so: `lz_`.
    pub fn prefix(mut self, text: impl Into<String>) -> Self {
        self.0.options.prefix = text.into();
        self
    }

    /// The function is called so: `p256_mul`.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.0.options.name = Some(name.into());
        self
    }

    /// Its files are for this assembler.
    pub fn dialect(mut self, dialect: Assembler) -> Self {
        self.0.options.dialect = Some(dialect);
        self
    }

    /// With each step of the search told to `watch`.
    pub fn watched(mut self, watch: impl Fn(Step<'_>) + Send + Sync + 'static) -> Self {
        self.0.options.watcher = Watcher(Some(Arc::new(watch)));
        self
    }

    /// By a search of all methods, even if a winner is on record.
    pub fn searched(mut self) -> Self {
        self.0.options.search = true;
        self
    }

    /// As a file says that `lozenge tune` wrote: it is named in the report instead of method and parameters.
    pub fn tuned(mut self, file: String) -> Self {
        self.0.options.tuned = Some(file);
        self
    }

    /// A kernel that is not proved is wanted, too; its files say so.
    pub fn unproved(mut self) -> Self {
        self.0.options.unproved = true;
        self
    }

    /// Without the instruction of this index: to watch the proof fail.
    pub fn without_instruction(mut self, index: usize) -> Self {
        self.0.options.drop = Some(index);
        self
    }

    /// The cheapest kernel that is proved, judged on its bytes.
    ///
    /// # Errors
    /// When there is none: [`Error::Unproved`] when the cheapest is not proved, or leaks, and why there is no other.
    pub fn generate(&self, target: &Target) -> Result<Kernel, Error> {
        let dialect = self.0.options.dialect.unwrap_or(target.dialect());
        target.has_dialect(dialect)?;
        let kernel = self.0.judge(target, target.room())?;
        match kernel.verdicts().all_proved() || self.0.options.unproved {
            true => Ok(kernel),
            false => Err(Error::Unproved(Box::new(kernel.report().clone()))),
        }
    }

    /// The picture of the schedule that the cheapest candidate runs.
    ///
    /// # Errors
    /// Why there is none.
    pub fn picture(&self, target: &Target) -> Result<Picture, Error> {
        let core = target.to_core();
        let request = self.0.request(target, target.room())?;
        let (spec, best) = kernel::choose(&request, &core)?;
        let schedule = kernel::schedule(
            &spec,
            &request,
            &core,
            best.method,
            &best.params,
            best.style,
        )?;
        let name = method::text(best.method.name, &best.params);
        let title = format!("{} on {}: {name}", spec.symbol(), target.core_name());
        Ok(draw::of(&schedule, &spec, title))
    }

    /// The cheapest candidate, whatever can be proved of it: what its code takes, over all inputs.
    ///
    /// # Errors
    /// Why there is none.
    pub fn count(&self, target: &Target) -> Result<Counted, Error> {
        let dialect = self.0.options.dialect.unwrap_or(target.dialect());
        target.has_dialect(dialect)?;
        let core = target.to_core();
        let (spec, best) = kernel::choose(&self.0.request(target, target.room())?, &core)?;
        let timing = function_timing(&spec, &core, &Function::kernel(&best.code).returning(&spec));
        let does_not_return = || kernel::Error::Encode("the code does not return".into());
        Ok(Counted {
            method: best.method.name,
            params: best.params,
            cost: timing.cost.ok_or_else(does_not_return)?,
            code: best.code,
        })
    }

    /// Every method with its sensible parameters, in the style that is asked for: each is counted and proved when you
    /// ask for that. Budget and part say nothing here.
    ///
    /// ```
    /// use lozenge::{Request, Target};
    ///
    /// let chip = Target::mcu("atmega328p")?;
    /// let counted = Request::mul(64).compare(&chip)?.filter_map(|c| Some((c.count().ok()?.cycles, c)));
    /// let (cycles, best) = counted.min_by_key(|(cycles, _)| *cycles).expect("a candidate");
    /// let kernel = best.prove()?;
    /// assert_eq!(kernel.cycles().call.max, cycles);
    /// # Ok::<(), lozenge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When sizes or modulus do not fit the operation.
    pub fn compare(&self, target: &Target) -> Result<Candidates, Error> {
        self.candidates(target, false)
    }

    /// The same with what is small beside what is fast: loops of every method that has them.
    ///
    /// # Errors
    /// When sizes or modulus do not fit the operation.
    pub fn compare_small(&self, target: &Target) -> Result<Candidates, Error> {
        self.candidates(target, true)
    }

    fn candidates(&self, target: &Target, small: bool) -> Result<Candidates, Error> {
        let mut cells = cells(&self.0.request(target, None)?, target, small)?;
        let one_time = self.0.options.constant_time;
        cells.extend(one_time.then(|| self.0.cell_in_one_time()).flatten());
        Ok(Candidates::new(self.0.clone(), target.clone(), cells))
    }
}
