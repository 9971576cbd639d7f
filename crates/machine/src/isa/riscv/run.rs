//! What only RISC-V has in a run: instructions of two lengths, and code whose address is not known yet.

use crate::codec::{Insn, Places};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::cost::Stopped;
use crate::isa::environment::settle;
use crate::isa::machine::{Guard, Machine, Slot};
use crate::isa::riscv::cores::Core;
use crate::isa::riscv::instructions::{Op, Row, table};
use crate::isa::riscv::machine::Riscv;
use crate::isa::riscv::operands::Ops;
use crate::isa::riscv::registers::SP;
use crate::isa::run;
use crate::isa::runs::counted;
use crate::isa::words::Words;
use crate::segment::{Addresses, Marks};

/// Code decoded for a domain and a core.
pub type Decoded<'a, D> = run::Decoded<'a, Riscv<D>, 32>;

impl<D: Domain> Machine<32> for Riscv<D> {
    type Domain = D;
    type Operands = Ops;
    type Core = Core;
    /// What it reads and writes.
    type Fact = [Places; 2];
    type Control = usize;
    type Past = i64;

    fn table() -> Vec<Row<D>> {
        table()
    }

    fn decode(core: &Core, bytes: &[u8]) -> Option<Insn<Ops>> {
        Insn::<Ops>::decode(bytes, core.features)
    }

    fn fact(_: &Core, insn: &Insn<Ops>) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }

    fn placed(slot: &mut Slot<Self, 32>, marks: &Marks, address: u64) {
        // The upper part of an address that a linker decides.
        let located = marks.addresses(address, 4) == Addresses::Whole;
        if located && slot.insn.form().of == Op::LUI {
            slot.meaning = |m, o| {
                let k = m.word(o.k);
                m.set(o.d, k)?;
                m.locate(o.d)
            };
        }
    }

    counted!();

    #[inline(always)]
    fn register(&self, i: u8) -> D::Word<32> {
        self.r(i)
    }

    fn words(&mut self) -> Vec<&mut D::Word<32>> {
        self.r.iter_mut().collect()
    }

    fn control(&self) -> usize {
        self.pc
    }

    fn set_control(&mut self, pc: usize) {
        self.pc = pc;
    }

    fn past(&mut self) -> Option<&mut i64> {
        self.environment.as_mut().map(|e| &mut e.at)
    }

    /// A call keeps the address behind itself, wherever that is.
    #[inline(always)]
    fn guard(&mut self, slot: &Slot<Self, 32>) -> Result<Guard<D::Bit>, Stopped> {
        self.behind = self.pc + usize::from(slot.bytes);
        Ok(Guard::Passes)
    }

    #[inline(always)]
    fn settle(&mut self, slot: &Slot<Self, 32>, _: bool) -> Result<(), Fault> {
        let [_, writes] = slot.fact;
        settle(self, writes >> SP & 1 == 1, slot.fact)
    }

    #[inline(always)]
    fn executed(&mut self, pc: usize) {
        self.d
            .after::<32>(pc, |i| self.r[usize::from(i & 31)].clone());
    }
}
