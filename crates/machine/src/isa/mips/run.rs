//! Executing code: decoded once, then an indirect call per instruction, in any domain.

use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::Function;
use crate::isa::cost::{Class, Cost, SlowOperand, Span, Stopped};
use crate::isa::mips::code::{Insn, Places};
use crate::isa::mips::cores::{Core, Pipeline};
use crate::isa::mips::instructions::{Op, Timing, table};
use crate::isa::mips::machine::{Flow, Mips, Outcome};
use crate::isa::mips::operands::Ops;
use crate::isa::mips::registers::SP;
use crate::segment::Addresses;

/// A decoded instruction.
pub(crate) struct Slot<D: Domain> {
    meaning: fn(&mut Mips<D>, Ops) -> Outcome,
    insn: Insn,
    pub(crate) class: Class,
    /// What it reads and writes.
    places: (Places, Places),
    /// Does it make the upper half of an address that a linker decides?
    locates: bool,
}

/// Where the instruction after a return would be: no code is there.
pub const RETURNED: usize = usize::MAX - 7;

/// What a run cost, and which operand its time depends on.
#[derive(Debug)]
pub struct Ran {
    pub cost: Cost,
    pub slow_operand: Option<SlowOperand>,
}

/// Code decoded for a domain and a core.
pub struct Decoded<'a, D: Domain> {
    slots: Vec<Option<Slot<D>>>,
    core: &'a Core,
    /// Address of the first of them.
    origin: usize,
}

/// The words in `code`, in the core's byte order; bytes that make no whole word are left out.
pub fn words<'a>(core: &Core, code: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
    let big = core.big_endian;
    code.chunks_exact(4).map(move |bytes| {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        match big {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        }
    })
}

/// The two pipelines, for the shortest and for the longest time; one as long as they are the same.
#[derive(Default)]
pub struct Clock {
    pub(crate) fast: Pipeline,
    slow: Option<Pipeline>,
    pub(crate) body: Span,
    /// The last instruction whose time is not known.
    pub(crate) observed: Option<SlowOperand>,
    /// That instruction, when the pipelines first parted.
    pub(crate) parted: Option<SlowOperand>,
}

impl Clock {
    fn issue<D: Domain>(&mut self, core: &Core, m: &Mips<D>, slot: &Slot<D>) {
        let insn = &slot.insn;
        let operand = core.observes(insn);
        let value = operand.and_then(|r| m.d.value(&m.r(r)));
        let (least, most) = core.unit_cycles(insn, value);
        if let Some(r) = operand
            && least != most
        {
            let source = m.d.origin(&m.r(r));
            self.observed = Some(SlowOperand {
                pc: m.pc,
                text: format!("the time of {} depends on {source}", insn.form().name),
                source,
            });
        }
        if least != most && self.slow.is_none() {
            self.slow = Some(self.fast.clone());
        }
        let places = slot.places;
        let slow = self.slow.as_mut();
        let most = slow.map(|slow| slow.cost_of(core, insn, places, most));
        let least = self.fast.cost_of(core, insn, places, least);
        self.spend(slot.class, least, most.unwrap_or(least));
    }

    /// The pipeline of the longest time.
    pub(crate) fn slow(&self) -> &Pipeline {
        self.slow.as_ref().unwrap_or(&self.fast)
    }

    /// A skipped delay slot.
    fn bubble(&mut self) {
        let most = self.slow.as_mut().map(Pipeline::bubble);
        let least = self.fast.bubble();
        self.spend(Class::Other, least, most.unwrap_or(least));
    }

    fn spend(&mut self, class: Class, least: u64, most: u64) {
        if class != Class::Frame {
            self.body.min += least;
            self.body.max += most;
        }
        if self.fast.now != self.slow().now && self.parted.is_none() {
            self.parted = self.observed.clone();
        }
    }
}

impl<'a, D: Domain> Decoded<'a, D> {
    /// The code of `function`.
    pub fn of(function: &Function, core: &'a Core) -> Self {
        let mut code = Self {
            origin: function.start() as usize,
            ..Self::new(&function.code, core)
        };
        // What the file does not say is no instruction.
        for gap in function.marks.gaps() {
            let slot = |at: u64| at.saturating_sub(function.start()) as usize / 4;
            let (from, to) = (slot(gap.start), slot(gap.end.saturating_add(3)));
            let end = to.min(code.slots.len());
            for slot in code.slots.get_mut(from..end).into_iter().flatten() {
                *slot = None;
            }
        }
        if function.movable {
            for (at, slot) in (function.start()..).step_by(4).zip(&mut code.slots) {
                let located = function.marks.addresses(at, 4) == Addresses::Whole;
                let Some(slot) = slot else {
                    continue;
                };
                match slot.insn.op {
                    Op::LUI => slot.locates = located,
                    Op::J | Op::JAL if !located => {
                        slot.meaning = |_, _| {
                            let text = "a jump to a number, in code that has no address yet";
                            Err(Fault::Unsupported(text.into()))
                        };
                    }
                    _ => {}
                }
            }
        }
        code
    }

    /// Decodes `code` at address 0 for `core`.
    pub fn new(code: &[u8], core: &'a Core) -> Self {
        let rows = table::<D>();
        let slot = |word| {
            let insn = Insn::decode(word, core.features)?;
            Some(Slot {
                meaning: rows[insn.op as usize].meaning,
                class: insn.class(),
                places: (insn.reads(), insn.writes()),
                locates: false,
                insn,
            })
        };
        Self {
            slots: words(core, code).map(slot).collect(),
            core,
            origin: 0,
        }
    }

    pub(crate) fn fetch(&self, pc: usize) -> Result<&Slot<D>, Stopped> {
        match self.slots.get(pc.wrapping_sub(self.origin) / 4) {
            Some(Some(slot)) if pc.is_multiple_of(4) => Ok(slot),
            Some(None) => Err((pc, Fault::Unsupported("not an instruction".into()))),
            _ => Err((pc, Fault::Fetch(pc))),
        }
    }

    /// Executes the instruction that is next: where control is then.
    #[inline(always)]
    pub(crate) fn execute(
        &self,
        m: &mut Mips<D>,
        slot: &Slot<D>,
        control: Control,
        clock: &mut Clock,
    ) -> Result<Control, Stopped> {
        let Control { pc, next, in_slot } = control;
        m.pc = pc;
        m.d.at(pc);
        if let Some(most) = m.d.full() {
            return Err((pc, Fault::WordLimit(most)));
        }
        let timing = slot.insn.form().timing;
        let branches = matches!(timing, Timing::Branch | Timing::Jump);
        if branches && in_slot {
            let text = "a branch in the delay slot of another";
            return Err((pc, Fault::Unpredictable(text.into())));
        }
        clock.issue(self.core, m, slot);
        let mut flow = (slot.meaning)(m, slot.insn.ops).map_err(|fault| (pc, fault))?;
        if slot.locates {
            flow = m.locate(slot.insn.ops.t).map_err(|fault| (pc, fault))?;
        }
        if slot.places.1 >> SP & 1 == 1
            && let Ok(at) = m.d.address(&[&m.r[usize::from(SP)]], 0)
        {
            m.d.lowered(at);
        }
        if let Some(holds) = m.environment.as_ref().map(|e| e.holds) {
            let (reads, writes) = slot.places;
            holds(m, reads, writes).map_err(|fault| (pc, fault))?;
        }
        m.d.after::<32>(pc, |i| m.r[usize::from(i & 31)].clone());
        let (pc, next) = match flow {
            Flow::Next => (next, next + 4),
            Flow::Branch(target) => (next, target),
            Flow::Return => (next, RETURNED),
            Flow::Nullify => {
                clock.bubble();
                (next + 4, next + 8)
            }
        };
        Ok(Control {
            pc,
            next,
            in_slot: branches && flow != Flow::Nullify,
        })
    }
}

/// Addresses of the instruction to be executed and of the one after it; is the first in a delay slot?
#[derive(Clone, Copy, Debug)]
pub struct Control {
    pub pc: usize,
    pub next: usize,
    pub in_slot: bool,
}
