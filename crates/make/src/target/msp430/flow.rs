//! Code with loops, and the function that it is the body of.

use machine::isa::Isa;
use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::{Ops, PC};
use machine::program::Program;

use crate::refusal::LowerError;
use crate::target::msp430::frame::frame;
use crate::target::msp430::interrupts::masked;

/// The reach of a jump in bytes.
const REACH: i64 = 1022;

/// Instructions, and for those that jump the index of where they go.
#[derive(Default)]
pub struct Flow {
    insns: Vec<Insn>,
    targets: Vec<(usize, usize)>,
    notes: Vec<(usize, String)>,
}

impl Flow {
    pub fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }

    /// `op source, dest`.
    pub fn two(&mut self, op: Op, source: Source, dest: Dest) {
        self.push(Insn::two(op, source, dest));
    }

    /// `r = r op source`.
    pub fn register(&mut self, op: Op, source: Source, r: u8) {
        self.two(op, source, Dest::Register(r));
    }

    /// `r = r op k`, nothing if `k` is 0 and `op` ADD.
    pub fn add(&mut self, k: i32, r: u8) {
        match k {
            0 => {}
            1.. => self.register(Op::ADD, Source::Constant(k as u16), r),
            ..0 => self.register(Op::SUB, Source::Constant(-k as u16), r),
        }
    }

    /// A remark about what follows.
    pub fn note(&mut self, text: &str) {
        self.notes.push((self.insns.len(), text.into()));
    }

    /// Where the next instruction will be.
    pub fn here(&self) -> usize {
        self.insns.len()
    }

    /// A jump to an instruction: its own index.
    pub fn jump(&mut self, op: Op, to: usize) -> usize {
        self.targets.push((self.insns.len(), to));
        self.push(Insn::jump(op, 0));
        self.insns.len() - 1
    }

    /// The same of any length: a distance is added to PC.
    pub fn far(&mut self, to: usize) -> usize {
        self.targets.push((self.insns.len(), to));
        let mut jump = unit(Op::ADD);
        jump.ops.d = PC;
        self.push(jump);
        self.insns.len() - 1
    }

    /// CALLA or BRA of an instruction, whose address is counted from the start of the code.
    pub fn absolute(&mut self, op: Op, to: usize) -> usize {
        self.targets.push((self.insns.len(), to));
        self.push(Insn::new(op, Ops::default()));
        self.insns.len() - 1
    }

    /// The jump of index `at` goes to the instruction of index `to`.
    pub fn aim(&mut self, at: usize, to: usize) {
        let jumps = self.targets.iter_mut().filter(|(from, _)| *from == at);
        jumps.for_each(|(_, target)| *target = to);
    }

    /// The jump of index `at` goes to the next instruction.
    pub fn land(&mut self, at: usize) {
        self.aim(at, self.here());
    }

    /// All instructions, with their distances.
    ///
    /// # Errors
    /// When a jump does not reach.
    pub fn finish(mut self) -> Result<Vec<Insn>, LowerError> {
        self.resolve()?;
        Ok(self.insns)
    }

    fn resolve(&mut self) -> Result<(), LowerError> {
        let mut places = vec![0];
        for insn in &self.insns {
            places.push(places[places.len() - 1] + insn.bytes() as i64);
        }
        for (from, to) in &self.targets {
            let insn = &mut self.insns[*from];
            if insn.lands().is_some() {
                let aimed = Msp430Isa::calling(*insn, 0, places[*to] as usize);
                *insn = aimed.ok_or(LowerError::Reach)?;
                continue;
            }
            if insn.branch().is_none() {
                insn.ops.x = (places[*to] - places[*from + 1]) as u16;
                continue;
            }
            let near = places[*to] - places[*from];
            if near.abs() > REACH {
                return Err(LowerError::Reach);
            }
            insn.ops.k = near as i16;
        }
        Ok(())
    }

    /// The function with `scratch` words of memory from SP on, of which this is the body.
    ///
    /// # Errors
    /// When the stack would be too deep, or a jump does not reach.
    pub fn function(mut self, core: &Core, scratch: usize) -> Result<Program<Insn>, LowerError> {
        self.resolve()?;
        let (before, after) = frame(core, &self.insns, scratch, masked(core, &self.insns))?;
        let (start, end) = (before.len(), before.len() + self.insns.len());
        let mut program = Program::new();
        program.notes.push((0, "save registers".into()));
        let notes = self.notes.into_iter().map(|(at, text)| (start + at, text));
        program.notes.extend(notes);
        program
            .notes
            .push((end, "restore registers, return".into()));
        program.insns = [before, self.insns, after].concat();
        Ok(program)
    }
}

/// `op` of a number in a code unit of its own, which is 0 as yet.
pub fn unit(op: Op) -> Insn {
    let ops = Ops::default();
    Insn::new(op, Ops { s: PC, a: 3, ..ops })
}

/// Registers beside the arguments, first those that a function need not save.
pub fn beside(arguments: usize) -> Vec<u8> {
    let arguments = 12..13 + arguments as u8;
    let all = [15, 14, 13, 11, 10, 9, 8, 7, 6, 5, 4].into_iter();
    all.filter(|r| !arguments.contains(r)).collect()
}
