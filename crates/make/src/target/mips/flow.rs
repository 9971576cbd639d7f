//! Code with loops: blocks of straight code, each ordered for itself, and the branches between them.

use machine::isa::clock::Timed;
use machine::isa::mips::MipsIsa;
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::Op;
use machine::program::Program;

use crate::engine::frames::{Frame, frame};
use crate::refusal::LowerError;
use crate::target::mips::order::{Clock, order_after};

/// Straight code, and how it ends.
#[derive(Default)]
struct Block {
    note: Option<String>,
    insns: Vec<Insn>,
    /// Goes back to the start of a block if two registers differ.
    back: Option<(usize, [u8; 2])>,
}

/// The mark of a block that a loop goes back to.
#[derive(Clone, Copy)]
pub struct Top(usize);

/// Blocks one after another.
pub struct Flow {
    blocks: Vec<Block>,
}

impl Default for Flow {
    /// One block without instructions.
    fn default() -> Self {
        Self {
            blocks: vec![Block::default()],
        }
    }
}

impl Flow {
    /// What comes from here on stays behind what is there: a new block.
    pub fn block(&mut self) -> Top {
        self.blocks.push(Block::default());
        Top(self.blocks.len() - 1)
    }

    /// A new block with a remark.
    pub fn remark(&mut self, text: String) {
        let top = self.block();
        self.blocks[top.0].note = Some(text);
    }

    pub fn place(&mut self, insn: Insn) {
        if let Some(block) = self.blocks.last_mut() {
            block.insns.push(insn);
        }
    }

    /// Goes back to `top` while registers `x` and `y` differ.
    pub fn loop_back(&mut self, top: Top, x: u8, y: u8) {
        if let Some(block) = self.blocks.last_mut() {
            block.back = Some((top.0, [x, y]));
        }
        self.block();
    }

    /// The whole function with `scratch` words of memory.
    ///
    /// # Errors
    /// When the stack would be too deep, or a branch does not reach.
    pub fn function(mut self, scratch: usize, core: &Core) -> Result<Program<Insn>, LowerError> {
        let body: Vec<Insn> = self.blocks.iter().flat_map(|b| b.insns.clone()).collect();
        let Frame {
            before, mut after, ..
        } = frame::<MipsIsa>(core, &body, scratch)?;
        let leaving = after.split_off(after.len() - 2);
        self.blocks[0].insns.splice(0..0, before);
        self.block();
        self.remark("restore registers, return".into());
        let last = self.blocks.len() - 1;
        self.blocks[last].insns = after;
        let mut program = Program::new();
        let mut clock = Clock::default();
        let mut starts = Vec::with_capacity(self.blocks.len());
        for (i, block) in self.blocks.iter().enumerate() {
            let start = program.insns.len();
            starts.push(start);
            if let Some(note) = &block.note {
                program.notes.push((start, note.clone()));
            }
            let before = clock.clone();
            let mut insns = block.ordered(core, &mut clock);
            if matches!(block.back, Some((top, _)) if top == i) {
                // Every pass but the first starts where the last one ended.
                let mut steady = clock.clone();
                insns = block.ordered(core, &mut steady);
                clock = before;
                insns
                    .iter()
                    .for_each(|insn| clock.issue(core, insn, &core.work(insn), None));
            }
            program.insns.extend(insns);
            if let Some((top, [x, y])) = block.back {
                // Relative to the delay slot, which is the last instruction.
                let at = program.insns.len() - 1;
                let distance = starts[top] as i32 - at as i32;
                if distance < i32::from(i16::MIN) {
                    return Err(LowerError::Reach);
                }
                let mut branch = Insn::three(Op::BNE, 0, x, y);
                branch.ops.k = distance;
                program.insns[at - 1] = branch;
            }
        }
        let nop = Insn::three(Op::SLL, 0, 0, 0);
        let mut leaving = leaving;
        if leaving[1] == nop && program.insns.len() > starts[last] {
            leaving[1] = program.insns.pop().unwrap_or(nop);
        }
        program.insns.extend(leaving);
        Ok(program)
    }
}

impl Block {
    /// The instructions in their order, the branch with its delay slot last; where it goes is open.
    fn ordered(&self, core: &Core, clock: &mut Clock) -> Vec<Insn> {
        let start = clock.clone();
        let ordered = order_after(core, &self.insns, None, clock);
        let mut insns: Vec<Insn> = ordered.into_iter().map(|(_, insn)| insn).collect();
        let Some((_, [x, y])) = self.back else {
            return insns;
        };
        let slot = delay_slot(&insns, 1 << x | 1 << y).map(|at| insns.remove(at));
        let nop = Insn::three(Op::SLL, 0, 0, 0);
        insns.extend([Insn::three(Op::BNE, 0, x, y), slot.unwrap_or(nop)]);
        *clock = start;
        insns
            .iter()
            .for_each(|insn| clock.issue(core, insn, &core.work(insn), None));
        insns
    }
}

/// The last instruction that may be executed after all others and after a branch that reads `read`.
fn delay_slot(insns: &[Insn], read: u64) -> Option<usize> {
    (0..insns.len()).rev().find(|at| {
        let insn = &insns[*at];
        let (reads, writes) = (insn.reads(), insn.writes());
        let free =
            |later: &Insn| later.writes() & (reads | writes) == 0 && later.reads() & writes == 0;
        let store = |insn: &Insn| insn.op == Op::SW;
        let memory = store(insn) || insns[at + 1..].iter().any(store) && insn.op == Op::LW;
        let touches = |later: &Insn| matches!(later.op, Op::SW | Op::LW | Op::LWI);
        writes & read == 0
            && insns[at + 1..].iter().all(free)
            && !(memory && insns[at + 1..].iter().any(touches))
    })
}
