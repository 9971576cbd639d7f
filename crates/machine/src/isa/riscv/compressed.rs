//! Instructions of 16 bits (C): each is one of RV32I's, with operands that it implies.
//!
//! Source: *The RISC-V Instruction Set Manual, Volume I*, 20191213, chapter 16, tables 16.5 to 16.7 (RV32). Encodings
//! as there: `rd'`, `rs1'` and `rs2'` are x8 to x15, `rd/rs1` is one register for both. What is reserved or a hint is
//! no instruction here.

use crate::isa::riscv::instructions::Op;

/// One instruction of 16 bits.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    pub name: &'static str,
    pub bits: &'static str,
    /// What it does.
    pub op: Op,
    /// Operands that are not in its bits: `d`, `s`, `t` for registers, `k` for the immediate.
    pub implied: &'static [(char, u8)],
    /// Numbers that these operands may not have.
    pub never: &'static [(char, u8)],
    /// The operands as GNU as writes them.
    pub syntax: &'static str,
}

const fn short(
    name: &'static str,
    bits: &'static str,
    op: Op,
    implied: &'static [(char, u8)],
    never: &'static [(char, u8)],
    syntax: &'static str,
) -> Short {
    Short {
        name,
        bits,
        op,
        implied,
        never,
        syntax,
    }
}

const NO_D: &[(char, u8)] = &[('d', 0)];
const NO_K: &[(char, u8)] = &[('k', 0)];
const NO_DK: &[(char, u8)] = &[('d', 0), ('k', 0)];
const NO_DT: &[(char, u8)] = &[('d', 0), ('t', 0)];
const NO_S: &[(char, u8)] = &[('s', 0)];
const BY_SP: &[(char, u8)] = &[('s', 2)];
const ZERO_S: &[(char, u8)] = &[('s', 0)];
const ZERO_T: &[(char, u8)] = &[('t', 0)];

/// All of them.
#[rustfmt::skip]
pub static SHORTS: [Short; 26] = [
    short("c.addi4spn", "000 uimm[5:4|9:6|2|3] rd' 00", Op::ADDI, BY_SP, NO_K, "rd, rs1, #"),
    short("c.lw", "010 uimm[5:3] rs1' uimm[2|6] rd' 00", Op::LW, &[], &[], "rd, #(rs1)"),
    short("c.sw", "110 uimm[5:3] rs1' uimm[2|6] rs2' 00", Op::SW, &[], &[], "rs2, #(rs1)"),
    short("c.nop", "000 0 00000 00000 01", Op::ADDI, &[('d', 0), ('s', 0), ('k', 0)], &[], ""),
    short("c.addi", "000 imm[5] rd/rs1 imm[4:0] 01", Op::ADDI, &[], NO_DK, "rd, #"),
    short("c.jal", "001 imm[11|4|9:8|10|6|7|3:1|5] 01", Op::JAL, &[('d', 1)], &[], "@"),
    short("c.li", "010 imm[5] rd imm[4:0] 01", Op::ADDI, ZERO_S, NO_D, "rd, #"),
    short("c.addi16sp", "011 imm[9] 00010 imm[4|6|8:7|5] 01", Op::ADDI, &[('d', 2), ('s', 2)], NO_K, "rd, #"),
    short("c.lui", "011 imm[17] rd imm[16:12] 01", Op::LUI, &[], &[('d', 0), ('d', 2), ('k', 0)], "rd, ^"),
    short("c.srli", "100 0 00 rd'/rs1' uimm[4:0] 01", Op::SRLI, &[], NO_K, "rd, #"),
    short("c.srai", "100 0 01 rd'/rs1' uimm[4:0] 01", Op::SRAI, &[], NO_K, "rd, #"),
    short("c.andi", "100 imm[5] 10 rd'/rs1' imm[4:0] 01", Op::ANDI, &[], &[], "rd, #"),
    short("c.sub", "100 0 11 rd'/rs1' 00 rs2' 01", Op::SUB, &[], &[], "rd, rs2"),
    short("c.xor", "100 0 11 rd'/rs1' 01 rs2' 01", Op::XOR, &[], &[], "rd, rs2"),
    short("c.or", "100 0 11 rd'/rs1' 10 rs2' 01", Op::OR, &[], &[], "rd, rs2"),
    short("c.and", "100 0 11 rd'/rs1' 11 rs2' 01", Op::AND, &[], &[], "rd, rs2"),
    short("c.j", "101 imm[11|4|9:8|10|6|7|3:1|5] 01", Op::JAL, &[('d', 0)], &[], "@"),
    short("c.beqz", "110 imm[8|4:3] rs1' imm[7:6|2:1|5] 01", Op::BEQ, ZERO_T, &[], "rs1, @"),
    short("c.bnez", "111 imm[8|4:3] rs1' imm[7:6|2:1|5] 01", Op::BNE, ZERO_T, &[], "rs1, @"),
    short("c.slli", "000 0 rd/rs1 uimm[4:0] 10", Op::SLLI, &[], NO_DK, "rd, #"),
    short("c.lwsp", "010 uimm[5] rd uimm[4:2|7:6] 10", Op::LW, BY_SP, NO_D, "rd, #(rs1)"),
    short("c.jr", "100 0 rs1 00000 10", Op::JALR, &[('d', 0), ('k', 0)], NO_S, "rs1"),
    short("c.mv", "100 0 rd rs2 10", Op::ADD, ZERO_S, NO_DT, "rd, rs2"),
    short("c.jalr", "100 1 rs1 00000 10", Op::JALR, &[('d', 1), ('k', 0)], NO_S, "rs1"),
    short("c.add", "100 1 rd/rs1 rs2 10", Op::ADD, &[], NO_DT, "rd, rs2"),
    short("c.swsp", "110 uimm[5:2|7:6] rs2 10", Op::SW, BY_SP, &[], "rs2, #(rs1)"),
];
