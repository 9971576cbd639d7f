//! Code with branches: each knows the instruction it goes to, until all lengths are known.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;
use machine::isa::riscv::operands::Features;
use machine::program::Program;

use crate::engine::frames::{Frame, frame};
use crate::refusal::LowerError;
use crate::target::riscv::order::order_loops;

/// Instructions, and for those that branch the index of where they go.
#[derive(Default)]
pub struct Flow {
    pub insns: Vec<Insn>,
    targets: Vec<(usize, usize)>,
    /// Calls that a linker sees to: they keep their length.
    far: Vec<usize>,
    /// Remarks, each before the instruction of that index.
    notes: Vec<(usize, String)>,
    /// Instructions that stay behind those before them, with all that follows.
    cuts: Vec<usize>,
}

impl Flow {
    pub fn remark(&mut self, text: String) {
        self.notes.push((self.insns.len(), text));
    }

    /// What comes from here on stays behind what is there.
    pub fn stay(&mut self) {
        self.cuts.push(self.insns.len());
    }

    /// Puts the instructions between branches in a better order, where results are late.
    pub fn order(&mut self, core: &Core) {
        let branches = self
            .targets
            .iter()
            .flat_map(|(from, to)| [*from, from + 1, *to]);
        let calls = self.far.iter().flat_map(|at| [*at, at + 1]);
        let notes = self.notes.iter().map(|(at, _)| *at);
        let starts = branches.chain(calls).chain(notes);
        let starts = starts.chain(self.cuts.iter().copied()).collect();
        // Where a stretch begins, one begins afterwards: no branch has to be aimed again.
        self.insns = order_loops(core, &self.insns, &starts);
    }

    /// Where the next instruction will be.
    pub fn here(&self) -> usize {
        self.insns.len()
    }

    /// A branch to an instruction: its index.
    pub fn branch(&mut self, insn: Insn, to: usize) -> usize {
        self.targets.push((self.insns.len(), to));
        self.insns.push(insn);
        self.insns.len() - 1
    }

    /// The branch of index `at` goes to the next instruction.
    pub fn land(&mut self, at: usize) {
        let here = self.here();
        self.aim(at, here);
    }

    /// The branch of index `at` goes to that instruction.
    pub fn aim(&mut self, at: usize, to: usize) {
        for (_, target) in self.targets.iter_mut().filter(|(from, _)| *from == at) {
            *target = to;
        }
    }

    /// A call that a linker sees to: its index.
    pub fn call(&mut self, insn: Insn) -> usize {
        self.far.push(self.insns.len());
        self.insns.push(insn);
        self.insns.len() - 1
    }

    /// The instructions, as short as `features` have them: lengths only grow until every branch reaches.
    ///
    /// # Errors
    /// When a branch does not reach, or a displacement does not fit.
    pub fn finish(self, features: Features) -> Result<Vec<Insn>, LowerError> {
        let Flow {
            mut insns,
            targets,
            far,
            ..
        } = self;
        let is_far = |at: usize| far.contains(&at);
        let branches = |at: usize| targets.iter().any(|(from, _)| *from == at);
        let mut long = vec![false; insns.len()];
        for (at, insn) in insns.iter_mut().enumerate() {
            long[at] = is_far(at);
            if !long[at] && !branches(at) {
                *insn = shortest(*insn, features);
            }
        }
        for _ in 0..=targets.len() {
            let mut places = vec![0i64; insns.len() + 1];
            for (at, insn) in insns.iter().enumerate() {
                let short =
                    insn.form().is_short() || branches(at) && !long[at] && features.compressed;
                places[at + 1] = places[at] + if short { 2 } else { 4 };
            }
            let mut grown = false;
            for (from, to) in &targets {
                insns[*from].ops.k = (places[*to] - places[*from]) as i32;
                if !long[*from] {
                    insns[*from] = insns[*from].shortest_on(features);
                    long[*from] = !insns[*from].form().is_short();
                    grown |= long[*from] && features.compressed;
                }
            }
            if !grown {
                break;
            }
        }
        match insns.iter().find(|insn| insn.code().is_err()) {
            Some(insn) if insn.branch().is_some() => Err(LowerError::Reach),
            Some(_) => Err(LowerError::Displacement),
            None => Ok(insns),
        }
    }

    /// A function with `scratch` words of memory, of which this is the body.
    ///
    /// # Errors
    /// When the stack would be too deep, or as [`Flow::finish`].
    pub fn function(mut self, scratch: usize, core: &Core) -> Result<Program<Insn>, LowerError> {
        let Frame { before, after, .. } = frame::<RiscvIsa>(core, &self.insns, scratch)?;
        let by = before.len();
        let targets = self.targets.iter_mut();
        targets.for_each(|(from, to)| (*from, *to) = (*from + by, *to + by));
        self.remark("restore registers, return".into());
        let mut notes = std::mem::take(&mut self.notes);
        notes.iter_mut().for_each(|(at, _)| *at += by);
        self.insns.splice(0..0, before);
        self.insns.extend(after);
        Ok(Program {
            insns: self.finish(core.features)?,
            notes,
            ..Program::new()
        })
    }
}

/// An instruction in its shortest form; the factors of what commutes may change places.
pub fn shortest(insn: Insn, features: Features) -> Insn {
    let short = insn.shortest_on(features);
    let commutes = matches!(insn.op, Op::ADD | Op::AND | Op::OR | Op::XOR);
    if short.form().is_short() || !commutes {
        return short;
    }
    let mut other = insn;
    (other.ops.s, other.ops.t) = (insn.ops.t, insn.ops.s);
    let other = other.shortest_on(features);
    if other.form().is_short() {
        other
    } else {
        short
    }
}
