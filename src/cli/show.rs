//! `lozenge show`: a function line by line.

use std::path::Path;

use clap::ValueEnum;
use lozenge::listing::Listing;
use lozenge::nearest::did_you_mean;
use lozenge::plans::{self, Entry};
use lozenge::{Contract, Function, spec};
use serde_json::json;

use crate::cli::arguments::{KernelArgs, ShowArgs};
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::values::OpArg;
use crate::cli::{check, draw, generate, output, show_plan};

/// Shows; `Ok(true)` always, as nothing is proved here.
pub fn run(args: &ShowArgs) -> Result<bool, Failure> {
    if args.what == "plan" {
        return plan(args);
    }
    let (title, listing) = match OpArg::from_str(&args.what, false) {
        Ok(op) => kernel(args, op)?,
        Err(_) => file(args)?,
    };
    match args.json {
        true => output::say(&generate::json(&json!({
            "title": title, "most_live": listing.most_live, "lines": listing.lines,
        }))?)?,
        false => output::say(format!("{title}\n{}", listing.text(args.live)).trim_end())?,
    }
    Ok(true)
}

/// A plan.
fn plan(args: &ShowArgs) -> Result<bool, Failure> {
    let name = args.size.as_deref().unwrap_or_default();
    let near = || did_you_mean(name, plans::names());
    let plan = plans::find(name).ok_or_else(|| {
        Failure::from(format!(
            "there is no plan {name}{}: try `lozenge list plans`",
            near()
        ))
    })?;
    match args.json {
        true => output::say(&generate::json(&Entry::of(plan))?)?,
        false => output::say(show_plan::text(plan).trim_end())?,
    }
    Ok(true)
}

/// The bits of an operand, if they were typed.
fn size(args: &ShowArgs) -> Result<Option<spec::Size>, Failure> {
    let bits = |text: &String| text.parse().map_err(|e: String| Failure::from(e));
    args.size.as_ref().map(bits).transpose()
}

/// A kernel that is made.
fn kernel(args: &ShowArgs, op: OpArg) -> Result<(String, Listing), Failure> {
    if args.symbol.is_some() || args.op.is_some() || args.args.is_some() {
        let what = &args.what;
        return Err(format!("{what} is an operation: leave out --symbol, --op and --args").into());
    }
    let kernel = KernelArgs {
        op,
        size: size(args)?,
        modular: args.modular.clone(),
        target: args.target.clone(),
        method: args.method.clone(),
        param: args.param.clone(),
        max_regs: None,
        style: args.style,
        max_flash: args.max_flash,
        max_stack: None,
    };
    let target = kernel.target.resolve()?;
    let progress = Progress::of(format!("{} for {}", args.what, target.core_name()));
    let made = draw::request(&kernel)?
        .watched(progress.watch())
        .generate(&target);
    progress.done();
    let made = made?;
    let report = made.report();
    let (core, plan) = (target.core_name(), report.method_text());
    let [body, call] = [report.cycles.body.max, report.cycles.call.max];
    let title = format!(
        "{} on {core}: {plan}; {body} cycles of the body, {call} of a call",
        made.name()
    );
    Ok((title, made.listing()?))
}

/// A function of a file.
fn file(args: &ShowArgs) -> Result<(String, Listing), Failure> {
    let path = Path::new(&args.what);
    if !path.exists() && !args.what.contains('(') {
        let what = &args.what;
        let text = format!("{what} is neither an operation nor a file: try `lozenge list ops`");
        return Err(text.into());
    }
    let missing = |name: &str| format!("of a file say which function it is: try {name}");
    let symbol = args
        .symbol
        .as_ref()
        .ok_or_else(|| missing("--symbol mul160"))?;
    let op = args.op.ok_or_else(|| missing("--op mul"))?;
    let size = generate::size(size(args)?, &args.modular, "show FILE")?;
    let target = args.target.resolve()?;
    let mut contract = Contract::new(op.into(), size);
    if let Some(modular) = args.modular.modular()? {
        contract = contract
            .modulus(modular.modulus)
            .reduce(modular.reduce)
            .shift(modular.shift)
            .times(modular.times);
    }
    if let Some(text) = &args.args {
        contract = contract.arguments(text);
    }
    let data = check::data(path, symbol, &target)?;
    let function = Function::load(&data, symbol, &contract, &target)?;
    let title = format!("{symbol} in {} on {}", args.what, target.core_name());
    Ok((title, function.listing()?))
}
