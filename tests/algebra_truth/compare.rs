//! One program in the algebra and on numbers: what of all that the algebra says is false?

use std::panic::{AssertUnwindSafe, catch_unwind};

use lozenge::domain::algebra::{Algebra, BitValue, Def, Value, VarId};
use lozenge::domain::told::Told;
use lozenge::program::Claim;
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{Model, PLACE, REGISTERS, State};
use crate::algebra_truth::numbers::{Names, Numbers};

/// Inputs for each program.
const INPUTS: usize = 12;
/// Questions about bits for each program.
const QUESTIONS: usize = 12;

/// How much was compared.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub programs: u64,
    /// Words and flags that are what they are said to be.
    pub words: u64,
    pub flags: u64,
    /// Words whose value does not follow from what is known.
    pub left: u64,
    /// Words whose value was taken from the run on numbers, as nothing is said of them.
    pub taken: u64,
    /// Statements that were evaluated, and those that speak of what is not known.
    pub statements: u64,
    pub unknown: u64,
    /// "Never both", "follows", "is 0", "has this value": how often the answer was yes.
    pub answers: u64,
    /// Claims that were offered, those of them that are false on some inputs, and those that were shown.
    pub offered: u64,
    pub lies: u64,
    pub shown: u64,
    /// Programs that the algebra did not run to their end.
    pub stopped: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.programs += other.programs;
        self.words += other.words;
        self.flags += other.flags;
        self.left += other.left;
        self.taken += other.taken;
        self.statements += other.statements;
        self.unknown += other.unknown;
        self.answers += other.answers;
        self.offered += other.offered;
        self.lies += other.lies;
        self.shown += other.shown;
        self.stopped += other.stopped;
    }
}

/// What is said after a block.
struct After {
    state: State<Value, BitValue>,
    /// Variables made so far.
    vars: VarId,
}

/// An answer of the algebra about bits.
enum Answer {
    Zero(VarId),
    Exclusive(VarId, VarId),
    Follows(VarId, VarId),
    Forced((VarId, i128), Vec<(VarId, i128)>),
}

impl Answer {
    fn holds(&self, n: &Numbers<'_>) -> Option<bool> {
        let of = |v: &VarId| n.of_variable(*v);
        Some(match self {
            Answer::Zero(x) => of(x)? == 0,
            Answer::Exclusive(x, y) => of(x)? == 0 || of(y)? == 0,
            Answer::Follows(x, y) => of(x)? == 0 || of(y)? == 1,
            Answer::Forced((v, value), bits) => {
                of(v)? != *value
                    || bits
                        .iter()
                        .all(|(bit, is)| of(bit).is_none_or(|b| b == *is))
            }
        })
    }

    fn text(&self) -> String {
        match self {
            Answer::Zero(x) => format!("x{x} is never set"),
            Answer::Exclusive(x, y) => format!("x{x} and x{y} are never both set"),
            Answer::Follows(x, y) => format!("x{y} is set wherever x{x} is"),
            Answer::Forced(known, bits) => format!("if {known:?}, then {bits:?}"),
        }
    }
}

/// Asks about carries, and about pairs of bits that were made one after the other.
fn ask(d: &Algebra, random: &mut Random) -> Vec<Answer> {
    let all = 0..d.vars.len() as VarId;
    let is_carry = |v: &VarId| d.vars[*v as usize].def == Def::Carry;
    let carries: Vec<VarId> = all.clone().filter(is_carry).collect();
    let bits: Vec<VarId> = all.filter(|v| d.vars[*v as usize].bound == 1).collect();
    let mut list: Vec<Answer> = carries
        .iter()
        .copied()
        .filter(|v| d.is_never_set(*v))
        .map(Answer::Zero)
        .collect();
    if bits.len() < 2 {
        return list;
    }
    for _ in 0..QUESTIONS {
        let at = random.below(bits.len());
        let near = (at + 1 + random.below(6)) % bits.len();
        let (x, y) = match random.below(2) {
            0 => (bits[at], bits[near]),
            _ => (bits[near], bits[at]),
        };
        if d.told_exclusive(x, y) {
            list.push(Answer::Exclusive(x, y));
        }
        if d.told_follows(x, y) {
            list.push(Answer::Follows(x, y));
        }
        if d.told_excluded(x) {
            list.push(Answer::Zero(x));
        }
        let value = random.below(2) as i128;
        if let Some(values) = d.told_forced((x, value), &[y]) {
            list.push(Answer::Forced((x, value), vec![(y, values[0])]));
        }
    }
    list
}

/// Inputs of a program: random words, words at the edges, equal words.
pub fn inputs<M: Model>(random: &mut Random) -> Vec<u64> {
    let full = (1u64 << M::W) - 1;
    let edge = [
        0,
        1,
        2,
        full >> 1,
        (full >> 1) + 1,
        full - 1,
        full,
        full / 255 * 128,
        full / 255,
    ];
    let mut list: Vec<u64> = Vec::with_capacity(M::inputs());
    // Runs of one kind: a carry goes through all words.
    let kind = random.below(5);
    for i in 0..M::inputs() {
        if (REGISTERS..REGISTERS + M::FLAGS).contains(&i) {
            list.push(random.below(2) as u64);
            continue;
        }
        let word = match (kind, random.below(8)) {
            // What bounds are about.
            (4, 0..6) => full,
            (4, _) => [0, 1, full - 1][random.below(3)],
            (0, 0..6) | (1 | 2, 0..3) => edge[random.below(edge.len())],
            (_, 6) if i > 0 && i < REGISTERS => list[random.below(i)],
            (2, 3) => 1 << random.below(M::W as usize),
            (2, 4) => full - (1 << random.below(M::W as usize)),
            _ => random.draw() >> 20 & full,
        };
        list.push(word);
    }
    list
}

/// Runs a program both ways; what is false is told with the program.
///
/// # Errors
/// What is false.
pub fn compare<M: Model>(
    blocks: &[Vec<M::Insn>],
    claims: &[Claim],
    random: &mut Random,
) -> Result<Counts, String> {
    let listing = || {
        let blocks = blocks
            .iter()
            .map(|b| b.iter().map(M::text).collect::<Vec<_>>().join("; "));
        blocks.collect::<Vec<_>>().join("\n    ")
    };
    let run = catch_unwind(AssertUnwindSafe(|| compared::<M>(blocks, claims, random)));
    let run = run.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("a panic: {}", text.unwrap_or_default()))
    });
    run.map_err(|what| format!("{}: {what}\n    {}", M::NAME, listing()))
}

fn compared<M: Model>(
    blocks: &[Vec<M::Insn>],
    claims: &[Claim],
    random: &mut Random,
) -> Result<Counts, String> {
    let mut counts = Counts {
        programs: 1,
        ..Counts::default()
    };
    let codes: Vec<_> = blocks.iter().map(|block| M::encode(block)).collect();
    let mut m = M::symbolic();
    M::domain(&mut m).offer(claims.to_vec(), &[]);
    let (mut states, mut bounds, mut since) = (Vec::new(), Vec::new(), 0);
    for code in &codes {
        if M::step(&mut m, code).is_err() {
            counts.stopped += 1;
            break;
        }
        let (told, now) = M::domain(&mut m).told_bounds(since);
        bounds.extend(told);
        since = now;
        states.push(After {
            state: M::said(&m),
            vars: M::domain(&mut m).vars.len() as VarId,
        });
    }
    let d = &*M::domain(&mut m);
    let mut told = d.told();
    let shown = d.told_claims();
    counts.shown += shown.len() as u64;
    told.extend(shown);
    let offers = d.told_offers(M::W);
    let mut lies = vec![false; offers.len()];
    let names = Names::of(d, &told);
    let answers = ask(d, random);
    counts.answers += answers.len() as u64;
    for _ in 0..INPUTS {
        let inputs = inputs::<M>(random);
        let run = on_numbers::<M>(
            d,
            &names,
            &codes,
            &states,
            &[&bounds, &told],
            &answers,
            &inputs,
            &mut counts,
        );
        let n = run.map_err(|what| format!("{what}, inputs {inputs:x?}"))?;
        for (lie, offer) in lies.iter_mut().zip(&offers) {
            *lie |= n.holds(offer) == Some(false);
        }
    }
    counts.offered += offers.len() as u64;
    counts.lies += lies.into_iter().filter(|lie| *lie).count() as u64;
    Ok(counts)
}

#[allow(clippy::too_many_arguments)]
fn on_numbers<'a, M: Model>(
    d: &'a Algebra,
    names: &'a Names,
    codes: &[Vec<u8>],
    states: &[After],
    told: &[&Vec<Told>; 2],
    answers: &[Answer],
    inputs: &[u64],
    counts: &mut Counts,
) -> Result<Numbers<'a>, String> {
    let mut n = Numbers::new(d, names, M::W, PLACE, inputs);
    let mut m = M::numeric(inputs);
    for (at, (code, after)) in codes.iter().zip(states).enumerate() {
        M::step_on_numbers(&mut m, code).map_err(|(_, fault)| format!("{fault} in block {at}"))?;
        let is = M::is(&m);
        n.settle(after.vars)
            .map_err(|what| format!("block {at}: {what}"))?;
        for (i, (said, is)) in after.state.words.iter().zip(&is.words).enumerate() {
            let is = i128::from(*is);
            if let Value::Var(v) = said {
                n.take(*v, is, after.vars)?;
            }
            match n.of(*said) {
                Some(said) if said == is => counts.words += 1,
                Some(wrong) => {
                    return Err(format!(
                        "block {at}: register {i} is {is:x}, said {wrong:x} ({said:?})"
                    ));
                }
                None => counts.left += u64::from(matches!(said, Value::Var(_))),
            }
        }
        for (i, (said, is)) in after.state.bits.iter().zip(&is.bits).enumerate() {
            let is = i128::from(*is);
            if let BitValue::Var(v) = said {
                n.take(*v, is, after.vars)?;
            }
            match n.of_bit(*said) {
                Some(said) if said == is => counts.flags += 1,
                Some(_) => return Err(format!("block {at}: flag {i} is {is} ({said:?})")),
                None => {}
            }
        }
    }
    n.settle(d.vars.len() as VarId)?;
    counts.taken += n.taken;
    for told in told.iter().flat_map(|list| list.iter()) {
        match n.holds(told) {
            Some(true) => counts.statements += 1,
            Some(false) => return Err(format!("{told:?} is false")),
            None => counts.unknown += 1,
        }
    }
    for answer in answers {
        if answer.holds(&n) == Some(false) {
            return Err(answer.text());
        }
    }
    Ok(n)
}
