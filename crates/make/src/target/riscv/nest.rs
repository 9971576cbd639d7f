//! Products that add up in three registers, in loops.

use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;

use crate::engine::asm::Asm;
use crate::engine::nest;
use crate::engine::sweep::{Sweep, Take};
use crate::refusal::LowerError;
use crate::schedule::Scans;
use crate::target::riscv::flow::Flow;
use crate::target::riscv::registers::ZERO;

/// The words that add up, the least significant first.
type SumRegisters = [u8; 3];
/// Two nested loops on RISC-V.
type Nest<'a> = nest::Nest<'a, Flow, SumRegisters>;

/// Adds a word of weight `2^(32 at)`, whose register becomes a carry.
fn add(nest: &mut Nest<'_>, at: usize, word: u8) {
    let words = nest.sum;
    for r in &words[at..2] {
        nest.flow.add(*r, *r, word);
        nest.flow.less(word, *r, word);
    }
    nest.flow.add(words[2], words[2], word);
}

/// Adds `times x y`: the carry of the low word joins the high word, which is `2^32 - 2` at most.
fn multiply(nest: &mut Nest<'_>, x: u8, y: u8, times: usize) -> Result<(), LowerError> {
    let [low, high, carry] = [nest.take()?, nest.take()?, nest.take()?];
    nest.flow.push(Insn::three(Op::MUL, low, x, y));
    nest.flow.push(Insn::three(Op::MULHU, high, x, y));
    let least = nest.sum[0];
    for _ in 0..times {
        nest.flow.add(least, least, low);
        nest.flow.less(carry, least, low);
        nest.flow.add(carry, high, carry);
        add(nest, 1, carry);
    }
    for r in [low, high, carry] {
        nest.release(r);
    }
    Ok(())
}

impl Sweep for Flow {
    type Sum = SumRegisters;

    fn sum(scans: &Scans, _: &Core, take: Take<'_>) -> Result<SumRegisters, LowerError> {
        let columns = !scans.rows;
        Ok([take(columns)?, take(columns)?, take(columns)?])
    }

    fn begin(nest: &mut Nest<'_>) {
        for r in nest.sum.into_iter().filter(|r| *r != ZERO) {
            nest.flow.zero(r);
        }
    }

    fn product(nest: &mut Nest<'_>, x: u8, y: u8) -> Result<(), LowerError> {
        multiply(nest, x, y, 1)
    }

    fn twice(nest: &mut Nest<'_>, x: u8, y: u8) -> Result<(), LowerError> {
        multiply(nest, x, y, 2)
    }

    fn add_word(nest: &mut Nest<'_>, word: u8) -> Result<(), LowerError> {
        add(nest, 0, word);
        Ok(())
    }

    fn shift(nest: &mut Nest<'_>) {
        let [low, middle, high] = nest.sum;
        nest.flow.add(low, ZERO, middle);
        nest.flow.add(middle, ZERO, high);
        nest.flow.add(high, ZERO, ZERO);
    }

    fn low(nest: &mut Nest<'_>, read: impl FnOnce(&mut Nest<'_>, u8)) -> Result<(), LowerError> {
        let low = nest.sum[0];
        read(nest, low);
        Ok(())
    }

    fn top_word(nest: &mut Nest<'_>) -> Result<u8, LowerError> {
        Ok(nest.sum[1])
    }

    fn quotient(nest: &mut Nest<'_>) -> Result<u8, LowerError> {
        let (q, low) = (nest.take()?, nest.sum[0]);
        match nest.scans.is_inverse_one() {
            true => nest.flow.add(q, ZERO, low),
            false => Self::low_product(nest, q, [low, nest.named.inverse]),
        }
        Ok(q)
    }

    fn low_product(nest: &mut Nest<'_>, d: u8, [x, y]: [u8; 2]) {
        nest.flow.push(Insn::three(Op::MUL, d, x, y));
    }

    /// Each of the two words may carry; the high word of the product is `2^32 - 2` at most.
    fn multiply_add(
        nest: &mut Nest<'_>,
        [high, low]: [u8; 2],
        [x, y]: [u8; 2],
        pair: [u8; 2],
    ) -> Result<(), LowerError> {
        let [above, carry] = [nest.take()?, nest.take()?];
        nest.flow.push(Insn::three(Op::MUL, low, x, y));
        nest.flow.push(Insn::three(Op::MULHU, above, x, y));
        for (word, to) in pair.into_iter().zip([above, high]) {
            nest.flow.add(low, low, word);
            nest.flow.less(carry, low, word);
            nest.flow.add(to, above, carry);
        }
        nest.release(above);
        nest.release(carry);
        Ok(())
    }

    fn carry(nest: &mut Nest<'_>, [x, y]: [u8; 2], [t, high]: [u8; 2]) -> Result<(), LowerError> {
        let low = nest.take()?;
        nest.flow.push(Insn::three(Op::MUL, low, x, y));
        nest.flow.push(Insn::three(Op::MULHU, high, x, y));
        nest.flow.add(low, low, t);
        nest.flow.less(low, low, t);
        nest.flow.add(high, high, low);
        nest.release(low);
        Ok(())
    }
}
