//! From a request to a judged kernel: every candidate is counted, the cheapest is proved.

use num_bigint::BigUint;

use crate::candidate::{Budget, Candidate, Choice, Plan};
use crate::facts::Style;
use crate::function::Function;
use crate::isa::{Cost, Isa, Limits, Operands, Span, Stopped};
use crate::method::{Method, Params};
use crate::program::{Claim, Program};
use crate::prove::{self, Proof, Timing, Verdict};
pub use crate::request::{Demands, Request, did_you_mean};
use crate::request::{methods, parameters};
use crate::spec::{Alias, Spec};
use crate::timing;
use crate::trial::{Tested, trespass, try_pairs};

mod error;

pub use crate::trial::counterexample;
pub use error::Error;

mod refused;
mod tests;

use refused::{if_advice_fails, more_telling};

/// The most instructions a concrete run may take.
pub const RUN_LIMIT: u64 = 1 << 26;

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
    /// The core it was asked for.
    pub core: String,
    /// What was asked of it.
    pub demands: Demands,
}

impl<I: Isa> Kernel<I> {
    /// The claims of its method, about the instructions at so many bytes from the start.
    pub fn claims(&self, core: &I::Core) -> Vec<Claim> {
        prove::placed::<I>(core, &self.code, &self.program.claims)
    }

    /// Are equation, memory and calling convention proved, and what was demanded besides?
    pub fn is_proved(&self) -> bool {
        self.is_sound() && self.keeps_its_time()
    }

    /// Are equation, memory and calling convention proved, for the overlaps that were asked for, too?
    pub fn is_sound(&self) -> bool {
        let allowed = |alias: &Alias| self.aliasing.iter().any(|c| c.alias == *alias && c.allowed);
        self.proof.holds() && self.demands.aliases.iter().all(allowed)
    }

    /// Does neither time nor an address depend on operands on the core it was asked for, or may they?
    pub fn keeps_its_time(&self) -> bool {
        self.demands.variable_time || !self.leaks()
    }

    /// Is it not shown that time and addresses are the same for all operands, on the core it was asked for?
    pub fn leaks(&self) -> bool {
        let own = self
            .constant_time
            .iter()
            .find(|(name, _)| *name == self.core);
        own.is_none_or(|(_, timing)| timing.leak.is_some())
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
    let limits = request.limits(spec)?;
    let styles = request.styles(spec);
    let first = choose_of::<I>(spec, (request, limits), core, but, styles);
    let smaller = request.smaller_styles();
    let fits = first.as_ref().is_ok_and(|choice| choice.fits.is_some());
    let overlaps = matches!(first, Err(Error::Overlap(..)));
    if fits || smaller.is_empty() || first.is_err() && !overlaps {
        return first;
    }
    // What is written out is too much for the part, or not right: loops may do. If not, this is what there is.
    let small = choose_of::<I>(spec, (request, limits), core, but, smaller);
    match (small, first) {
        (Ok(small), Ok(mut choice)) => {
            let more = small.candidates();
            more.for_each(|candidate| choice.offer(candidate));
            Ok(choice)
        }
        (Ok(small), Err(_)) => Ok(small),
        (Err(_), first) => first,
    }
}

/// The same of these styles alone.
fn choose_of<I: Isa>(
    spec: &Spec,
    (request, budget): (&Request, Budget),
    core: &I::Core,
    but: &[Vec<u8>],
    styles: &[Option<Style>],
) -> Result<Choice<I>, Error> {
    let unstyled = I::facts(core).limited(request.max_regs);
    let mut refused = None;
    let mut plans = Vec::new();
    let methods = methods(request)?;
    for (method, asked) in styles
        .iter()
        .flat_map(|s| methods.iter().map(move |m| (*m, *s)))
    {
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
    plans.sort_by_key(|plan| (!plan.may_fit(&budget), plan.least));
    let mut best = Choice::within(budget, request.style);
    for plan in &plans {
        let limits = Limits {
            registers: unstyled.free_registers,
            cycles: best.cycles(),
            overlap: !request.demands.aliases.is_empty(),
        };
        let hopeless = best.fits.is_some() && !plan.may_fit(&budget);
        if hopeless || plan.least > limits.cycles {
            break;
        }
        match plan.candidates::<I>(spec, core, limits) {
            Ok(list) => {
                for candidate in list.into_iter().filter(|c| !but.contains(&c.code)) {
                    match wrong_overlap::<I>(spec, core, request, &candidate) {
                        None => best.offer(candidate),
                        Some(alias) => {
                            let error = Error::Overlap(alias.text(), candidate.name());
                            refused = Some(more_telling(refused, error));
                        }
                    }
                }
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

/// An overlap that was asked for, and is wrong on numbers.
fn wrong_overlap<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    request: &Request,
    candidate: &Candidate<I>,
) -> Option<Alias> {
    let function = Function::kernel(&candidate.code);
    let wrong = |alias: &&Alias| counterexample::<I>(spec, core, &function, **alias, 0).is_some();
    request.demands.aliases.iter().find(wrong).copied()
}

/// Candidates that turn out not to be proved and are replaced by the next best.
const REPLACED: usize = 4;

/// A kernel for the request, judged on its bytes: the cheapest of those that are proved.
///
/// # Errors
/// When no candidate exists, or none within the budget: then what comes nearest.
pub fn generate<I: Isa>(request: &Request, core: &I::Core) -> Result<Kernel<I>, Error> {
    first_proved(request, core, |spec, candidate| {
        finish::<I>(spec, candidate, core, request)
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
            // What leaks is told, not replaced: a machine whose cheapest product leaks has no other.
            let proved = kernel.is_sound();
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
            let limits = request.limits(&spec)?;
            return unproved.ok_or(Error::Budget {
                limits: request.limits_text(&limits),
                nearest,
                least,
            });
        }
    }
}

/// The kernel of a candidate, without the instruction that is to be left out.
fn finish<I: Isa>(
    spec: &Spec,
    mut candidate: Candidate<I>,
    core: &I::Core,
    request: &Request,
) -> Result<Kernel<I>, Error> {
    if let Some(index) = request.drop {
        let count = candidate.program.insns.len();
        if index >= count {
            return Err(Error::Drop(index, count));
        }
        candidate.program.remove(index);
        candidate.code = I::encode(core, &candidate.program.insns).map_err(Error::Encode)?;
    }
    judge(spec.clone(), candidate, core, request.demands.clone())
}

/// Proves a candidate for every aliasing case and every core.
fn judge<I: Isa>(
    spec: Spec,
    candidate: Candidate<I>,
    core: &I::Core,
    demands: Demands,
) -> Result<Kernel<I>, Error> {
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
        core: I::core_name(core),
        demands,
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
