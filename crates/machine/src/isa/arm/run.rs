//! Executing code: decoded once, then an indirect call per instruction, in any domain.

use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::function::Function;
use crate::isa::arm::code::{Insn, register};
use crate::isa::arm::cores::{Core, Effects, Pipeline};
use crate::isa::arm::instructions::{Timing, table};
use crate::isa::arm::machine::{Arm, Flow, Outcome, SP};
use crate::isa::arm::operands::{ALWAYS, Ops};
use crate::isa::cost::{Class, ClassCounts, Cost, SlowOperand, Span, Stopped};

/// A decoded instruction at its address.
pub(crate) struct Slot<D: Domain> {
    meaning: fn(&mut Arm<D>, &Ops) -> Outcome,
    insn: Option<Insn>,
    ops: Ops,
    timing: Timing,
    effects: Effects,
    pub(crate) class: Class,
    /// May its condition be one that is not the same in every run?
    selects: bool,
    sets_flags: bool,
    /// May it move the stack pointer?
    moves_stack: bool,
}

impl<D: Domain> Slot<D> {
    /// What is no instruction.
    fn none() -> Self {
        Self {
            meaning: |_, _| Err(Fault::Unsupported("not an instruction".into())),
            insn: None,
            ops: Ops::default(),
            timing: Timing::Alu,
            effects: Effects::default(),
            class: Class::Other,
            selects: false,
            sets_flags: false,
            moves_stack: false,
        }
    }
}

/// Code decoded for a domain and a core.
pub struct Decoded<'a, D: Domain> {
    slots: Vec<Slot<D>>,
    core: &'a Core,
    /// What the program counter says at the first of them.
    origin: usize,
}

/// What a run cost, and the first instruction whose time depends on an operand that is not public.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub cost: Cost,
    pub slow_operand: Option<SlowOperand>,
    frame: Span,
    by_class: [u64; 7],
}

impl Account {
    fn spend(&mut self, span: Span, class: Class) {
        self.cost.executed += 1;
        self.by_class[class as usize] += 1;
        self.cost.call.min += span.min;
        self.cost.call.max += span.max;
        if class == Class::Frame {
            self.frame.min += span.min;
            self.frame.max += span.max;
        }
    }

    pub(crate) fn close(mut self) -> Self {
        self.cost.counts = ClassCounts::of(&self.by_class);
        self.cost.body = Span {
            min: self.cost.call.min - self.frame.min,
            max: self.cost.call.max - self.frame.max,
        };
        self
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
                *slot = Slot::none();
            }
        }
        code
    }

    /// Decodes `bytes`, which lie at the machine's code address. What is no instruction may be data.
    pub fn new(bytes: &[u8], core: &'a Core) -> Self {
        let rows = table::<D>();
        let slot = |chunk: &[u8]| {
            let word = chunk.iter().rev().fold(0, |w, b| w << 8 | u32::from(*b));
            match Insn::decode(word).filter(|_| chunk.len() == 4) {
                Some(insn) => {
                    let (row, ops) = (&rows[insn.op as usize], insn.ops);
                    let alu = matches!(row.timing, Timing::Alu);
                    let selects = alu || matches!(row.timing, Timing::Multiply(..));
                    Slot {
                        meaning: row.meaning,
                        insn: Some(insn),
                        ops,
                        timing: row.timing,
                        effects: Effects {
                            words: (ops.k as u32 & 0xffff).count_ones(),
                            register_shift: alu && ops.k & 0x1010 == 0x10,
                            jumped: insn.writes_pc(),
                            multiplier: None,
                        },
                        class: insn.class(),
                        selects: selects && !insn.writes_pc(),
                        sets_flags: ops.s || !row.pattern.contains('S'),
                        moves_stack: insn.registers() >> SP & 1 == 1,
                    }
                }
                None => Slot::none(),
            }
        };
        Self {
            slots: bytes.chunks(4).map(slot).collect(),
            core,
            origin: 0,
        }
    }

    /// Executes `slot`: cycles, and whether it returned to the caller.
    pub(crate) fn execute(
        &self,
        m: &mut Arm<D>,
        slot: &Slot<D>,
        pipeline: &mut Pipeline,
        account: &mut Account,
    ) -> Result<bool, Fault> {
        if let Some(most) = m.d.full() {
            return Err(Fault::WordLimit(most));
        }
        let pc = m.pc;
        m.pc = pc + 4;
        let bit = match slot.ops.cond {
            ALWAYS => None,
            cond => {
                let bit = m.condition(cond)?;
                let holds = match slot.selects {
                    true => m.d.decide(&bit),
                    false => m.d.branch(&bit),
                };
                match holds {
                    Ok(true) => None,
                    Ok(false) => {
                        account.spend(self.skipped(), slot.class);
                        return Ok(false);
                    }
                    Err(fault) if !slot.selects => {
                        m.pc = pc;
                        return Err(fault);
                    }
                    Err(fault) => Some((bit, fault)),
                }
            }
        };
        let mut effects = slot.effects;
        if let Timing::Multiply(..) = slot.timing {
            let rs = m.r(slot.ops.r);
            effects.multiplier = m.d.value(&rs).map(|v| v as u32);
        }
        let mut span = (self.core.cycles)(pipeline, slot.timing, &effects);
        if span.min != span.max {
            self.note(m, slot, pc, span, account);
        }
        let old = bit.as_ref().map(|_| (m.r.clone(), m.flags.clone()));
        m.pc = pc;
        let flow = (slot.meaning)(m, &slot.ops)?;
        if let (Some((bit, fault)), Some(old)) = (bit, old) {
            m.keep_unless(&bit, &old, slot.sets_flags);
            let skipped = self.skipped();
            if skipped != span {
                self.note_condition(slot, pc, &fault, account);
            }
            span.min = span.min.min(skipped.min);
            span.max = span.max.max(skipped.max);
        }
        account.spend(span, slot.class);
        if slot.moves_stack
            && let Ok(at) = m.d.address(&[&m.r[usize::from(SP)]], 0)
        {
            m.d.lowered(at);
        }
        if let (Some(holds), false) = (
            m.environment.as_ref().map(|e| e.holds),
            flow == Flow::Return,
        ) {
            holds(m, 0, 0)?;
        }
        m.pc = match flow {
            Flow::Next => pc + 4,
            Flow::Jump(target) => target,
            Flow::Return => return Ok(true),
        };
        Ok(false)
    }

    fn skipped(&self) -> Span {
        Span {
            min: self.core.skipped,
            max: self.core.skipped,
        }
    }

    /// Remembers that the multiplier's time depends on Rs.
    fn note(&self, m: &mut Arm<D>, slot: &Slot<D>, pc: usize, span: Span, account: &mut Account) {
        if let (None, Some(insn)) = (&account.slow_operand, slot.insn) {
            let rs = m.r(slot.ops.r);
            let source = m.d.origin(&rs);
            let text = format!(
                "{} takes {} to {} cycles depending on {source}; use a core whose multiplier has \
                 fixed time, or set the top byte of {}",
                insn.form().name,
                span.min,
                span.max,
                register(slot.ops.r),
            );
            account.slow_operand = Some(SlowOperand { pc, text, source });
        }
    }

    /// Remembers that time depends on whether an instruction is executed.
    fn note_condition(&self, slot: &Slot<D>, pc: usize, fault: &Fault, account: &mut Account) {
        if let (None, Some(insn)) = (&account.slow_operand, slot.insn) {
            let name = insn.form().name;
            let text = format!("{name} takes longer if its condition, which is secret, holds");
            let source = fault.source().cloned();
            let source = source.unwrap_or_else(|| "a condition".into());
            account.slow_operand = Some(SlowOperand { pc, text, source });
        }
    }

    /// Executes one instruction and returns its cycles.
    ///
    /// # Errors
    /// A fault and where.
    pub fn step(&self, m: &mut Arm<D>) -> Result<Span, Stopped> {
        let mut account = Account::default();
        let pc = m.pc;
        let slot = self.fetch(pc)?;
        self.execute(m, slot, &mut Pipeline, &mut account)
            .map_err(|fault| (pc, fault))?;
        Ok(account.cost.call)
    }

    pub(crate) fn fetch(&self, pc: usize) -> Result<&Slot<D>, Stopped> {
        let slot = self.slots.get(pc.wrapping_sub(self.origin) / 4);
        slot.ok_or((pc, Fault::Fetch(pc)))
    }
}
