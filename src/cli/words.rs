//! An error of the library in words: one line, and what to type instead.

use lozenge::candidate::{Extreme, Nearest};
use lozenge::lower::LowerError;
use lozenge::method::catalogue::in_one_time;
use lozenge::report::{Missing, Report};
use lozenge::smt::NEEDS_A_NUMBER;
use lozenge::spec::Op;
use lozenge::target::{Near, TargetError};
use lozenge::{Error, What};

use crate::cli::advice::advice;
use crate::cli::instead;

/// A line for people, and what to do instead, for scripts.
pub struct Said {
    pub text: String,
    pub advice: Option<String>,
}

/// `head: try advice`, or, where the advice says `leave out`, as it is.
pub fn said(head: impl std::fmt::Display, advice: &str) -> Said {
    let word = match advice.starts_with("leave out") {
        true => "",
        false => "try ",
    };
    Said {
        text: format!("{head}: {word}{advice}"),
        advice: Some(advice.into()),
    }
}

/// A line that is complete, with what to do instead.
fn with(text: impl std::fmt::Display, advice: impl Into<String>) -> Said {
    Said {
        text: text.to_string(),
        advice: Some(advice.into()),
    }
}

/// A line with its advice in it, or without any.
fn plain(text: impl std::fmt::Display) -> Said {
    let text = text.to_string();
    let advice = advice(&text).map(String::from);
    Said { text, advice }
}

/// ` (did you mean p256?)`.
fn question(nearest: &Option<String>) -> String {
    let ask = |name: &String| format!(" (did you mean {name}?)");
    nearest.as_ref().map_or(String::new(), ask)
}

/// With what to type instead, if there is something.
fn worded(text: impl std::fmt::Display, advice: Option<String>) -> Said {
    match advice {
        Some(advice) => said(text, &advice),
        None => plain(text),
    }
}

/// What the library says, in words of the command line.
pub fn of(error: &Error) -> Said {
    match error {
        Error::Unknown {
            what,
            name,
            nearest,
            of,
            known,
        } => unknown(*what, name, of.as_deref(), nearest, known),
        Error::Target(error) => target(error),
        Error::Registers {
            parameter, largest, ..
        } => {
            let advice = format!("-p {parameter}={largest}");
            with(format!("{error} (try {advice})"), advice)
        }
        Error::Budget {
            limits,
            part,
            nearest,
        } => {
            let limits = match part {
                Some(room) => format!(
                    "fits {}, with {} bytes of flash{} and, beside the operands, {} of RAM",
                    room.part,
                    room.flash,
                    room.below,
                    limits.stack.unwrap_or(room.ram)
                ),
                None => format!("within {limits}"),
            };
            budget(&limits, nearest)
        }
        Error::Operands { .. } => with(
            format!(
                "{error}: try a larger part or fewer bits, or, if they need not all be there, --max-stack 64"
            ),
            "a larger part or fewer bits, or, if they need not all be there, --max-stack 64",
        ),
        Error::NotForTarget { why, instead, .. } => not_for_target(error, why, *instead),
        Error::Operation { able, .. } => {
            let able = able.join(", ");
            with(
                format!("{error}: {able} do, or leave out --method"),
                "leave out --method",
            )
        }
        Error::Style {
            made, why, instead, ..
        } => {
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            let instead = instead.map_or(String::new(), |name| {
                format!(", or {}", instead::in_loops(name))
            });
            let advice = format!("--style {}{instead}", made.name());
            said(format!("{error}{why}"), &advice)
        }
        Error::NoMethodNamed => with(
            "-p needs --method: parameters belong to a method",
            "--method",
        ),
        Error::NoMethod(op) => {
            let check = format!("`lozenge check --op {op}`");
            with(
                format!("{error}: {check} audits a function that computes it"),
                check,
            )
        }
        Error::Nothing => said(
            error,
            "leave out --method, --style and --max-regs, or try another size",
        ),
        Error::NotInOneTime(_) => said(
            error,
            "where operands are no secrets, --variable-time accepts that",
        ),
        Error::Overlap { .. } => said(error, "leave out --alias, and let r lie elsewhere"),
        Error::NoAlias { alias, .. } => {
            said(error, &format!("leave out --alias {}", alias.argument()))
        }
        Error::NoInstruction(_, count) => {
            with(error, format!("--drop {}", count.saturating_sub(1)))
        }
        Error::Spec(error) => worded(error, instead::spec(error)),
        Error::Method(error) => worded(error, instead::method(error)),
        Error::Contract(error) => worded(error, instead::contract(error)),
        Error::Export(why) if why == NEEDS_A_NUMBER => said(error, "--op montmul --modulus 251"),
        _ => plain(error),
    }
}

fn unknown(
    what: What,
    name: &str,
    of: Option<&str>,
    nearest: &Option<String>,
    known: &[&str],
) -> Said {
    let ask = question(nearest);
    let of = of.unwrap_or_default();
    let all = match known {
        [] => "none".to_string(),
        known => known.join(", "),
    };
    // Whose names are listed, and the option that takes one.
    let (topic, option) = match what {
        What::Part => ("mcus", "--mcu"),
        What::Core => ("cores", "--core"),
        What::Method => ("methods", "--method"),
        What::Extension => {
            let advice = match (nearest, known) {
                (Some(name), _) => format!("--isa-ext {name}"),
                (None, []) => "leave out --isa-ext".into(),
                (None, known) => format!("--isa-ext {}", known.join(" or --isa-ext ")),
            };
            return with(
                format!("{of} has no extension {name}{ask}; it takes {all}"),
                advice,
            );
        }
        What::Parameter => {
            let advice = match known {
                [] => "leave out -p".into(),
                known => format!("-p {}=...", known.join("=... or -p ")),
            };
            return with(
                format!("{of} has no parameter {name}; it takes {all}"),
                advice,
            );
        }
        What::Plan => ("plans", "-p plan="),
        What::Modulus => return said(format!("{name} is no modulus{ask}"), "--modulus p256"),
        _ => return plain(format!("unknown {what} {name}{ask}")),
    };
    let list = format!("`lozenge list {topic}`");
    let advice = match nearest {
        Some(name) => format!("{option} {name}"),
        None => list.clone(),
    };
    with(
        format!("unknown {what} {name}{ask}; {list} names them all"),
        advice,
    )
}

fn target(error: &TargetError) -> Said {
    match error {
        TargetError::PartIsCore(name) => said(error, &format!("--core {name}")),
        TargetError::CoreIsPart(name) => said(error, &format!("--mcu {name}")),
        TargetError::NotYet { nearest, .. } => {
            let (advice, differs) = match nearest {
                Near::Same(core) => (format!("--core {core}"), String::new()),
                Near::Core(core, differs) => (format!("--core {core}"), format!(", {differs}")),
                Near::Nothing => {
                    let list = "`lozenge list cores`";
                    let text = format!("{error}: the nearest is none; {list} says what there is");
                    return with(text, list);
                }
            };
            with(
                format!("{error}: the nearest is {advice}{differs}"),
                advice.clone(),
            )
        }
        TargetError::Conflict(part, ..) => with(
            format!("{error}: give one of --mcu and --core"),
            format!("--mcu {part}"),
        ),
        TargetError::Missing => said(
            "--mcu or --core says what the kernel is for",
            "--mcu atmega328p",
        ),
        TargetError::NoBigEndian(_) => said(error, "leave out --big-endian"),
        TargetError::NoDialect { known, .. } => {
            let known: Vec<_> = known.iter().map(|dialect| dialect.name()).collect();
            said(error, &format!("--dialect {}", known.join(" or ")))
        }
        TargetError::NoAbi { known: [], .. } => said(error, "leave out --abi"),
        TargetError::NoAbi { known, .. } => said(error, &known.join(" or ")),
        TargetError::NoIrq { known, .. } if known.is_empty() => said(error, "leave out --irq"),
        TargetError::NoIrq { known, .. } => said(error, &format!("--irq {}", known.join(" or "))),
        TargetError::UnknownMcu { .. }
        | TargetError::UnknownCore { .. }
        | TargetError::UnknownExtension { .. } => plain(error),
    }
}

fn budget(limits: &str, nearest: &[Nearest]) -> Said {
    let told = |near: &Nearest| {
        let what = match near.what {
            Extreme::Smallest => "smallest",
            Extreme::LeastStack => "least stack",
        };
        let Nearest {
            flash,
            stack,
            name,
            budget,
            ..
        } = near;
        format!("{what}: {flash} bytes of code and {stack} of stack by {name}, try {budget}")
    };
    let texts: Vec<_> = nearest.iter().map(told).collect();
    let advice: Vec<_> = nearest.iter().map(|near| near.budget.to_string()).collect();
    Said {
        text: format!("no kernel {limits}: {}", texts.join("; ")),
        advice: Some(advice.join(" or ")).filter(|advice| !advice.is_empty()),
    }
}

/// What works where this does not: a machine knows no method.
fn not_for_target(error: &Error, why: &LowerError, others: Option<&str>) -> Said {
    match why {
        LowerError::NoMultiplier(_) => with(
            format!(
                "{error}: mul and sqr are made by shift-and-add there, and on cores with 32 registers by hybrid and \
                 square-product-scanning, montmul and montsqr by shift-and-add+sps and hfips, redc, tomont and frommont \
                 by fips, modmul and modsqr by hybrid+fold and square-product-scanning+fold"
            ),
            "leave out --method",
        ),
        LowerError::Displacements(_) => with(
            format!("{error}: there only mul and sqr are made, by shift-and-add"),
            "--method shift-and-add",
        ),
        _ => worded(error, instead::lowering(why, others)),
    }
}

/// What is not proved though it was demanded, and what to do about it.
pub fn open(report: &Report) -> String {
    let op = Op::ALL.into_iter().find(|op| op.name() == report.spec.op);
    let is_cured = report.one_time.is_none() && op.and_then(in_one_time).is_some();
    let told = |missing: Missing| match &missing {
        Missing::Proof => format!("{missing} (--unproved writes it all the same)"),
        Missing::Overlap(_) => {
            format!("{missing}: another --method, or leave out --alias and let r lie elsewhere")
        }
        Missing::Time { .. } => {
            let cure = match is_cured {
                true => "try --constant-time (products that take one time), or take",
                false => "take",
            };
            format!(
                "{missing}; where they are no secrets --variable-time accepts that, where they are, {cure} another core: \
                 `lozenge list cores`"
            )
        }
    };
    let list: Vec<_> = report.missing().into_iter().map(told).collect();
    list.join("; ")
}
