//! `lozenge run`: a whole computation, instruction by instruction, on numbers.

use std::time::Instant;

use lozenge::driver::secrecy::Told;
use lozenge::emit::ObjectFormat;
use lozenge::spec::modulus::Modulus;
use lozenge::supported::Supported;
use lozenge::target::{Names, OnIsa, Target};
use serde_json::json;

use crate::cli::arguments::RunArgs;
use crate::cli::case::{Case, Given};
use crate::cli::drive::{execute, leaks};
use crate::cli::driver_plan::Plan;
use crate::cli::failure::Failure;
use crate::cli::{generate, output};

/// Executes, compares and prints. `Ok(true)` if the result is right.
pub fn run(args: &RunArgs) -> Result<bool, Failure> {
    let names = Names {
        mcu: args.mcu.as_deref(),
        core: args.core.as_deref(),
        extensions: &args.isa_ext,
        big_endian: args.big_endian,
        abi: None,
    };
    let target = Target::resolve(&names)?;
    target.on(Run {
        args,
        target: &target,
    })
}

struct Run<'a> {
    args: &'a RunArgs,
    target: &'a Target,
}

impl OnIsa for Run<'_> {
    type Output = Result<bool, Failure>;

    fn call<I: Supported>(self, core: &I::Core, _: &ObjectFormat) -> Self::Output {
        let Run { args, target } = self;
        let plan = Plan {
            op: args.op,
            bits: args.bits,
            args: &args.driver,
            method: args.method.as_deref(),
            params: &args.param,
            style: args.style,
            modulus: &Modulus::Runtime,
            max_flash: None,
            wipe: false,
        };
        let given: Given = vec![
            ("base", args.base.clone()),
            ("exponent", args.exponent.clone()),
            ("modulus", args.modulus.clone()),
            ("input", args.input.clone()),
            ("p", args.p.clone()),
            ("q", args.q.clone()),
            ("dp", args.dp.clone()),
            ("dq", args.dq.clone()),
            ("qinv", args.qinv.clone()),
        ];
        // Numbers are refused before kernels are made.
        let driver = plan.driver(I::WORD_BITS as usize / 8)?;
        let case = Case::new(&plan, &driver, &given, args.seed)?;
        let built = plan.build::<I>(driver, core)?;
        let what = format!("{}{} on {}", plan.name(), args.bits, target.core_name());
        let bar = generate::progress(what.clone());
        let start = Instant::now();
        let all = built.estimate() / 1e6;
        let ran = execute(&built, core, &case, &mut |executed, cycles| {
            let seconds = start.elapsed().as_secs_f64();
            let (cycles, rate) = (cycles as f64 / 1e6, executed as f64 / 1e6 / seconds);
            let left = seconds * (all / cycles - 1.0).max(0.0);
            bar.set_message(format!(
                "{what}: {cycles:.0} of about {all:.0} million cycles, {rate:.0} million instructions a second, \
                 {left:.0} s left"
            ));
        });
        bar.finish_and_clear();
        let cost = ran?;
        let times = built.constant_time(core, false);
        let (leaks, own) = (leaks(&times, &target.core_name()), target.core_name());
        let told = times.iter().find(|(name, _)| *name == own);
        let told = told.and_then(|(_, verdict)| verdict.as_ref().err());
        let flash = built.image.code.len();
        let (area, stack) = (built.driver.bytes, cost.stack.total());
        let numbers = case.shown.iter().map(|(name, x)| (*name, x));
        let numbers = numbers.chain([("result", &case.want)]);
        if args.json {
            let mut object = json!({
                "op": plan.name(), "bits": args.bits, "exponentiation": plan.how(I::WORD_BITS as usize / 8)?,
                "core": target.core_name(), "mcu": target.part_name(),
                "cycles": cost.call.max, "instructions": cost.executed,
                "flash": flash, "ram": area + stack, "stack": stack,
                "constant_time": told.map_or("shown", Told::word),
                "variable_time": leaks && args.variable_time,
            });
            if let Some(told) = told {
                object["leak"] = told.text.clone().into();
            }
            for (name, x) in numbers {
                object[name] = format!("{x:#x}").into();
            }
            output::say(&object.to_string())?;
        } else {
            let line = |name: &str, value: String| format!("  {name:<14} {value}\n");
            let mut text = format!(
                "{}{}: {}\n",
                plan.name(),
                args.bits,
                plan.how(I::WORD_BITS as usize / 8)?
            );
            for (name, x) in numbers {
                text += &line(name, format!("{x:#x}"));
            }
            let core = target.core_name();
            text += &line("cycles", format!("{} on {core}", cost.call.max));
            text += &line("instructions", cost.executed.to_string());
            let ram = area + stack;
            text += &line(
                "flash, RAM",
                format!("{flash} bytes, {ram} bytes ({stack} of stack)"),
            );
            let accepted = match args.variable_time {
                true => "accepted (--variable-time): ",
                false => "",
            };
            let time = told.map(|told| format!("{accepted}{}: {}", told.word(), told.text));
            text += &line("CONSTANT TIME", time.unwrap_or_else(|| "shown".into()));
            output::say(text.trim_end())?;
        }
        for warning in target.warnings(flash, area + stack) {
            output::tell(&format!("warning: {warning}"));
        }
        if leaks && !args.variable_time {
            output::tell(
                "warning: the result is right, but time or addresses are not shown to be the same for all numbers: \
                 --variable-time accepts that",
            );
        }
        Ok(!leaks || args.variable_time)
    }
}
