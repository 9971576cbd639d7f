//! `lozenge run`: a whole computation, instruction by instruction, on numbers.

use std::time::Instant;

use lozenge::driver::build::Built;
use lozenge::driver::secrecy::Told;
use lozenge::isa::Cost;
use lozenge::isa::core::Core;
use lozenge::spec::modulus::Modulus;
use lozenge::target::Target;
use num_bigint::BigUint;
use serde_json::{Value, json};

use crate::cli::arguments::RunArgs;
use crate::cli::case::{Case, Given};
use crate::cli::drive::{execute, leaks};
use crate::cli::driver_plan::Asked;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::values::DriverOp;
use crate::cli::{generate, output};

/// Executes, compares and prints. `Ok(true)` if the result is right.
pub fn run(args: &RunArgs) -> Result<bool, Failure> {
    done(args, |done| {
        let is_well = !done.leaks || done.accepted;
        match args.json {
            true => output::say(&done.object().to_string())?,
            false => output::report(&done.text(), is_well)?,
        }
        done.warn();
        Ok(is_well)
    })
}

/// Executes, compares, and says the cycles.
pub(super) fn cycles(args: &RunArgs) -> Result<u64, Failure> {
    done(args, |done| Ok(done.cost.call.max))
}

/// Executes and compares; `tell` says what came of it.
fn done<T>(
    args: &RunArgs,
    tell: impl FnOnce(&Done<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let target = args.target.resolve()?;
    let core = target.to_core();
    let (params, chosen) = generate::split(&args.param);
    let fixed = |value: &BigUint| Modulus::Fixed {
        value: value.clone(),
        text: format!("{value:#x}"),
    };
    let modulus = match (args.op, &args.modulus) {
        (DriverOp::Modinv, Some(value)) => fixed(value),
        _ => Modulus::Runtime,
    };
    let plan = Asked {
        op: args.op,
        bits: args.bits,
        args: &args.driver,
        method: args.method.as_deref(),
        params: &params,
        plan: chosen.as_ref(),
        style: args.style,
        modulus: &modulus,
        max_flash: None,
        wipe: false,
    };
    // Numbers are refused before kernels are made.
    let driver = plan.driver(core.word_bits() as usize / 8)?;
    let case = Case::new(&plan, &driver, &given(args), args.seed)?;
    let built = plan.build(driver, &core)?;
    let what = format!("{}{} on {}", plan.name(), args.bits, target.core_name());
    let cost = watched(what, &built, &core, &case)?;
    let times = built.constant_time(&core, false);
    let own = target.core_name();
    let told = times.iter().find(|(name, _)| *name == own);
    tell(&Done {
        name: plan.name(),
        bits: args.bits,
        how: plan.how(core.word_bits() as usize / 8)?,
        target: &target,
        case: &case,
        cost,
        flash: built.image.code.len(),
        area: built.driver.bytes,
        told: told.and_then(|(_, verdict)| verdict.as_ref().err()),
        leaks: leaks(&times, &own),
        accepted: args.variable_time,
    })
}

/// Executes, and shows how far that is.
fn watched(what: String, built: &Built, core: &Core, case: &Case) -> Result<Cost, Failure> {
    let progress = Progress::of(what.clone());
    let start = Instant::now();
    let all = built.estimate() / 1e6;
    let ran = execute(built, core, case, &mut |executed, cycles| {
        let seconds = start.elapsed().as_secs_f64();
        let (cycles, rate) = (cycles as f64 / 1e6, executed as f64 / 1e6 / seconds);
        let left = seconds * (all / cycles - 1.0).max(0.0);
        progress.say(format!(
            "{what}: {cycles:.0} of about {all:.0} million cycles, {rate:.0} million instructions a second, \
             {left:.0} s left"
        ));
    });
    progress.done();
    Ok(ran?)
}

/// The numbers that were typed, by name.
fn given(args: &RunArgs) -> Given {
    vec![
        ("base", args.base.clone()),
        ("exponent", args.exponent.clone()),
        ("modulus", args.modulus.clone()),
        ("input", args.input.clone()),
        ("p", args.p.clone()),
        ("q", args.q.clone()),
        ("dp", args.dp.clone()),
        ("dq", args.dq.clone()),
        ("qinv", args.qinv.clone()),
    ]
}

/// What came of a run.
struct Done<'a> {
    name: &'a str,
    bits: u32,
    /// How powers are computed.
    how: String,
    target: &'a Target,
    case: &'a Case,
    cost: Cost,
    /// Bytes of code, and of the area that the driver works in.
    flash: usize,
    area: usize,
    /// What time or addresses tell on the core.
    told: Option<&'a Told>,
    leaks: bool,
    /// Was `--variable-time` typed?
    accepted: bool,
}

impl Done<'_> {
    fn ram(&self) -> usize {
        self.area + self.cost.stack.total()
    }

    /// The numbers, the result last.
    fn numbers(&self) -> impl Iterator<Item = (&'static str, &BigUint)> {
        let shown = self.case.shown.iter().map(|(name, x)| (*name, x));
        shown.chain([("result", &self.case.want)])
    }

    fn object(&self) -> Value {
        let mut object = json!({
            "op": self.name, "bits": self.bits, "exponentiation": self.how,
            "core": self.target.core_name(), "mcu": self.target.part_name(),
            "cycles": self.cost.call.max, "instructions": self.cost.executed,
            "flash": self.flash, "ram": self.ram(), "stack": self.cost.stack.total(),
            "constant_time": self.told.map_or("shown", Told::word),
            "variable_time": self.leaks && self.accepted,
        });
        if let Some(told) = self.told {
            object["leak"] = told.text.clone().into();
        }
        for (name, x) in self.numbers() {
            object[name] = format!("{x:#x}").into();
        }
        object
    }

    fn text(&self) -> String {
        let line = |name: &str, value: String| format!("  {name:<14} {value}\n");
        let mut text = format!("{}{}: {}\n", self.name, self.bits, self.how);
        for (name, x) in self.numbers() {
            text += &line(name, format!("{x:#x}"));
        }
        let core = self.target.core_name();
        text += &line("cycles", format!("{} on {core}", self.cost.call.max));
        text += &line("instructions", self.cost.executed.to_string());
        let (flash, ram, stack) = (self.flash, self.ram(), self.cost.stack.total());
        text += &line(
            "flash, RAM",
            format!("{flash} bytes, {ram} bytes ({stack} of stack)"),
        );
        let accepted = match self.accepted {
            true => "accepted (--variable-time): ",
            false => "",
        };
        let time = (self.told).map(|told| format!("{accepted}{}: {}", told.word(), told.text));
        text += &line("CONSTANT TIME", time.unwrap_or_else(|| "shown".into()));
        text.trim_end().to_string()
    }

    fn warn(&self) {
        for warning in self.target.warnings(self.flash, self.ram()) {
            output::tell(&format!("warning: {warning}"));
        }
        if self.leaks && !self.accepted {
            output::tell(
                "warning: the result is right, but time or addresses are not shown to be the same for all numbers: \
                 --variable-time accepts that",
            );
        }
    }
}
