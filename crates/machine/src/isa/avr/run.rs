//! Executing code: decoded once, then an indirect call per instruction, in any domain.

use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::Function;
use crate::isa::avr::code::Insn;
use crate::isa::avr::core::{Core, Set};
use crate::isa::avr::instructions::table;
use crate::isa::avr::machine::{Avr, Flow, Outcome};
use crate::isa::avr::operands::{Op, Ops, Timing};
use crate::isa::avr::past::Condition;
use crate::isa::avr::skip::can_be_conditional;
use crate::isa::cost::{Class, Stopped};

/// An instruction that the core has not.
const REFUSED: &str = "not an instruction of the core";

/// A decoded instruction at its word address.
pub(crate) struct Slot<D: Domain> {
    meaning: fn(&mut Avr<D>, Ops) -> Outcome,
    ops: Ops,
    op: Op,
    /// Length in words.
    words: u8,
    cycles: u8,
    /// Extra cycles when control jumps: of a conditional branch only.
    taken: u8,
    pub(crate) class: Class,
}

impl<D: Domain> Slot<D> {
    /// What is no instruction.
    fn none() -> Self {
        Self {
            meaning: |_, _| Err(Fault::Unsupported("not an instruction".into())),
            ops: Ops::default(),
            op: Op::NOP,
            words: 1,
            cycles: 0,
            taken: 0,
            class: Class::Other,
        }
    }
}

/// Code decoded for a domain and a core. Every word is decoded, as a jump may go anywhere.
pub struct Decoded<D: Domain> {
    slots: Vec<Slot<D>>,
    /// Extra cycles of each word skipped.
    skipped: u64,
    core: Core,
}

impl<D: Domain> Decoded<D> {
    /// The code of `function`.
    pub fn of(function: &Function, core: &Core) -> Self {
        let mut code = Self::new(&function.code, core);
        // What the file does not say is no instruction, nor is one that reaches into it.
        for gap in function.marks.gaps() {
            let end = (gap.end.div_ceil(2) as usize).min(code.slots.len());
            let first = gap.start as usize / 2;
            for at in first.saturating_sub(1)..end {
                if at + usize::from(code.slots[at].words) > first {
                    code.slots[at] = Slot::none();
                }
            }
        }
        code
    }

    /// Decodes `bytes`, which lie at address 0.
    pub fn new(bytes: &[u8], core: &Core) -> Self {
        let rows = table::<D>();
        let slot = |i: usize| match Insn::read(core.set == Set::Avrrc, &bytes[2 * i..]) {
            Some(insn) => {
                let row = &rows[insn.op as usize];
                Slot {
                    meaning: if insn.is_undefined() {
                        |_, _| Err(Fault::Unpredictable("its result is undefined".into()))
                    } else if core.refusal(&insn).is_some() {
                        |_, _| Err(Fault::Unsupported(REFUSED.into()))
                    } else {
                        row.meaning
                    },
                    ops: insn.ops,
                    op: row.op,
                    words: insn.form().words as u8,
                    cycles: core.cycles_of(&insn) as u8,
                    taken: u8::from(row.timing == Timing::Branch) * core.taken as u8,
                    class: core.class_of(&insn),
                }
            }
            None => Slot::none(),
        };
        Self {
            slots: (0..bytes.len() / 2).map(slot).collect(),
            skipped: u64::from(core.taken),
            core: core.clone(),
        }
    }

    /// Names the instruction that the core has not.
    #[cold]
    fn explain(&self, slot: &Slot<D>, fault: Fault) -> Fault {
        let Slot { op, ops, .. } = *slot;
        match (&fault, self.core.refusal(&Insn { op, ops })) {
            (Fault::Unsupported(text), Some(refusal)) if text == REFUSED => {
                Fault::Unsupported(refusal)
            }
            _ => fault,
        }
    }

    /// Executes `slot`, which is at the program counter: its cycles, and whether it returned to the caller.
    #[inline(always)]
    fn execute(&self, m: &mut Avr<D>, slot: &Slot<D>) -> Result<(u64, bool), Stopped> {
        let pc = m.pc;
        if m.condition.is_some()
            && let Some(condition) = m.condition.take()
        {
            return self.perhaps(m, slot, condition);
        }
        let flow = match (slot.meaning)(m, slot.ops) {
            Ok(flow) => flow,
            Err(fault) => return Err((2 * pc, self.explain(slot, fault))),
        };
        let mut spent = u64::from(slot.cycles);
        m.pc = pc + usize::from(slot.words);
        match flow {
            Flow::Next | Flow::Perhaps => {}
            Flow::Jump(target) => {
                spent += u64::from(slot.taken);
                m.pc = target;
            }
            Flow::Skip => {
                let words = self.slots.get(m.pc).map_or(1, |s| s.words);
                spent += self.skipped * u64::from(words);
                m.pc += usize::from(words);
            }
            Flow::Return => return Ok((spent, true)),
        }
        Ok((spent, false))
    }

    /// Executes `slot` or not: possible where both take the same time and differ in a register and flags.
    #[cold]
    fn perhaps(
        &self,
        m: &mut Avr<D>,
        slot: &Slot<D>,
        condition: Condition<D>,
    ) -> Result<(u64, bool), Stopped> {
        let (pc, spent) = (m.pc, u64::from(slot.cycles));
        let skip = self.skipped * u64::from(slot.words);
        if spent != skip || !can_be_conditional(slot.op) {
            // It tells which way it goes, as a branch does.
            m.d.at(2 * (pc - 1));
            return match m.d.branch(&condition.bit) {
                Ok(known) if known == condition.skips => {
                    m.pc = pc + usize::from(slot.words);
                    Ok((skip, false))
                }
                Ok(_) => self.execute(m, slot),
                Err(_) => {
                    let fault = condition.fault.clone();
                    m.condition = Some(condition);
                    Err((2 * (pc - 1), fault))
                }
            };
        }
        let count = if slot.op == Op::MOVW { 2 } else { 1 };
        let written = slot.ops.d..slot.ops.d + count;
        m.under(&condition, written, |m| (slot.meaning)(m, slot.ops))
            .map_err(|fault| (2 * pc, self.explain(slot, fault)))?;
        m.pc = pc + 1;
        Ok((spent, false))
    }

    pub(crate) fn fetch(&self, pc: usize) -> Result<&Slot<D>, Stopped> {
        self.slots.get(pc).ok_or((2 * pc, Fault::Fetch(2 * pc)))
    }

    /// Executes one instruction and returns its cycles.
    ///
    /// # Errors
    /// A fault and where.
    pub fn step(&self, m: &mut Avr<D>) -> Result<u64, Stopped> {
        let slot = self.fetch(m.pc)?;
        Ok(self.execute(m, slot)?.0)
    }

    /// Executes `slot`, at the program counter: its cycles, and whether it returned to the caller.
    #[inline(always)]
    pub(crate) fn observe(&self, m: &mut Avr<D>, slot: &Slot<D>) -> Result<(u64, bool), Stopped> {
        let pc = 2 * m.pc;
        m.d.at(pc);
        if let Some(most) = m.d.full() {
            return Err((pc, Fault::WordLimit(most)));
        }
        let done = self.execute(m, slot)?;
        if !done.1 {
            let kept = match m.environment.is_some() {
                true => m.keeps_environment(),
                // Whichever instruction it is: registers have addresses, too.
                false => m.keeps_data_stack(),
            };
            kept.map_err(|fault| (pc, fault))?;
        }
        m.d.after::<8>(pc, |i| m.r[usize::from(i & 31)].clone());
        Ok(done)
    }
}
