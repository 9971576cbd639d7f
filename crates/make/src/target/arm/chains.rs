//! Chains of a schedule in words on an ARM: sums and differences whose carry goes through the flag.

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::Op;

use crate::allocate::OutOfRegisters;
use crate::schedule::{Chain, End, Link, Sum, Word};
use crate::target::arm::words::Lowering;

impl Lowering<'_> {
    pub(super) fn chain(&mut self, chain: &Chain) -> Result<(), OutOfRegisters> {
        if let Some(carry) = chain.carry {
            let r = self.fetch(carry)?;
            match chain.sum {
                // r - 1 borrows unless r is 1.
                Sum::Add if self.words.is_operand(carry) => {
                    self.emit(Insn::imm(Op::CMP, false, 0, r, 1));
                }
                // -1 + -1 carries, 0 + 0 does not.
                Sum::Add => self.emit(Insn::reg(Op::CMN, false, 0, r, r)),
                // 0 - r borrows unless r is 0.
                Sum::Sub => {
                    let t = self.take(0)?;
                    self.emit(Insn::imm(Op::RSB, true, t, r, 0));
                    self.bank.release(t);
                }
            }
        }
        let count = chain.links.len();
        for (i, link) in chain.links.iter().enumerate() {
            let running = i > 0 || chain.carry.is_some();
            let goes_on = i + 1 < count || chain.end != End::Drop;
            let first = chain.carry.filter(|_| i == 0);
            self.link(chain.sum, link, first, running, goes_on)?;
            self.tick();
        }
        self.end(chain.sum, &chain.end)?;
        self.tick();
        Ok(())
    }

    /// What becomes of the last carry, which is in the flag.
    fn end(&mut self, sum: Sum, end: &End) -> Result<(), OutOfRegisters> {
        match *end {
            End::Drop => {}
            End::Carry { out } => {
                let r = self.take(0)?;
                match sum {
                    Sum::Add => {
                        self.emit(Insn::imm(Op::MOV, false, r, 0, 0));
                        self.emit(Insn::imm(Op::ADC, false, r, r, 0));
                    }
                    Sum::Sub => {
                        self.emit(Insn::reg(Op::SBC, false, r, r, r));
                        self.emit(Insn::imm(Op::RSB, false, r, r, 0));
                    }
                }
                self.define(out, r);
            }
            End::Mask { out } => {
                let r = self.take(0)?;
                self.emit(Insn::reg(Op::SBC, false, r, r, r));
                if sum == Sum::Add {
                    // c - 1 is there, -c = ~(c - 1).
                    self.emit(Insn::reg(Op::MVN, false, r, 0, r));
                }
                self.define(out, r);
            }
            End::Into { x, out } => {
                let from = self.fetch(x)?;
                self.used(x);
                let to = self.take(0)?;
                let op = match sum {
                    Sum::Add => Op::ADC,
                    Sum::Sub => Op::SBC,
                };
                self.emit(Insn::imm(op, false, to, from, 0));
                self.define(out, to);
            }
        }
        Ok(())
    }

    /// `first`: the word of the first carry, which this link is the last to need in a register.
    fn link(
        &mut self,
        sum: Sum,
        link: &Link,
        first: Option<Word>,
        running: bool,
        goes_on: bool,
    ) -> Result<(), OutOfRegisters> {
        let mut read: Vec<Word> = Vec::with_capacity(5);
        for word in [first, link.x, link.flip, link.y, link.mask] {
            if let Some(word) = word.filter(|w| !read.contains(w)) {
                self.fetch(word)?;
                read.push(word);
            }
        }
        let register = |l: &Self, word: Option<Word>| word.and_then(|w| l.bank.place(w));
        let mut x = register(self, link.x);
        let mut y = register(self, link.y);
        let mut own = Vec::with_capacity(2);
        if let (Some(from), Some(mask)) = (y, register(self, link.mask)) {
            let to = self.take(self.top())?;
            self.emit(Insn::reg(Op::AND, false, to, from, mask));
            y = Some(to);
            own.push(to);
        }
        if let Some(flip) = register(self, link.flip) {
            x = match x {
                Some(from) => {
                    let to = self.take(self.top())?;
                    self.emit(Insn::reg(Op::EOR, false, to, from, flip));
                    own.push(to);
                    Some(to)
                }
                None => Some(flip),
            };
        }
        for word in read {
            self.used(word);
        }
        let to = match own.pop() {
            Some(to) => to,
            None => self.take(self.top())?,
        };
        for r in own {
            self.bank.release(r);
        }
        self.sum(sum, running, goes_on, to, [x, y]);
        self.define(link.out, to);
        Ok(())
    }

    /// `to = x + y`, or `x - y`, with the carry if it is `running`; the flags say what is left if it `goes_on`.
    fn sum(&mut self, sum: Sum, running: bool, goes_on: bool, to: u8, [x, y]: [Option<u8>; 2]) {
        let op = match (sum, running) {
            (Sum::Add, false) => Op::ADD,
            (Sum::Add, true) => Op::ADC,
            (Sum::Sub, false) => Op::SUB,
            (Sum::Sub, true) => Op::SBC,
        };
        match (x, y) {
            (Some(x), Some(y)) => self.emit(Insn::reg(op, goes_on, to, x, y)),
            (Some(x), None) => self.emit(Insn::imm(op, goes_on, to, x, 0)),
            (None, Some(y)) => {
                let op = match (sum, running) {
                    (Sum::Add, _) => op,
                    (Sum::Sub, false) => Op::RSB,
                    (Sum::Sub, true) => Op::RSC,
                };
                self.emit(Insn::imm(op, goes_on, to, y, 0));
            }
            (None, None) => {
                self.emit(Insn::imm(Op::MOV, false, to, 0, 0));
                self.emit(Insn::imm(op, goes_on, to, to, 0));
            }
        }
    }
}
