//! The run of code, once for all machines: decoded once, then an indirect call per instruction, in any domain, from a
//! call to its return; branches that go both ways, limits, reports, and what it cost.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use crate::codec::{Insn, Operands};
use crate::domain::word::Domain;
use crate::fault::{Fault, Source};
use crate::function::Function;
use crate::isa::clock::{Clock, Kind, Line, Timed};
use crate::isa::cost::{Class, ClassCounts, Cost, Depth, REPORT_EVERY, SlowOperand, Span, Stopped};
use crate::isa::energy::Draw;
use crate::isa::machine::{
    Condition, Flow, Guard, Machine, Meaning, Outcome, Slot, TimeOf, WordOf,
};
use crate::isa::state::State;
use crate::isa::ways::{self, Position, RETURNED, Run};
use crate::segment::Marks;

/// The pipeline of a core of `M`.
type LineOf<M, const W: u32> =
    <<M as Machine<W>>::Core as Timed<<M as Machine<W>>::Operands>>::Line;
type ClockOf<M, const W: u32> = Clock<LineOf<M, W>, SlowOf<M, W>>;
type SlowOf<M, const W: u32> = Slow<<M as Machine<W>>::Operands, WordOf<M, W>>;

/// An instruction at address `pc`, whose time `by` decides. Where a word comes from is asked at the end of a run alone,
/// since that takes as long as the run was so far.
struct Slow<O: Operands, T> {
    pc: usize,
    insn: Insn<O>,
    by: Decides<T>,
}

enum Decides<T> {
    Operand(T),
    /// A condition, with where it comes from.
    Condition(Option<Source>),
}

/// Code for a machine (with its domain) and a core, each instruction decoded when it is first met. Any code unit may be
/// one, as a jump may go anywhere; what is no instruction may be data.
pub struct Decoded<'a, M: Machine<W>, const W: u32> {
    bytes: Rc<[u8]>,
    /// By code unit.
    slots: Vec<OnceCell<Slot<M, W>>>,
    /// Of each row of the table.
    meanings: Vec<Meaning<M, M::Operands>>,
    core: &'a M::Core,
    /// Address of the first of them.
    origin: usize,
    /// Code units of which the file does not say what they are.
    gaps: Vec<Range<usize>>,
    /// Where the linker has a say, if addresses are no numbers yet.
    marks: Option<Rc<Marks>>,
}

/// What a run cost, and the first instruction whose time depends on an operand that is not public.
#[derive(Debug)]
pub struct Ran {
    pub cost: Cost,
    pub slow_operand: Option<SlowOperand>,
}

fn nothing<M, O>(_: &mut M, _: &O) -> Outcome {
    Err(Fault::Unsupported("not an instruction".into()))
}

impl<'a, M: Machine<W>, const W: u32> Decoded<'a, M, W> {
    /// Bytes of a code unit.
    const UNIT: usize = M::Operands::UNIT;

    /// `bytes`, which lie at address 0.
    pub fn new(bytes: &[u8], core: &'a M::Core) -> Self {
        Self::at(Rc::from(bytes), core, 0)
    }

    fn at(bytes: Rc<[u8]>, core: &'a M::Core, origin: usize) -> Self {
        let units = bytes.len() / Self::UNIT;
        Self {
            bytes,
            slots: std::iter::repeat_with(OnceCell::new).take(units).collect(),
            meanings: M::table().iter().map(|row| row.meaning).collect(),
            core,
            origin,
            gaps: Vec::new(),
            marks: None,
        }
    }

    /// The instruction at code unit `at`.
    #[cold]
    fn decoded(&self, at: usize) -> Slot<M, W> {
        let slot = M::decode(self.core, &self.bytes[at * Self::UNIT..]).map(|insn| {
            let usual = self.meanings[M::Operands::index(insn.form().of)];
            Self::slot(self.core, insn, M::meaning(self.core, &insn, usual))
        });
        let end = |slot: &Slot<M, W>| at + usize::from(slot.bytes) / Self::UNIT;
        // What reaches into a gap is no instruction.
        let known = |slot: &Slot<M, W>| {
            let mut gaps = self.gaps.iter();
            !gaps.any(|gap| at < gap.end && gap.start < end(slot))
        };
        let mut slot = slot.filter(known).unwrap_or_else(|| Self::none(self.core));
        if let Some(marks) = &self.marks {
            let address = self.origin + at * Self::UNIT;
            M::placed(&mut slot, marks, address as u64);
        }
        slot
    }

    /// `insn`, which means this.
    fn slot(
        core: &M::Core,
        insn: Insn<M::Operands>,
        meaning: Meaning<M, M::Operands>,
    ) -> Slot<M, W> {
        Slot {
            meaning,
            insn,
            work: core.work(&insn),
            observes: core.observes(&insn),
            bytes: insn.bytes() as u8,
            kind: Kind {
                class: core.class(&insn),
                draw: core.draw(&insn),
            },
            fact: M::fact(core, &insn),
        }
    }

    /// What is no instruction.
    fn none(core: &M::Core) -> Slot<M, W> {
        let insn = M::Operands::codec().forms[0].with(&[]);
        Slot {
            bytes: Self::UNIT as u8,
            observes: None,
            kind: Kind {
                class: Class::Other,
                draw: Draw::Other,
            },
            fact: M::Fact::default(),
            ..Self::slot(core, insn, nothing)
        }
    }

    /// The code of `function`.
    pub fn of(function: &Function, core: &'a M::Core) -> Self {
        let start = function.start();
        let unit = |at: u64| at.saturating_sub(start) as usize / Self::UNIT;
        let rounded = |end: u64| unit(end.saturating_add(Self::UNIT as u64 - 1));
        let gaps = function.marks.gaps();
        Self {
            gaps: gaps.map(|g| unit(g.start)..rounded(g.end)).collect(),
            marks: function.movable.then(|| function.marks.clone()),
            ..Self::at(function.code.clone(), core, start as usize)
        }
    }

    #[inline(always)]
    fn fetch(&self, pc: usize) -> Result<&Slot<M, W>, Stopped> {
        let at = pc.wrapping_sub(self.origin);
        match self.slots.get(at / Self::UNIT) {
            Some(slot) if at.is_multiple_of(Self::UNIT) => {
                Ok(slot.get_or_init(|| self.decoded(at / Self::UNIT)))
            }
            _ => Err((pc, Fault::Fetch(pc))),
        }
    }

    /// Executes `slot`, at the program counter: has it returned to the caller?
    #[inline(always)]
    fn execute(
        &self,
        m: &mut M,
        slot: &Slot<M, W>,
        clock: &mut ClockOf<M, W>,
    ) -> Result<bool, Stopped> {
        let pc = m.pc();
        m.domain().at(pc);
        if let Some(most) = m.domain().full() {
            return Err((pc, Fault::WordLimit(most)));
        }
        let flow = match m.guard(slot)? {
            Guard::Passes => {
                match slot.observes {
                    None => clock.issue(&slot.work, slot.kind),
                    Some(r) => self.observe(m, slot, r, clock),
                }
                (slot.meaning)(m, &slot.insn.ops)
            }
            Guard::Fails => {
                clock.issue(&self.core.left_out(slot.bytes.into()), slot.kind);
                Ok(Flow::Next)
            }
            Guard::Perhaps(condition) => self.perhaps(m, slot, &condition, clock),
        };
        let flow = flow.map_err(|fault| (pc, M::explain(self.core, &slot.insn, fault)))?;
        let mut next = 0;
        match flow {
            Flow::Next | Flow::Return => {}
            Flow::Jump(_) => clock.jumped(&slot.work, slot.kind),
            Flow::Skip => {
                let skipped = self.fetch(pc + usize::from(slot.bytes));
                next = skipped.map_or(Self::UNIT, |s| s.bytes.into());
                clock.issue(&self.core.left_out(next), slot.kind);
            }
        }
        let returned = m.advance(slot, flow, next);
        m.settle(slot, returned).map_err(|fault| (pc, fault))?;
        m.executed(pc);
        Ok(returned)
    }

    /// Shortest and longest time of an instruction, and the word that decides.
    fn times(&self, m: &mut M, slot: &Slot<M, W>, r: u8) -> ([TimeOf<M, W>; 2], WordOf<M, W>) {
        let word = m.register(r);
        let value = m.domain().value(&word);
        let settled = || self.core.settled(&slot.insn, m.domain().ones(&word));
        let value = value.or_else(settled);
        (self.core.observing(&slot.insn, &slot.work, value), word)
    }

    /// Which instruction's time is not known, and why.
    fn told(&self, m: &mut M, Slow { pc, insn, by }: SlowOf<M, W>) -> SlowOperand {
        let (text, source) = match by {
            Decides::Operand(word) => {
                let source = m.domain().origin(&word);
                (self.core.observed(&insn, &source), source)
            }
            Decides::Condition(source) => {
                let name = insn.form().name;
                (
                    format!("{name} takes longer if its condition, which is secret, holds"),
                    source.unwrap_or_else(|| "a condition".into()),
                )
            }
        };
        SlowOperand { pc, text, source }
    }

    /// Issues an instruction whose time register `r` decides.
    fn observe(&self, m: &mut M, slot: &Slot<M, W>, r: u8, clock: &mut ClockOf<M, W>) {
        let (times, word) = self.times(m, slot, r);
        clock.issue_either(times, slot.kind, || Slow {
            pc: m.pc(),
            insn: slot.insn,
            by: Decides::Operand(word),
        });
    }

    /// Executes an instruction, or not: what it takes tells which, if that differs.
    #[cold]
    fn perhaps(
        &self,
        m: &mut M,
        slot: &Slot<M, W>,
        condition: &Condition<<M::Domain as Domain>::Bit>,
        clock: &mut ClockOf<M, W>,
    ) -> Outcome {
        let sorted = LineOf::<M, W>::sorted;
        let operand = slot.observes.map(|r| self.times(m, slot, r));
        let [least, most] = operand.as_ref().map_or([slot.work; 2], |(times, _)| *times);
        let out = self.core.left_out(slot.bytes.into());
        let times = [sorted(least, out)[0], sorted(most, out)[1]];
        clock.issue_either(times, slot.kind, || Slow {
            pc: m.pc(),
            insn: slot.insn,
            by: match operand {
                Some((_, word)) if least != most => Decides::Operand(word),
                _ => Decides::Condition(condition.fault.source().cloned()),
            },
        });
        m.under(slot, condition)
    }

    /// Executes one instruction and returns its cycles.
    ///
    /// # Errors
    /// A fault and where.
    pub fn step(&self, m: &mut M) -> Result<Span, Stopped> {
        let mut clock = Clock::default();
        let slot = self.fetch(m.pc())?;
        self.execute(m, slot, &mut clock)?;
        Ok(clock.call())
    }

    /// Runs `m` until it returns to its caller or reaches the address `stop`, at most `limit` instructions; `told` is told
    /// of each with its address and the most cycles of the run up to its end.
    ///
    /// # Errors
    /// A fault and where.
    pub fn stepped(
        &self,
        m: &mut M,
        stop: usize,
        limit: u64,
        told: &mut dyn FnMut(&mut M, usize, u64),
    ) -> Result<(), Stopped> {
        let mut clock = Clock::default();
        for _ in 0..limit {
            let pc = m.pc();
            if pc == stop || self.execute(m, self.fetch(pc)?, &mut clock)? {
                let cycles = clock.call().max;
                if pc != stop {
                    told(m, pc, cycles);
                }
                return Ok(());
            }
            told(m, pc, clock.call().max);
        }
        Err((m.pc(), Fault::StepLimit(limit)))
    }

    /// Runs `m` until it returns to its caller or reaches the address `stop`, at most `limit` instructions.
    ///
    /// # Errors
    /// A fault and where.
    pub fn run(&self, m: &mut M, stop: usize, limit: u64) -> Result<Ran, Stopped> {
        self.watched(m, stop, limit, &mut |_, _| {})
    }

    /// The same; `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    pub fn watched(
        &self,
        m: &mut M,
        stop: usize,
        limit: u64,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Ran, Stopped> {
        let mut clock = Clock::default();
        let mut by_class = [0u64; 7];
        let (mut executed, mut pause) = (0u64, limit.min(REPORT_EVERY));
        let mut returned = false;
        while !returned && m.pc() != stop {
            let slot = self.fetch(m.pc())?;
            if executed >= pause {
                if executed == limit {
                    let pc = m.pc();
                    return Err((pc, ways::limit(&mut At::new(self, m), limit)));
                }
                watch(executed, clock.call().max);
                pause = limit.min(pause + REPORT_EVERY);
            }
            returned = match self.execute(m, slot, &mut clock) {
                Ok(returned) => returned,
                Err(stopped) => {
                    let mut at = At::new(self, m);
                    executed += ways::both(&mut at, stopped, limit - executed)?;
                    returned = at.returned;
                    continue;
                }
            };
            executed += 1;
            by_class[slot.kind.class as usize] += 1;
        }
        let [body, frame] = clock.spent();
        Ok(Ran {
            cost: Cost {
                call: clock.call(),
                body: body.total(),
                spent: [body, frame],
                counts: ClassCounts::of(&by_class),
                executed,
                stack: Depth::default(),
                masked: m.kept_out(),
            },
            slow_operand: clock.slow().map(|slow| self.told(m, slow)),
        })
    }
}

/// A machine in the middle of its code.
struct At<'r, 'a, M: Machine<W>, const W: u32> {
    code: &'r Decoded<'a, M, W>,
    m: &'r mut M,
    returned: bool,
}

impl<'r, 'a, M: Machine<W>, const W: u32> At<'r, 'a, M, W> {
    fn new(code: &'r Decoded<'a, M, W>, m: &'r mut M) -> Self {
        Self {
            code,
            m,
            returned: false,
        }
    }
}

impl<M: Machine<W>, const W: u32> Run for At<'_, '_, M, W> {
    type Domain = M::Domain;
    type State = State<M, W>;

    fn domain(&mut self) -> &mut M::Domain {
        self.m.domain()
    }

    fn state(&mut self) -> State<M, W> {
        State::of(self.m, self.returned)
    }

    fn resume(&mut self, state: State<M, W>) {
        self.returned = state.returned;
        state.resume(self.m);
    }

    fn place(&self) -> Option<Position> {
        match self.returned {
            true => Some(RETURNED),
            false => self.m.joins_at(),
        }
    }

    fn step(&mut self) -> Result<(), Stopped> {
        let slot = self.code.fetch(self.m.pc())?;
        self.returned = self.code.execute(self.m, slot, &mut Clock::default())?;
        Ok(())
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        State::of(self.m, self.returned).numbers(self.m)
    }

    fn join(&mut self, bit: &<M::Domain as Domain>::Bit, clear: State<M, W>) {
        clear.join(self.m, bit);
    }
}
