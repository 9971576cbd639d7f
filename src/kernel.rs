//! From a request to a judged kernel: every candidate is counted, the cheapest is proved.

use num_bigint::BigUint;
use thiserror::Error;

use crate::candidate::{Budget, Candidate, Choice, Plan};
use crate::facts::Style;
use crate::function::Function;
use crate::isa::{Cost, Isa, Limits, LowerError, Operands, Span, Stopped};
use crate::method::{Method, MethodError, Params};
use crate::program::{Claim, Program};
use crate::prove::{self, Proof, Timing, Verdict};
pub use crate::request::{Request, did_you_mean};
use crate::request::{methods, parameters, styles};
use crate::schedule::ScheduleError;
use crate::spec::{Alias, Spec, SpecError};
use crate::timing;
use crate::trial::{Tested, trespass, try_pairs};

pub use crate::trial::counterexample;

mod refused;
#[cfg(test)]
mod tests;

use refused::{if_advice_fails, more_telling};

/// The most instructions a concrete run may take.
pub const RUN_LIMIT: u64 = 1 << 26;

/// Why there is no kernel.
#[derive(Error, Debug)]
pub enum Error {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("unknown method {name}{hint}; `lozenge list methods` names them all")]
    UnknownMethod { name: String, hint: String },
    #[error("{method} has no parameter {name}; it takes {known}")]
    UnknownParameter {
        method: &'static str,
        name: String,
        known: String,
    },
    #[error("-p needs --method: parameters belong to a method")]
    ParameterWithoutMethod,
    #[error("{0} does not compute {1}")]
    WrongOperation(&'static str, &'static str),
    #[error(transparent)]
    Method(#[from] MethodError),
    #[error("{method}: {error}{}", advice(.error, .others))]
    Lower {
        method: &'static str,
        error: LowerError,
        /// A method that makes the same in loops.
        others: Option<&'static str>,
    },
    #[error("{method} made an invalid schedule (a defect of this tool): {error}")]
    Schedule {
        method: &'static str,
        error: ScheduleError,
    },
    #[error("{0} (a defect of this tool)")]
    Encode(String),
    #[error("{method}: no {asked} form here, only {}{}: try --style {}{}", made.name(), because(.why), made.name(), other(.others, ", or "))]
    Style {
        method: &'static str,
        asked: &'static str,
        made: Style,
        /// What in its arithmetic keeps it from being loops.
        why: Option<&'static str>,
        /// A method that makes the same in loops.
        others: Option<&'static str>,
    },
    #[error("there is no instruction {0}: the kernel has {1}")]
    Drop(usize, usize),
    #[error("no method makes {0}: `lozenge check --op {0}` audits a function that computes it")]
    NoMethod(&'static str),
    #[error("no method fits")]
    Nothing,
    #[error("no kernel within {budget}: {nearest}")]
    Budget {
        budget: Budget,
        nearest: String,
        /// Bytes of the smallest, where it is too long.
        least: Option<usize>,
    },
}

/// A method, as it is typed.
fn other(name: &Option<&'static str>, before: &str) -> String {
    let typed = |name| format!("{before}--style rolled --method {name}");
    name.map_or(String::new(), typed)
}

/// A reason, in brackets.
fn because(why: &Option<&'static str>) -> String {
    why.map_or(String::new(), |why| format!(" ({why})"))
}

/// What works where this does not: a machine knows no method.
fn advice(error: &LowerError, others: &Option<&'static str>) -> String {
    let text = match error {
        LowerError::NoMultiplier(_) => {
            ": mul and sqr are made by shift-and-add there, and on cores with 32 registers by hybrid and \
             square-product-scanning, montmul and montsqr by shift-and-add+sps and hfips, redc, tomont and frommont \
             by fips, modmul and modsqr by hybrid+fold and square-product-scanning+fold"
        }
        LowerError::ThreePointers => {
            let loops = others.map(|_| other(others, "") + ", or ");
            return format!(": try {}--abi gcc", loops.unwrap_or_default());
        }
        LowerError::Loops
        | LowerError::Sums(_)
        | LowerError::RowsOfQuotients
        | LowerError::WideRows
        | LowerError::Blocks => return other(others, ": try "),
        LowerError::Column(_) => ": try larger ones, --method hfips or hybrid -p d=4",
        LowerError::Displacements(_) => ": there only mul and sqr are made, by shift-and-add",
        _ => "",
    };
    text.to_string()
}

/// What may share memory, and why not.
#[derive(Clone, Debug)]
pub struct Aliasing {
    pub alias: Alias,
    pub allowed: bool,
    pub reason: Option<String>,
}

/// A kernel and everything known about it.
pub struct Kernel<I: Isa> {
    pub spec: Spec,
    /// The calling convention.
    pub abi: &'static str,
    pub method: &'static Method,
    pub params: Params,
    pub style: Style,
    pub program: Program<I::Insn>,
    pub code: Vec<u8>,
    pub cost: Cost,
    pub body_bytes: usize,
    pub proof: Proof,
    pub aliasing: Vec<Aliasing>,
    /// What time tells, per core.
    pub constant_time: Vec<(String, Timing)>,
}

impl<I: Isa> Kernel<I> {
    /// The claims of its method, about the instructions at so many bytes from the start.
    pub fn claims(&self, core: &I::Core) -> Vec<Claim> {
        prove::placed::<I>(core, &self.code, &self.program.claims)
    }

    /// Are equation, memory and calling convention proved?
    pub fn is_proved(&self) -> bool {
        self.proof.holds()
    }
}

/// Runs `code` on numbers.
///
/// # Errors
/// A fault, in words.
pub fn run<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    code: &[u8],
    sources: &[BigUint],
    alias: Alias,
) -> Result<(BigUint, Cost), String> {
    let function = Function::kernel(code);
    run_function::<I>(spec, core, &function, sources, alias)
        .map_err(|stopped| prove::describe::<I>(core, &function, &stopped))
}

/// Runs `function` on numbers.
///
/// # Errors
/// A fault and where.
pub fn run_function<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    sources: &[BigUint],
    alias: Alias,
) -> Result<(BigUint, Cost), Stopped> {
    let operands = Operands {
        spec,
        sources,
        alias,
    };
    I::call_concrete(core, function, &operands, RUN_LIMIT.min(function.limit))
}

/// The cheapest candidate in the call convention, then in bytes.
///
/// Plans are lowered in the order of what they take at least, until no other can be cheaper.
///
/// # Errors
/// The first reason if no candidate exists; that of the named method if one is named.
pub fn choose<I: Isa>(request: &Request, core: &I::Core) -> Result<(Spec, Candidate<I>), Error> {
    let spec = request.spec(I::WORD_BITS)?;
    let best = choose_but::<I>(&spec, request, core, &[])?.fits;
    Ok((spec, best.ok_or(Error::Nothing)?))
}

/// The best candidates, leaving out those with the codes `but`.
fn choose_but<I: Isa>(
    spec: &Spec,
    request: &Request,
    core: &I::Core,
    but: &[Vec<u8>],
) -> Result<Choice<I>, Error> {
    let unstyled = I::facts(core).limited(request.max_regs);
    let mut refused = None;
    let mut plans = Vec::new();
    let methods = methods(request)?;
    for (method, asked) in styles(request).flat_map(|s| methods.iter().map(move |m| (*m, s))) {
        let facts = unstyled.styled(asked.unwrap_or_default());
        let given = parameters(method, &request.params)?;
        let mut sets = match given.is_empty() {
            true => (method.defaults)(spec, &facts),
            false => vec![given],
        };
        if sets.is_empty() && request.method.is_some() {
            // The method says why.
            sets.push(Params::new());
        }
        for params in sets {
            match Plan::of::<I>(spec, core, method, params, (&facts, asked)) {
                Ok(plan) => plans.push(plan),
                Err(error) => {
                    let error = if_advice_fails::<I>(spec, core, (method, &request.params), error);
                    refused = Some(more_telling(refused, error));
                }
            }
        }
    }
    // What is too long in any case matters only where nothing fits.
    plans.sort_by_key(|plan| (!plan.may_fit(&request.budget), plan.least));
    let mut best = Choice::within(request.budget, request.style);
    for plan in &plans {
        let limits = Limits {
            registers: unstyled.free_registers,
            cycles: best.cycles(),
        };
        let hopeless = best.fits.is_some() && !plan.may_fit(&request.budget);
        if hopeless || plan.least > limits.cycles {
            break;
        }
        match plan.candidates::<I>(spec, core, limits) {
            Ok(list) => {
                let new = list.into_iter().filter(|c| !but.contains(&c.code));
                new.for_each(|candidate| best.offer(candidate));
            }
            Err(error) => refused = Some(more_telling(refused, error)),
        }
    }
    for plan in plans.iter().filter(|p| best.has(p.method, &p.params)) {
        plan.check()?;
    }
    match (best.is_empty(), refused) {
        (false, _) => Ok(best),
        (true, Some(error)) => Err(error),
        (true, None) => Err(Error::Nothing),
    }
}

/// Candidates that turn out not to be proved and are replaced by the next best.
const REPLACED: usize = 4;

/// A kernel for the request, judged on its bytes: the cheapest of those that are proved.
///
/// # Errors
/// When no candidate exists, or none within the budget: then what comes nearest.
pub fn generate<I: Isa>(request: &Request, core: &I::Core) -> Result<Kernel<I>, Error> {
    first_proved(request, core, |spec, candidate| {
        finish::<I>(spec, candidate, core, request.drop)
    })
}

/// The same, as `judged` says what is proved.
fn first_proved<I: Isa>(
    request: &Request,
    core: &I::Core,
    mut judged: impl FnMut(&Spec, Candidate<I>) -> Result<Kernel<I>, Error>,
) -> Result<Kernel<I>, Error> {
    let spec = request.spec(I::WORD_BITS)?;
    let mut unproved = None;
    let mut but = Vec::new();
    loop {
        let choice = match choose_but::<I>(&spec, request, core, &but) {
            Ok(choice) => choice,
            Err(error) => return unproved.ok_or(error),
        };
        let (nearest, least) = (choice.nearest_text(), choice.least_flash());
        let before = but.len();
        let fits = choice.fits.is_some();
        for candidate in choice.candidates() {
            let code = candidate.code.clone();
            let kernel = judged(&spec, candidate)?;
            let proved = kernel.is_proved();
            if fits && (proved || request.drop.is_some()) {
                return Ok(kernel);
            }
            if !proved {
                but.push(code);
            }
            if fits {
                unproved.get_or_insert(kernel);
            }
        }
        if but.len() == before || but.len() > REPLACED {
            let budget = request.budget;
            return unproved.ok_or(Error::Budget {
                budget,
                nearest,
                least,
            });
        }
    }
}

/// The kernel of a candidate, without the instruction `drop`.
fn finish<I: Isa>(
    spec: &Spec,
    mut candidate: Candidate<I>,
    core: &I::Core,
    drop: Option<usize>,
) -> Result<Kernel<I>, Error> {
    if let Some(index) = drop {
        let count = candidate.program.insns.len();
        if index >= count {
            return Err(Error::Drop(index, count));
        }
        candidate.program.remove(index);
        candidate.code = I::encode(core, &candidate.program.insns).map_err(Error::Encode)?;
    }
    judge(spec.clone(), candidate, core)
}

/// Proves a candidate for every aliasing case and every core.
fn judge<I: Isa>(spec: Spec, candidate: Candidate<I>, core: &I::Core) -> Result<Kernel<I>, Error> {
    let Candidate {
        method,
        params,
        style,
        program,
        code,
        ..
    } = candidate;
    // The bytes must say what the program says: what follows works on the bytes alone.
    let decoded = I::decode(core, &code)
        .map_err(|at| Error::Encode(format!("{at:#x} is not an instruction")))?;
    if !decoded.iter().map(|(_, insn)| insn).eq(&program.insns) {
        return Err(Error::Encode("the bytes decode to another program".into()));
    }
    let function = prove::kernel::<I>(core, &code, &program.claims);
    let judged = judge_function::<I>(&spec, core, &function, Search::OWN);
    let mut frame = Vec::new();
    for (_, insn) in decoded.iter().filter(|(_, insn)| I::is_frame(core, insn)) {
        frame.extend(I::encode(core, &[*insn]).map_err(Error::Encode)?);
    }
    Ok(Kernel {
        spec,
        abi: I::abi(core),
        method,
        params,
        style,
        program,
        body_bytes: code.len() - frame.len(),
        code,
        cost: judged.cost,
        proof: judged.proof,
        aliasing: judged.aliasing,
        constant_time: judged.constant_time,
    })
}

/// Concrete runs in search of a counterexample, besides the corners.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Beside a proof.
    pub proved: usize,
    /// Where there is none.
    pub open: usize,
    /// Say how many were right?
    pub told: bool,
}

impl Search {
    /// For kernels made here.
    pub const OWN: Search = Search {
        proved: 8,
        open: 400,
        told: false,
    };
    /// For kernels of others.
    pub const AUDIT: Search = Search {
        proved: 100,
        open: 20_000,
        told: true,
    };
}

/// Fewest and most cycles of runs on numbers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Measured {
    pub runs: usize,
    pub body: Span,
    pub call: Span,
}

/// What is known of a function that is said to compute `spec`.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Over all inputs, if the runs in the secret domain could be followed; else as measured.
    pub cost: Cost,
    pub measured: Option<Measured>,
    pub proof: Proof,
    pub aliasing: Vec<Aliasing>,
    /// What time tells, per core.
    pub constant_time: Vec<(String, Timing)>,
}

/// Proves `function` for every aliasing case and every core.
pub fn judge_function<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    search: Search,
) -> Judged {
    let (mut proof, tested) = verdict::<I>(spec, core, function, search);
    let mut aliasing = Vec::new();
    for alias in spec.aliases().iter().copied().skip(1) {
        if !proof.holds() {
            aliasing.push(Aliasing {
                alias,
                allowed: false,
                reason: Some("not even operands apart are proved".into()),
            });
            continue;
        }
        // A wrong result on numbers refuses at once; only what passes is worth a proof.
        if !alias.is_required() && counterexample::<I>(spec, core, function, alias, 0).is_some() {
            aliasing.push(Aliasing {
                alias,
                allowed: false,
                reason: Some("r is written before the operand is read".into()),
            });
            continue;
        }
        // What is proved for any a and b that are only read holds for one that is both: the run
        // is the same, as it cannot compare where they lie.
        let case = match alias {
            Alias::AIsB if proof.correct.is_proved() && proof.memory.is_proved() => proof.clone(),
            _ => prove::prove_function::<I>(spec, core, function, alias),
        };
        let allowed = case.holds();
        let reason = [&case.correct, &case.memory, &case.abi]
            .iter()
            .find_map(|v| v.reason().map(String::from));
        let right = case.correct.is_proved() && case.memory.is_proved();
        if alias.is_required() && !right && proof.correct.is_proved() {
            let text = reason.clone().unwrap_or_default();
            proof.correct = Verdict::Unknown(format!("with {}: {text}", alias.text()));
        }
        aliasing.push(Aliasing {
            alias,
            allowed,
            reason,
        });
    }
    let constant_time: Vec<_> = I::relatives(core)
        .into_iter()
        .map(|c| {
            (
                I::core_name(&c),
                prove::function_timing::<I>(spec, &c, function),
            )
        })
        .collect();
    let name = I::core_name(core);
    let counted = constant_time.iter().find(|(n, _)| *n == name);
    let measured = tested.cost.map(|cost| Measured {
        runs: tested.runs,
        call: cost.call,
        body: cost.body,
    });
    Judged {
        cost: counted
            .and_then(|(_, timing)| timing.cost)
            .or(tested.cost)
            .unwrap_or_default(),
        measured: measured.filter(|_| search.told),
        proof,
        aliasing,
        constant_time,
    }
}

/// The proof for distinct operands, with a counterexample where it fails and one is found.
///
/// Numbers are run beside a proof, too: should they ever disagree, the proof counts for nothing.
pub fn verdict<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    search: Search,
) -> (Proof, Tested) {
    let mut proof = prove::prove_function::<I>(spec, core, function, Alias::Distinct);
    let count = if proof.correct.is_proved() {
        search.proved
    } else {
        search.open
    };
    // What is not proved may be wrong for the very numbers that stand in the code.
    let numbers = match proof.correct.is_proved() || !search.told {
        true => Vec::new(),
        false => timing::numbers::<I>(spec, core, function),
    };
    let count = (count, numbers.as_slice());
    let tested = try_pairs::<I>(spec, core, function, Alias::Distinct, count);
    if let Verdict::Unknown(open) = &proof.memory
        && let Some(text) = trespass::<I>(spec, core, function)
    {
        proof.memory = Verdict::Disproved(format!("{text}; {open}"));
    }
    let runs = tested.runs;
    proof.correct = match (&tested.wrong, proof.correct) {
        // The same for all operands, or for these.
        (None, unpredictable @ Verdict::Unpredictable(_)) => unpredictable,
        (None, correct) if tested.unpredictable.is_some() => {
            let found = tested.unpredictable.as_deref();
            let parts = found.into_iter().chain(correct.reason());
            Verdict::Unpredictable(parts.collect::<Vec<_>>().join("; "))
        }
        (None, Verdict::Unknown(open)) if search.told => {
            let right = format!("{runs} random and structured operand pairs gave the right result");
            let right = (runs > 0).then_some(right);
            let parts = [Some(open), right, tested.stuck.clone()];
            Verdict::Unknown(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
        }
        (None, correct) => correct,
        (Some(text), correct) => Verdict::Disproved(match correct.reason() {
            Some(open) => format!("{text}; {open}"),
            None => text.clone(),
        }),
    };
    (proof, tested)
}
