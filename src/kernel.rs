//! From a request to a judged kernel: every candidate is counted, the cheapest is proved.

use finder::algebra::Algebra;
use judge::prove;
use judge::prove::Proof;
use judge::timing::{self, Timing};
use judge::trial::Tested;
pub use judge::trial::counterexample;
pub use judge::verdict::{Aliasing, Judged, Measured, Search};
use machine::call::Operands;
use machine::function::Function;
use machine::isa::Cost;
pub use machine::isa::RUN_LIMIT;
use machine::isa::core::{Core, Insn};
use machine::program::{Claim, Program};
use machine::told;
use make::candidate::{Budget, Candidate, Choice, Plan};
pub use make::error::Error;
use make::facts::Style;
use make::lower::{self, Limits};
use make::method::{Method, Params};
pub use make::request::{Demands, Request};
use make::request::{methods, parameters};
use make::schedule::Schedule;
use make::winners::{Named, Winner};
use num_bigint::BigUint;
use spec::{Alias, Spec};

mod refused;

use crate::kernel::refused::{if_advice_fails, more_telling};

/// What a search is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// A plan is lowered and counted.
    Counting {
        /// Method and parameters.
        plan: &'a str,
        /// Plans before it.
        tried: usize,
        /// Plans behind it, of which those that cannot be cheaper are left out.
        left: usize,
    },
    /// Its code is judged.
    Proving {
        /// Method and parameters.
        plan: &'a str,
    },
}

/// Who is told of each step.
pub type Watch<'a> = dyn Fn(Step<'_>) + 'a;

/// What runs code on numbers, again and again; an error is a fault, in words.
pub type Runs<'a> = Box<dyn Fn(&[BigUint], Alias) -> Result<(BigUint, Cost), String> + 'a>;

/// Who says what is known of code that is said to compute something.
pub type Judge<'a> = dyn Fn(&Spec, &Function) -> Judged + 'a;

/// A kernel and everything known about it.
pub struct Kernel {
    /// What it computes.
    pub spec: Spec,
    /// The calling convention.
    pub abi: &'static str,
    /// How.
    pub method: &'static Method,
    /// With these parameters of the method.
    pub params: Params,
    /// How much is written out.
    pub style: Style,
    /// Its instructions.
    pub program: Program<Insn>,
    /// Their bytes.
    pub code: Vec<u8>,
    /// Cycles, instructions and stack, over all inputs.
    pub cost: Cost,
    /// Bytes of code without those that only serve the call.
    pub body_bytes: usize,
    /// Equation, memory and calling convention.
    pub proof: Proof,
    /// Which operands may share memory.
    pub aliasing: Vec<Aliasing>,
    /// What time tells, per core.
    pub constant_time: Vec<(String, Timing)>,
    /// The core it was asked for.
    pub core: Core,
    /// What was asked of it.
    pub demands: Demands,
    /// Is its plan the cheapest on record?
    pub on_record: bool,
}

impl Kernel {
    /// The claims of its method, about the instructions at so many bytes from the start.
    pub fn claims(&self) -> Vec<Claim> {
        prove::placed(&self.core, &self.code, &self.program.claims)
    }

    /// Its style, method and parameters.
    pub fn plan(&self) -> Winner {
        let params = self.params.iter().map(|(k, v)| (k.to_string(), *v));
        Winner {
            style: self.style,
            named: Named {
                method: self.method.name.into(),
                params: params.collect(),
                plan: self.params.plan.clone(),
            },
        }
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
        let name = self.core.name();
        let own = self.constant_time.iter().find(|(core, _)| *core == name);
        own.is_none_or(|(_, timing)| timing.leak.is_some())
    }
}

/// What runs `code` on numbers, again and again; an error is a fault, in words.
pub fn runs<'a>(spec: &'a Spec, core: &'a Core, code: &[u8]) -> Runs<'a> {
    let function = Function::kernel(code).returning(spec);
    let call = core.calls(function.clone());
    Box::new(move |sources, alias| {
        call(&Operands::of(spec, sources, alias), RUN_LIMIT)
            .map_err(|stopped| told::describe(core, &function, &stopped))
    })
}

/// Proves `function` for every aliasing case and every core.
pub fn judge_function(spec: &Spec, core: &Core, function: &Function, search: Search) -> Judged {
    judge::verdict::judge_function::<Algebra>(spec, core, function, search)
}

/// The proof for distinct operands, with a counterexample where it fails and one is found.
pub fn verdict(spec: &Spec, core: &Core, function: &Function, search: Search) -> (Proof, Tested) {
    judge::verdict::verdict::<Algebra>(spec, core, function, search)
}

/// The cheapest candidate in the call convention, then in bytes.
///
/// Plans are lowered in the order of what they take at least, until no other can be cheaper.
///
/// # Errors
/// The first reason if no candidate exists; that of the named method if one is named.
pub fn choose(request: &Request, core: &Core) -> Result<(Spec, Candidate), Error> {
    let spec = request.spec(core.word_bits())?;
    let best = choose_but(&spec, request, core, &[], &|_| {})?.fits;
    Ok((spec, best.ok_or(Error::Nothing)?))
}

/// The schedule that the code of `candidate` runs.
///
/// # Errors
/// What the method says.
pub fn schedule(
    spec: &Spec,
    request: &Request,
    core: &Core,
    method: &Method,
    params: &Params,
    style: Style,
) -> Result<Schedule, Error> {
    let unstyled = lower::facts(core).limited(request.max_regs);
    // Loops that nobody asked for follow from the facts of straight code.
    let straight = (method.schedule)(spec, &unstyled.styled(Style::default()), params);
    match straight {
        Ok(schedule) if schedule.style() == style => Ok(schedule),
        _ => Ok((method.schedule)(spec, &unstyled.styled(style), params)?),
    }
}

/// The candidate of a plan on record, if it fits.
fn recorded(spec: &Spec, known: &Request, core: &Core) -> Option<Choice> {
    let limits = known.limits(spec).ok()?;
    let search = Searched {
        but: &[],
        watch: &|_| {},
    };
    let choice = choose_of(spec, known, limits, core, search, known.styles(spec)).ok()?;
    choice.fits.is_some().then_some(choice)
}

/// The same with the candidates of plans on record, which a search of all methods may not meet: `lozenge tune` found
/// some. Only those written out are offered where loops `may_follow`.
fn with_record(
    mut found: Choice,
    spec: &Spec,
    known: &[Request],
    core: &Core,
    but: &[Vec<u8>],
    may_follow: bool,
) -> Choice {
    let offered = |known: &&Request| !may_follow || known.style == Some(Style::Unrolled);
    let choices = known.iter().filter(offered);
    let choices = choices.filter_map(|known| recorded(spec, known, core));
    let candidates = choices.flat_map(Choice::candidates);
    for candidate in candidates.filter(|candidate| !but.contains(&candidate.code)) {
        found.offer(candidate);
    }
    found
}

/// Codes that a search leaves out, and who watches it.
#[derive(Clone, Copy)]
struct Searched<'a> {
    but: &'a [Vec<u8>],
    watch: &'a Watch<'a>,
}

/// The best candidates, leaving out those with the codes `but`.
fn choose_but(
    spec: &Spec,
    request: &Request,
    core: &Core,
    but: &[Vec<u8>],
    watch: &Watch<'_>,
) -> Result<Choice, Error> {
    let known = request.on_record(&core.name(), core.abi(), spec);
    if but.is_empty() && !request.search {
        let mut choices = known.iter().map(|known| recorded(spec, known, core));
        if let Some(choice) = choices.find_map(|choice| choice) {
            return Ok(choice);
        }
    }
    let limits = request.limits(spec)?;
    let styles = request.styles(spec);
    let search = Searched { but, watch };
    let first = choose_of(spec, request, limits, core, search, styles);
    let smaller = request.smaller_styles();
    let may_follow = !smaller.is_empty() && styles.len() == 1;
    let with_record = |choice, may_follow| with_record(choice, spec, &known, core, but, may_follow);
    let first = first.map(|choice| with_record(choice, may_follow));
    let fits = first.as_ref().is_ok_and(|choice| choice.fits.is_some());
    let overlaps = matches!(first, Err(Error::Overlap { .. }));
    if fits || smaller.is_empty() || first.is_err() && !overlaps {
        return first;
    }
    // What is written out is too much for the part, or not right: loops may do. If not, this is what there is.
    let small = choose_of(spec, request, limits, core, search, smaller);
    match (small.map(|choice| with_record(choice, false)), first) {
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
fn choose_of(
    spec: &Spec,
    request: &Request,
    budget: Budget,
    core: &Core,
    search: Searched<'_>,
    styles: &[Option<Style>],
) -> Result<Choice, Error> {
    let (mut plans, mut refused) = plans(spec, request, core, styles)?;
    // What is too long in any case matters only where nothing fits.
    plans.sort_by_key(|plan| (!plan.may_fit(&budget), plan.least));
    let mut best = Choice::within(budget, request.style);
    for (tried, plan) in plans.iter().enumerate() {
        let limits = Limits {
            registers: lower::facts(core).limited(request.max_regs).free_registers,
            cycles: best.cycles(),
            overlap: !request.demands.aliases.is_empty(),
        };
        let hopeless = best.fits.is_some() && !plan.may_fit(&budget);
        if hopeless || plan.least > limits.cycles {
            break;
        }
        (search.watch)(Step::Counting {
            plan: &make::method::text(plan.method.name, &plan.params),
            tried,
            left: plans.len() - tried - 1,
        });
        match plan.candidates(spec, core, limits) {
            Ok(list) => {
                for candidate in list.into_iter().filter(|c| !search.but.contains(&c.code)) {
                    if request.demands.one_time
                        && timing::timing(spec, core, &candidate.code).leak.is_some()
                    {
                        let error = Error::NotInOneTime(candidate.name());
                        refused = Some(more_telling(refused, error));
                        continue;
                    }
                    match wrong_overlap(spec, core, request, &candidate) {
                        None => best.offer(candidate),
                        Some(alias) => {
                            let method = candidate.name();
                            let error = Error::Overlap { alias, method };
                            refused = Some(more_telling(refused, error));
                        }
                    }
                }
            }
            Err(error) => refused = Some(more_telling(refused, error)),
        }
    }
    for plan in plans.iter().filter(|p| best.has(p.method, &p.params)) {
        plan.check(spec)?;
    }
    match (best.is_empty(), refused) {
        (false, _) => Ok(best),
        (true, Some(error)) => Err(error),
        (true, None) => Err(Error::Nothing),
    }
}

/// All ways to make it, and the most telling reason why others are none.
///
/// # Errors
/// A method or parameters that are not there.
fn plans(
    spec: &Spec,
    request: &Request,
    core: &Core,
    styles: &[Option<Style>],
) -> Result<(Vec<Plan>, Option<Error>), Error> {
    let unstyled = lower::facts(core).limited(request.max_regs);
    let mut refused = None;
    let mut plans = Vec::new();
    let methods = methods(request)?;
    for (method, asked) in styles
        .iter()
        .flat_map(|s| methods.iter().map(move |m| (*m, *s)))
    {
        let facts = unstyled.styled(asked.unwrap_or_default());
        let given = parameters(method, &request.params, request.plan.as_ref())?;
        let mut sets = match given.is_empty() {
            true => (method.defaults)(spec, &facts),
            false => vec![given],
        };
        if sets.is_empty() && request.method.is_some() {
            // The method says why.
            sets.push(Params::new());
        }
        for params in sets {
            match Plan::of(spec, core, method, params, &facts, asked) {
                Ok(plan) => plans.push(plan),
                Err(error) => {
                    let error = if_advice_fails(spec, core, method, request, error);
                    refused = Some(more_telling(refused, error));
                }
            }
        }
    }
    Ok((plans, refused))
}

/// An overlap that was asked for, and is wrong on numbers.
fn wrong_overlap(
    spec: &Spec,
    core: &Core,
    request: &Request,
    candidate: &Candidate,
) -> Option<Alias> {
    let function = Function::kernel(&candidate.code).returning(spec);
    let wrong = |alias: &&Alias| counterexample(spec, core, &function, **alias, 0).is_some();
    request.demands.aliases.iter().find(wrong).copied()
}

/// Candidates that turn out not to be proved and are replaced by the next best.
const REPLACED: usize = 4;

/// A kernel for the request, judged on its bytes: the cheapest of those that are proved.
///
/// # Errors
/// When no candidate exists, or none within the budget: then what comes nearest.
pub fn generate(request: &Request, core: &Core) -> Result<Kernel, Error> {
    generate_watched(request, core, &|_| {})
}

/// The same, whose steps are told to `watch`.
///
/// # Errors
/// Those of [`generate`].
pub fn generate_watched(
    request: &Request,
    core: &Core,
    watch: &Watch<'_>,
) -> Result<Kernel, Error> {
    let judge = |spec: &Spec, code: &Function| judge_function(spec, core, code, Search::OWN);
    generated(request, core, &judge, watch)
}

/// The same, with verdicts on its code from `judge`.
///
/// # Errors
/// Those of [`generate`].
pub fn generate_by(request: &Request, core: &Core, judge: &Judge<'_>) -> Result<Kernel, Error> {
    generated(request, core, judge, &|_| {})
}

fn generated(
    request: &Request,
    core: &Core,
    judge: &Judge<'_>,
    watch: &Watch<'_>,
) -> Result<Kernel, Error> {
    let spec = request.spec(core.word_bits())?;
    let mut unproved = None;
    let mut but = Vec::new();
    loop {
        let choice = match choose_but(&spec, request, core, &but, watch) {
            Ok(choice) => choice,
            Err(error) => return unproved.ok_or(error),
        };
        let (nearest, least) = (choice.nearest(), choice.least_flash());
        let before = but.len();
        let fits = choice.fits.is_some();
        let winners = request.winners(&core.name(), core.abi(), &spec);
        for candidate in choice.candidates() {
            let code = candidate.code.clone();
            watch(Step::Proving {
                plan: &candidate.name(),
            });
            let mut kernel = finish(&spec, candidate, core, request, judge)?;
            kernel.on_record = winners.contains(&kernel.plan());
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
                limits,
                part: request.limited_by(),
                nearest,
                least,
            });
        }
    }
}

/// The kernel of a candidate, without the instruction that is to be left out, with the verdicts of `judge` on
/// its code.
fn finish(
    spec: &Spec,
    mut candidate: Candidate,
    core: &Core,
    request: &Request,
    judge: &Judge<'_>,
) -> Result<Kernel, Error> {
    if let Some(index) = request.drop {
        let count = candidate.program.insns.len();
        if index >= count {
            return Err(Error::Drop(index, count));
        }
        candidate.program.remove(index);
        candidate.code = core
            .encode(&candidate.program.insns)
            .map_err(Error::Encode)?;
    }
    let Candidate {
        method,
        params,
        style,
        program,
        code,
        ..
    } = candidate;
    // The bytes must say what the program says: what follows works on the bytes alone.
    let decoded = core
        .decode(&code)
        .map_err(|at| Error::Encode(format!("{at:#x} is not an instruction")))?;
    if !decoded.iter().map(|(_, insn)| insn).eq(&program.insns) {
        return Err(Error::Encode("the bytes decode to another program".into()));
    }
    let function = prove::kernel(core, &code, &program.claims).returning(spec);
    let judged = judge(spec, &function);
    let mut frame = Vec::new();
    for (_, insn) in decoded.iter().filter(|(_, insn)| core.is_frame(*insn)) {
        frame.extend(core.encode(&[*insn]).map_err(Error::Encode)?);
    }
    Ok(Kernel {
        spec: spec.clone(),
        abi: core.abi(),
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
        core: core.clone(),
        demands: request.demands.clone(),
        on_record: false,
    })
}
