//! The instruction table of RV32IM: name, encoding, syntax, timing class, count class, feature, meaning.
//!
//! Source: *The RISC-V Instruction Set Manual, Volume I: Unprivileged ISA*, 20191213, chapters 2 (RV32I), 7 (M), 9
//! (Zicsr), 3 (Zifencei) and 24 (listings). A row is all that the encoder, the assembly text, the simulator, the
//! prover and the generator know of an instruction. What an instruction reads and writes are the registers of its
//! encoding.
//!
//! | column | words |
//! |---|---|
//! | encoding | as in the manual's listings, the most significant bit first: digits; `rd`, `rs1`, `rs2`; `zimm`, a number in the place of rs1; bits of a signed `imm` or of an unsigned `uimm` |
//! | syntax | `rd`, `rs1`, `rs2`, `zimm`; `#` the immediate, `^` its upper 20 bits, `@` the target |

use Class::{Add, Load, Move, Mul, Other, Store};

use crate::domain::word::{Domain, Logic, Shift, Signs};
use crate::fault::Fault;
use crate::isa::cost::Class;
use crate::isa::riscv::machine::{Flow, Outcome, Riscv};
pub use crate::isa::riscv::operands::{Feature, Ops};

/// What a core charges for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    Alu,
    /// LW.
    Load,
    /// LB, LH, LBU, LHU.
    LoadNarrow,
    Store,
    Branch,
    /// JAL.
    Jump,
    /// JALR.
    JumpRegister,
    /// MUL.
    Multiply,
    /// MULH, MULHU, MULHSU.
    MultiplyHigh,
    Divide,
    Trap,
}

/// One instruction.
pub struct Row<D: Domain> {
    pub op: Op,
    pub name: &'static str,
    pub bits: &'static str,
    pub syntax: &'static str,
    pub timing: Timing,
    pub class: Class,
    pub feature: Feature,
    pub meaning: fn(&mut Riscv<D>, Ops) -> Outcome,
}

/// Makes [`Op`] and [`table`] from one list.
macro_rules! instructions {
    ($($op:ident $name:literal $bits:literal $syntax:literal
       $timing:ident $class:ident $feature:ident |$m:pat_param, $o:pat_param| $meaning:expr;)*) => {
        /// An instruction's name in the table.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(clippy::upper_case_acronyms)]
        pub enum Op { $($op,)* }

        /// The table, in the order of [`Op`].
        pub fn table<D: Domain>() -> Vec<Row<D>> {
            vec![$(Row {
                op: Op::$op,
                name: $name,
                bits: $bits,
                syntax: $syntax,
                timing: Timing::$timing,
                class: $class,
                feature: Feature::$feature,
                meaning: |$m, $o| $meaning,
            },)*]
        }
    };
}

instructions! {
    // Constants and addresses
    LUI   "lui"   "imm[31:12] rd 0110111" "rd, ^" Alu Move Base |m, o| { let k = m.word(o.k); m.set(o.d, k) };
    AUIPC "auipc" "imm[31:12] rd 0010111" "rd, ^" Alu Other Base |m, o| { let x = m.in_program(m.pc as u64); let k = m.word(o.k); let x = m.plus(x, k); m.set(o.d, x) };

    // Sums and comparisons
    ADDI  "addi"  "imm[11:0] rs1 000 rd 0010011" "rd, rs1, #" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.plus(m.r(o.s), k); m.set(o.d, x) };
    SLTI  "slti"  "imm[11:0] rs1 010 rd 0010011" "rd, rs1, #" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.less(m.r(o.s), k, true); m.set(o.d, x) };
    SLTIU "sltiu" "imm[11:0] rs1 011 rd 0010011" "rd, rs1, #" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.less(m.r(o.s), k, false); m.set(o.d, x) };
    ADD   "add"   "0000000 rs2 rs1 000 rd 0110011" "rd, rs1, rs2" Alu Add Base |m, o| { let x = m.plus(m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SUB   "sub"   "0100000 rs2 rs1 000 rd 0110011" "rd, rs1, rs2" Alu Add Base |m, o| { let x = m.minus(m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SLT   "slt"   "0000000 rs2 rs1 010 rd 0110011" "rd, rs1, rs2" Alu Add Base |m, o| { let x = m.less(m.r(o.s), m.r(o.t), true); m.set(o.d, x) };
    SLTU  "sltu"  "0000000 rs2 rs1 011 rd 0110011" "rd, rs1, rs2" Alu Add Base |m, o| { let x = m.less(m.r(o.s), m.r(o.t), false); m.set(o.d, x) };

    // Logic
    XORI  "xori"  "imm[11:0] rs1 100 rd 0010011" "rd, rs1, #" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.d.logic(Logic::Xor, &m.r(o.s), &k); m.set(o.d, x) };
    ORI   "ori"   "imm[11:0] rs1 110 rd 0010011" "rd, rs1, #" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.d.logic(Logic::Or, &m.r(o.s), &k); m.set(o.d, x) };
    ANDI  "andi"  "imm[11:0] rs1 111 rd 0010011" "rd, rs1, #" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.d.logic(Logic::And, &m.r(o.s), &k); m.set(o.d, x) };
    XOR   "xor"   "0000000 rs2 rs1 100 rd 0110011" "rd, rs1, rs2" Alu Other Base |m, o| { let x = m.d.logic(Logic::Xor, &m.r(o.s), &m.r(o.t)); m.set(o.d, x) };
    OR    "or"    "0000000 rs2 rs1 110 rd 0110011" "rd, rs1, rs2" Alu Other Base |m, o| { let x = m.d.logic(Logic::Or, &m.r(o.s), &m.r(o.t)); m.set(o.d, x) };
    AND   "and"   "0000000 rs2 rs1 111 rd 0110011" "rd, rs1, rs2" Alu Other Base |m, o| { let x = m.d.logic(Logic::And, &m.r(o.s), &m.r(o.t)); m.set(o.d, x) };

    // Shifts
    SLLI  "slli"  "0000000 uimm[4:0] rs1 001 rd 0010011" "rd, rs1, #" Alu Other Base |m, o| { let x = m.shifted(Shift::Left, o); m.set(o.d, x) };
    SRLI  "srli"  "0000000 uimm[4:0] rs1 101 rd 0010011" "rd, rs1, #" Alu Other Base |m, o| { let x = m.shifted(Shift::Right, o); m.set(o.d, x) };
    SRAI  "srai"  "0100000 uimm[4:0] rs1 101 rd 0010011" "rd, rs1, #" Alu Other Base |m, o| { let x = m.shifted(Shift::ArithmeticRight, o); m.set(o.d, x) };
    SLL   "sll"   "0000000 rs2 rs1 001 rd 0110011" "rd, rs1, rs2" Alu Other Base |m, o| { let x = m.shifted_by_register(Shift::Left, o); m.set(o.d, x) };
    SRL   "srl"   "0000000 rs2 rs1 101 rd 0110011" "rd, rs1, rs2" Alu Other Base |m, o| { let x = m.shifted_by_register(Shift::Right, o); m.set(o.d, x) };
    SRA   "sra"   "0100000 rs2 rs1 101 rd 0110011" "rd, rs1, rs2" Alu Other Base |m, o| { let x = m.shifted_by_register(Shift::ArithmeticRight, o); m.set(o.d, x) };

    // Products and divisions
    MUL    "mul"    "0000001 rs2 rs1 000 rd 0110011" "rd, rs1, rs2" Multiply Mul Multiply |m, o| { let (low, _) = m.product(o, Signs::Unsigned); m.set(o.d, low) };
    MULH   "mulh"   "0000001 rs2 rs1 001 rd 0110011" "rd, rs1, rs2" MultiplyHigh Mul Multiply |m, o| { let (_, high) = m.product(o, Signs::Signed); m.set(o.d, high) };
    MULHSU "mulhsu" "0000001 rs2 rs1 010 rd 0110011" "rd, rs1, rs2" MultiplyHigh Mul Multiply |m, o| { let (_, high) = m.product(o, Signs::SignedUnsigned); m.set(o.d, high) };
    MULHU  "mulhu"  "0000001 rs2 rs1 011 rd 0110011" "rd, rs1, rs2" MultiplyHigh Mul Multiply |m, o| { let (_, high) = m.product(o, Signs::Unsigned); m.set(o.d, high) };
    DIV    "div"    "0000001 rs2 rs1 100 rd 0110011" "rd, rs1, rs2" Divide Other Multiply |m, o| { let (quotient, _) = m.division(o, true)?; m.set(o.d, quotient) };
    DIVU   "divu"   "0000001 rs2 rs1 101 rd 0110011" "rd, rs1, rs2" Divide Other Multiply |m, o| { let (quotient, _) = m.division(o, false)?; m.set(o.d, quotient) };
    REM    "rem"    "0000001 rs2 rs1 110 rd 0110011" "rd, rs1, rs2" Divide Other Multiply |m, o| { let (_, rest) = m.division(o, true)?; m.set(o.d, rest) };
    REMU   "remu"   "0000001 rs2 rs1 111 rd 0110011" "rd, rs1, rs2" Divide Other Multiply |m, o| { let (_, rest) = m.division(o, false)?; m.set(o.d, rest) };

    // Loads and stores
    LB  "lb"  "imm[11:0] rs1 000 rd 0000011" "rd, #(rs1)" LoadNarrow Load Base |m, o| { let x = m.load::<8>(o, true)?; m.set(o.d, x) };
    LH  "lh"  "imm[11:0] rs1 001 rd 0000011" "rd, #(rs1)" LoadNarrow Load Base |m, o| { let x = m.load::<16>(o, true)?; m.set(o.d, x) };
    LW  "lw"  "imm[11:0] rs1 010 rd 0000011" "rd, #(rs1)" Load Load Base |m, o| { let x = m.load::<32>(o, false)?; m.set(o.d, x) };
    LBU "lbu" "imm[11:0] rs1 100 rd 0000011" "rd, #(rs1)" LoadNarrow Load Base |m, o| { let x = m.load::<8>(o, false)?; m.set(o.d, x) };
    LHU "lhu" "imm[11:0] rs1 101 rd 0000011" "rd, #(rs1)" LoadNarrow Load Base |m, o| { let x = m.load::<16>(o, false)?; m.set(o.d, x) };
    SB  "sb"  "imm[11:5] rs2 rs1 000 imm[4:0] 0100011" "rs2, #(rs1)" Store Store Base |m, o| m.store::<8>(o);
    SH  "sh"  "imm[11:5] rs2 rs1 001 imm[4:0] 0100011" "rs2, #(rs1)" Store Store Base |m, o| m.store::<16>(o);
    SW  "sw"  "imm[11:5] rs2 rs1 010 imm[4:0] 0100011" "rs2, #(rs1)" Store Store Base |m, o| m.store::<32>(o);

    // Jumps and branches
    JAL  "jal"  "imm[20|10:1|11|19:12] rd 1101111" "rd, @" Jump Other Base |m, o| { m.link(o.d)?; m.jump(o.k) };
    JALR "jalr" "imm[11:0] rs1 000 rd 1100111" "rd, #(rs1)" JumpRegister Other Base |m, o| { let to = m.r(o.s); m.link(o.d)?; m.jump_register(&to, o.k) };
    BEQ  "beq"  "imm[12|10:5] rs2 rs1 000 imm[4:1|11] 1100011" "rs1, rs2, @" Branch Other Base |m, o| { let c = m.equal(o); m.branch(c, o.k) };
    BNE  "bne"  "imm[12|10:5] rs2 rs1 001 imm[4:1|11] 1100011" "rs1, rs2, @" Branch Other Base |m, o| { let c = m.equal(o); let c = m.d.not(&c); m.branch(c, o.k) };
    BLT  "blt"  "imm[12|10:5] rs2 rs1 100 imm[4:1|11] 1100011" "rs1, rs2, @" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), true); m.branch(c, o.k) };
    BGE  "bge"  "imm[12|10:5] rs2 rs1 101 imm[4:1|11] 1100011" "rs1, rs2, @" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), true); let c = m.d.not(&c); m.branch(c, o.k) };
    BLTU "bltu" "imm[12|10:5] rs2 rs1 110 imm[4:1|11] 1100011" "rs1, rs2, @" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), false); m.branch(c, o.k) };
    BGEU "bgeu" "imm[12|10:5] rs2 rs1 111 imm[4:1|11] 1100011" "rs1, rs2, @" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), false); let c = m.d.not(&c); m.branch(c, o.k) };

    // Decoded, not simulated
    FENCE  "fence"   "0000 uimm[7:0] 00000 000 00000 0001111" "#" Trap Other Base |_, _| unsupported("FENCE, on a machine with one memory");
    FENCEI "fence.i" "000000000000 00000 001 00000 0001111" "" Trap Other Base |_, _| unsupported("FENCE.I, for code that changes itself");
    ECALL  "ecall"   "000000000000 00000 000 00000 1110011" "" Trap Other Base |_, _| unsupported("a system call");
    EBREAK "ebreak"  "000000000001 00000 000 00000 1110011" "" Trap Other Base |_, _| unsupported("a breakpoint");
    CSRRW  "csrrw"   "uimm[11:0] rs1 001 rd 1110011" "rd, #, rs1" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRS  "csrrs"   "uimm[11:0] rs1 010 rd 1110011" "rd, #, rs1" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRC  "csrrc"   "uimm[11:0] rs1 011 rd 1110011" "rd, #, rs1" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRWI "csrrwi"  "uimm[11:0] zimm 101 rd 1110011" "rd, #, zimm" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRSI "csrrsi"  "uimm[11:0] zimm 110 rd 1110011" "rd, #, zimm" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRCI "csrrci"  "uimm[11:0] zimm 111 rd 1110011" "rd, #, zimm" Trap Other Base |_, _| unsupported(CONTROL);
}

const CONTROL: &str = "a control and status register";

fn unsupported(what: &str) -> Result<Flow, Fault> {
    Err(Fault::Unsupported(what.into()))
}
