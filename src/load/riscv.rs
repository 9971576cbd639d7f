//! Relocations of RISC-V (*RISC-V ABIs Specification* 1.0, section 8.4): an instruction is decoded, given its
//! immediate, and encoded again, so that every field is where the table has it.

use machine::isa::riscv::code::Insn;
use machine::isa::riscv::operands::Features;
use object::elf;

use crate::load::relocation::{Reference, Relocations, Target, Unknown};

impl Relocations<'_> {
    /// Bytes that relocation `r` changes or asks about.
    pub(super) fn riscv_width(kind: u32) -> usize {
        match elf::RelocationType(kind) {
            elf::R_RISCV_NONE | elf::R_RISCV_RELAX | elf::R_RISCV_ALIGN => 0,
            elf::R_RISCV_RVC_BRANCH | elf::R_RISCV_RVC_JUMP => 2,
            elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT => 8,
            _ => 4,
        }
    }

    /// Applies `r`, whose `S` is `to`, at byte `at`.
    pub(super) fn riscv(
        &self,
        r: &Reference,
        to: u64,
        bytes: &mut [u8],
        at: usize,
    ) -> Result<(), Unknown> {
        let x = (to as i64).wrapping_add(r.addend.unwrap_or(0));
        let from_here = x.wrapping_sub((self.address + r.offset) as i64);
        let mut set = |at: usize, value: i64| self.immediate(bytes, at, value);
        match elf::RelocationType(r.kind) {
            // Padding that a linker may take away stays.
            elf::R_RISCV_NONE | elf::R_RISCV_RELAX | elf::R_RISCV_ALIGN => Ok(()),
            elf::R_RISCV_32 => {
                self.put(bytes, at, 4, x as u64);
                Ok(())
            }
            elf::R_RISCV_BRANCH
            | elf::R_RISCV_JAL
            | elf::R_RISCV_RVC_BRANCH
            | elf::R_RISCV_RVC_JUMP => set(at, from_here),
            elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT => {
                set(at, upper(from_here))?;
                set(at + 4, lower(from_here))
            }
            elf::R_RISCV_HI20 => set(at, upper(x)),
            elf::R_RISCV_LO12_I | elf::R_RISCV_LO12_S => set(at, lower(x)),
            elf::R_RISCV_PCREL_HI20 => set(at, upper(from_here)),
            elf::R_RISCV_PCREL_LO12_I | elf::R_RISCV_PCREL_LO12_S => {
                set(at, lower(self.of_upper(to).ok_or(Unknown)?))
            }
            _ => Err(Unknown),
        }
    }

    /// The distance whose upper part the AUIPC at address `place` adds.
    fn of_upper(&self, place: u64) -> Option<i64> {
        let high = elf::R_RISCV_PCREL_HI20.0;
        let mut list = self.list.iter();
        let r = list.find(|r| r.kind == high && self.address + r.offset == place)?;
        let (Target::Address(to) | Target::Number(to)) = r.to else {
            return None;
        };
        let x = (to as i64).wrapping_add(r.addend.unwrap_or(0));
        Some(x.wrapping_sub(place as i64))
    }

    /// Gives the instruction at byte `at` its immediate.
    fn immediate(&self, bytes: &mut [u8], at: usize, value: i64) -> Result<(), Unknown> {
        let code = bytes.get(at..).ok_or(Unknown)?;
        let mut insn = Insn::decode(code, Features::ALL).ok_or(Unknown)?;
        insn.ops.k = i32::try_from(value).map_err(|_| Unknown)?;
        let code = insn.code().map_err(|_| Unknown)?;
        self.put(bytes, at, insn.bytes(), code.into());
        Ok(())
    }
}

/// What LUI or AUIPC adds of a number, and what is left: `upper + lower = x mod 2^32`, `-2^11 <= lower < 2^11`.
fn upper(x: i64) -> i64 {
    i64::from((x as i32).wrapping_add(0x800) & !0xfff)
}

fn lower(x: i64) -> i64 {
    i64::from((x as i32) << 20 >> 20)
}
