//! Executing code: decoded once, then an indirect call per instruction, in any domain.

use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::Function;
use crate::isa::cost::{Class, SlowOperand, Span, Stopped};
use crate::isa::riscv::code::{Insn, Places};
use crate::isa::riscv::cores::{Core, Pipeline};
use crate::isa::riscv::instructions::{Op, table};
use crate::isa::riscv::machine::{Flow, Outcome, Riscv};
use crate::isa::riscv::operands::Ops;
use crate::isa::riscv::registers::SP;
use crate::segment::Addresses;

/// A decoded instruction.
pub(crate) struct Slot<D: Domain> {
    meaning: fn(&mut Riscv<D>, Ops) -> Outcome,
    insn: Insn,
    pub(crate) class: Class,
    /// What it reads and writes.
    places: (Places, Places),
    /// Does it make the upper part of an address that a linker decides?
    locates: bool,
}

/// Where the instruction after a return would be: no code is there.
pub const RETURNED: usize = usize::MAX - 7;

/// Code decoded for a domain and a core.
pub struct Decoded<'a, D: Domain> {
    /// What begins at each second byte.
    slots: Vec<Option<Slot<D>>>,
    core: &'a Core,
    /// Address of the first of them.
    origin: usize,
}

/// The code that begins at byte `at`: 32 bits, or the last 16.
fn code_at(code: &[u8], at: usize) -> Option<u32> {
    let half = |i: usize| Some(u32::from(*code.get(i)?) | u32::from(*code.get(i + 1)?) << 8);
    let low = half(at)?;
    match low & 3 {
        3 => Some(low | half(at + 2)? << 16),
        _ => Some(low),
    }
}

/// The instruction at byte `at` of `code`.
pub fn insn_at(core: &Core, code: &[u8], at: usize) -> Option<Insn> {
    Insn::decode(code_at(code, at)?, core.features)
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
    /// An instruction was executed whose time depends on the word `operand`; did it jump?
    fn issue<D: Domain>(
        &mut self,
        core: &Core,
        m: &Riscv<D>,
        slot: &Slot<D>,
        (operand, taken): (Option<D::Word<32>>, bool),
    ) {
        let insn = &slot.insn;
        let value = operand.as_ref().and_then(|word| m.d.value(word));
        let (least, most) = core.cycles(insn, value, taken);
        if let Some(word) = operand
            && least != most
        {
            let source = m.d.origin(&word);
            self.observed = Some(SlowOperand {
                pc: m.pc,
                text: format!("the time of {} depends on {source}", insn.form().name),
                source,
            });
        }
        if least != most && self.slow.is_none() {
            self.slow = Some(self.fast.clone());
        }
        let slow = self.slow.as_mut();
        let most = slow.map(|slow| slow.cost(core, insn, slot.places, most));
        let least = self.fast.cost(core, insn, slot.places, least);
        if slot.class != Class::Frame {
            self.body.min += least;
            self.body.max += most.unwrap_or(least);
        }
        if self.fast.now != self.slow().now && self.parted.is_none() {
            self.parted = self.observed.clone();
        }
    }

    /// The pipeline of the longest time.
    pub(crate) fn slow(&self) -> &Pipeline {
        self.slow.as_ref().unwrap_or(&self.fast)
    }
}

impl<'a, D: Domain> Decoded<'a, D> {
    /// The code of `function`.
    pub fn of(function: &Function, core: &'a Core) -> Self {
        let mut code = Self {
            origin: function.start() as usize,
            ..Self::new(&function.code, core)
        };
        let first = function.start();
        let places = (first..).step_by(2);
        for (at, place) in places.zip(&mut code.slots) {
            let Some(slot) = place else {
                continue;
            };
            // What the file does not say is no instruction.
            let end = at + slot.insn.length() as u64;
            if function.marks.gaps().any(|g| g.start < end && g.end > at) {
                *place = None;
            } else if function.movable && slot.insn.op == Op::LUI {
                slot.locates = function.marks.addresses(at, 4) == Addresses::Whole;
            }
        }
        code
    }

    /// Decodes `code` at address 0 for `core`.
    pub fn new(code: &[u8], core: &'a Core) -> Self {
        let rows = table::<D>();
        let slot = |at| {
            let insn = insn_at(core, code, at)?;
            Some(Slot {
                meaning: rows[insn.op as usize].meaning,
                class: insn.class(),
                places: (insn.reads(), insn.writes()),
                locates: false,
                insn,
            })
        };
        Self {
            slots: (0..code.len()).step_by(2).map(slot).collect(),
            core,
            origin: 0,
        }
    }

    pub(crate) fn fetch(&self, pc: usize) -> Result<&Slot<D>, Stopped> {
        match self.slots.get(pc.wrapping_sub(self.origin) / 2) {
            Some(Some(slot)) if pc.is_multiple_of(2) => Ok(slot),
            Some(None) => Err((pc, Fault::Unsupported("not an instruction".into()))),
            _ => Err((pc, Fault::Fetch(pc))),
        }
    }

    /// Executes the instruction at `pc`: where control is then.
    #[inline(always)]
    pub(crate) fn execute(
        &self,
        m: &mut Riscv<D>,
        slot: &Slot<D>,
        pc: usize,
        clock: &mut Clock,
    ) -> Result<usize, Stopped> {
        let stopped = |fault| (pc, fault);
        (m.pc, m.length) = (pc, slot.insn.length());
        m.d.at(pc);
        if let Some(most) = m.d.full() {
            return Err((pc, Fault::WordLimit(most)));
        }
        // It may write the register that its time depends on.
        let operand = self.core.observes(&slot.insn).map(|r| m.r(r));
        let flow = (slot.meaning)(m, slot.insn.ops).map_err(stopped)?;
        if slot.locates {
            m.locate(slot.insn.ops.d).map_err(stopped)?;
        }
        let taken = flow != Flow::Next;
        clock.issue(self.core, m, slot, (operand, taken));
        if slot.places.1 >> SP & 1 == 1
            && let Ok(at) = m.d.address(&[&m.r[usize::from(SP)]], 0)
        {
            m.d.lowered(at);
        }
        if let Some(holds) = m.environment.as_ref().map(|e| e.holds) {
            let (reads, writes) = slot.places;
            holds(m, [reads, writes]).map_err(stopped)?;
        }
        m.d.after::<32>(pc, |i| m.r[usize::from(i & 31)].clone());
        Ok(match flow {
            Flow::Next => pc + slot.insn.length(),
            Flow::Jump(target) => target,
            Flow::Return => RETURNED,
        })
    }
}
