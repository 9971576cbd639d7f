//! The instruction table of RV32IMC: name, encoding, syntax, data flow, timing class, count class, feature, meaning; and the
//! forms of 16 bits.
//!
//! Source: *The RISC-V Instruction Set Manual, Volume I: Unprivileged ISA*, 20191213, chapters 2 (RV32I), 7 (M), 9
//! (Zicsr), 3 (Zifencei) and 24 (listings). A row is all that the encoder, the assembly text, the simulator, the
//! prover and the generator know of an instruction.
//!
//! | column | letters |
//! |---|---|
//! | pattern | `d`, `s`, `t` the registers rd, rs1 and rs2 (of three bits: x8 to x15); `e` rd and rs1 at once; `z` a number in the place of rs1; immediates: `i` signed, `n` from 0 on, `u` the upper 20 bits, `b` and `j` the distance of a branch and of a jump, `w` bytes from 0 on in words, `p` a step of sp |
//! | syntax | `rd`, `rs1`, `rs2`, `zimm`; `#` the immediate, `^` its upper 20 bits, `@` the target |
//! | flow | written `<` read: `d s t` those registers |
//!
//! The forms of 16 bits (C; chapter 16, tables 16.5 to 16.7 for RV32): each is a row above, with the numbers of operands that
//! are not in its bits, and those with which it is reserved or a hint, which is no instruction here. Of two that fit GNU as
//! takes the first: steps of sp by -32, -16 and 16 have two.

use Class::{Add, Load, Move, Mul, Other, Store};

use crate::codec::{self, instructions};
use crate::domain::word::{Domain, Logic, Shift, Signs};
use crate::fault::Fault;
use crate::isa::cost::Class;
use crate::isa::machine::{Flow, Meaning};
use crate::isa::riscv::machine::Riscv;
pub use crate::isa::riscv::operands::{Feature, Ops};
use crate::isa::words::Words;

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
pub type Row<D> = codec::Row<Ops, Meaning<Riscv<D>, Ops>>;

instructions! {
    // Constants and addresses
    LUI   "lui"   "uuuu uuuu uuuu uuuu uuuu dddd d011 0111" "rd, ^" "d<" Alu Move Base |m, o| { let k = m.word(o.k); m.set(o.d, k) };
    AUIPC "auipc" "uuuu uuuu uuuu uuuu uuuu dddd d001 0111" "rd, ^" "d<" Alu Other Base |m, o| { let x = m.in_program(m.pc as u64); let k = m.word(o.k); let x = m.plus(x, k); m.set(o.d, x) };

    // Sums and comparisons
    ADDI  "addi"  "iiii iiii iiii ssss s000 dddd d001 0011" "rd, rs1, #" "d<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.plus(m.r(o.s), k); m.set(o.d, x) };
    SLTI  "slti"  "iiii iiii iiii ssss s010 dddd d001 0011" "rd, rs1, #" "d<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.less(m.r(o.s), k, true); m.set(o.d, x) };
    SLTIU "sltiu" "iiii iiii iiii ssss s011 dddd d001 0011" "rd, rs1, #" "d<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.less(m.r(o.s), k, false); m.set(o.d, x) };
    ADD   "add"   "0000 000t tttt ssss s000 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Add Base |m, o| { let x = m.plus(m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SUB   "sub"   "0100 000t tttt ssss s000 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Add Base |m, o| { let x = m.minus(m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SLT   "slt"   "0000 000t tttt ssss s010 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Add Base |m, o| { let x = m.less(m.r(o.s), m.r(o.t), true); m.set(o.d, x) };
    SLTU  "sltu"  "0000 000t tttt ssss s011 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Add Base |m, o| { let x = m.less(m.r(o.s), m.r(o.t), false); m.set(o.d, x) };

    // Logic
    XORI  "xori"  "iiii iiii iiii ssss s100 dddd d001 0011" "rd, rs1, #" "d<s" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.d.logic(Logic::Xor, &m.r(o.s), &k); m.set(o.d, x) };
    ORI   "ori"   "iiii iiii iiii ssss s110 dddd d001 0011" "rd, rs1, #" "d<s" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.d.logic(Logic::Or, &m.r(o.s), &k); m.set(o.d, x) };
    ANDI  "andi"  "iiii iiii iiii ssss s111 dddd d001 0011" "rd, rs1, #" "d<s" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.d.logic(Logic::And, &m.r(o.s), &k); m.set(o.d, x) };
    XOR   "xor"   "0000 000t tttt ssss s100 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Other Base |m, o| { let x = m.d.logic(Logic::Xor, &m.r(o.s), &m.r(o.t)); m.set(o.d, x) };
    OR    "or"    "0000 000t tttt ssss s110 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Other Base |m, o| { let x = m.d.logic(Logic::Or, &m.r(o.s), &m.r(o.t)); m.set(o.d, x) };
    AND   "and"   "0000 000t tttt ssss s111 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Other Base |m, o| { let x = m.d.logic(Logic::And, &m.r(o.s), &m.r(o.t)); m.set(o.d, x) };

    // Shifts
    SLLI  "slli"  "0000 000n nnnn ssss s001 dddd d001 0011" "rd, rs1, #" "d<s" Alu Other Base |m, o| { let x = m.shifted(Shift::Left, m.r(o.s), o.k); m.set(o.d, x) };
    SRLI  "srli"  "0000 000n nnnn ssss s101 dddd d001 0011" "rd, rs1, #" "d<s" Alu Other Base |m, o| { let x = m.shifted(Shift::Right, m.r(o.s), o.k); m.set(o.d, x) };
    SRAI  "srai"  "0100 000n nnnn ssss s101 dddd d001 0011" "rd, rs1, #" "d<s" Alu Other Base |m, o| { let x = m.shifted(Shift::ArithmeticRight, m.r(o.s), o.k); m.set(o.d, x) };
    SLL   "sll"   "0000 000t tttt ssss s001 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Other Base |m, o| { let x = m.shifted_by(Shift::Left, m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SRL   "srl"   "0000 000t tttt ssss s101 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Other Base |m, o| { let x = m.shifted_by(Shift::Right, m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SRA   "sra"   "0100 000t tttt ssss s101 dddd d011 0011" "rd, rs1, rs2" "d<st" Alu Other Base |m, o| { let x = m.shifted_by(Shift::ArithmeticRight, m.r(o.s), m.r(o.t)); m.set(o.d, x) };

    // Products and divisions
    MUL    "mul"    "0000 001t tttt ssss s000 dddd d011 0011" "rd, rs1, rs2" "d<st" Multiply Mul Multiply |m, o| { let (low, _) = m.product(o, Signs::Unsigned); m.set(o.d, low) };
    MULH   "mulh"   "0000 001t tttt ssss s001 dddd d011 0011" "rd, rs1, rs2" "d<st" MultiplyHigh Mul Multiply |m, o| { let (_, high) = m.product(o, Signs::Signed); m.set(o.d, high) };
    MULHSU "mulhsu" "0000 001t tttt ssss s010 dddd d011 0011" "rd, rs1, rs2" "d<st" MultiplyHigh Mul Multiply |m, o| { let (_, high) = m.product(o, Signs::SignedUnsigned); m.set(o.d, high) };
    MULHU  "mulhu"  "0000 001t tttt ssss s011 dddd d011 0011" "rd, rs1, rs2" "d<st" MultiplyHigh Mul Multiply |m, o| { let (_, high) = m.product(o, Signs::Unsigned); m.set(o.d, high) };
    DIV    "div"    "0000 001t tttt ssss s100 dddd d011 0011" "rd, rs1, rs2" "d<st" Divide Other Multiply |m, o| { let (quotient, _) = m.division(o, true)?; m.set(o.d, quotient) };
    DIVU   "divu"   "0000 001t tttt ssss s101 dddd d011 0011" "rd, rs1, rs2" "d<st" Divide Other Multiply |m, o| { let (quotient, _) = m.division(o, false)?; m.set(o.d, quotient) };
    REM    "rem"    "0000 001t tttt ssss s110 dddd d011 0011" "rd, rs1, rs2" "d<st" Divide Other Multiply |m, o| { let (_, rest) = m.division(o, true)?; m.set(o.d, rest) };
    REMU   "remu"   "0000 001t tttt ssss s111 dddd d011 0011" "rd, rs1, rs2" "d<st" Divide Other Multiply |m, o| { let (_, rest) = m.division(o, false)?; m.set(o.d, rest) };

    // Loads and stores
    LB  "lb"  "iiii iiii iiii ssss s000 dddd d000 0011" "rd, #(rs1)" "d<s" LoadNarrow Load Base |m, o| { let x = m.load::<8>(o.s, o.k, true)?; m.set(o.d, x) };
    LH  "lh"  "iiii iiii iiii ssss s001 dddd d000 0011" "rd, #(rs1)" "d<s" LoadNarrow Load Base |m, o| { let x = m.load::<16>(o.s, o.k, true)?; m.set(o.d, x) };
    LW  "lw"  "iiii iiii iiii ssss s010 dddd d000 0011" "rd, #(rs1)" "d<s" Load Load Base |m, o| { let x = m.load::<32>(o.s, o.k, false)?; m.set(o.d, x) };
    LBU "lbu" "iiii iiii iiii ssss s100 dddd d000 0011" "rd, #(rs1)" "d<s" LoadNarrow Load Base |m, o| { let x = m.load::<8>(o.s, o.k, false)?; m.set(o.d, x) };
    LHU "lhu" "iiii iiii iiii ssss s101 dddd d000 0011" "rd, #(rs1)" "d<s" LoadNarrow Load Base |m, o| { let x = m.load::<16>(o.s, o.k, false)?; m.set(o.d, x) };
    SB  "sb"  "iiii iiit tttt ssss s000 iiii i010 0011" "rs2, #(rs1)" "<st" Store Store Base |m, o| m.store::<8>(o.t, o.s, o.k);
    SH  "sh"  "iiii iiit tttt ssss s001 iiii i010 0011" "rs2, #(rs1)" "<st" Store Store Base |m, o| m.store::<16>(o.t, o.s, o.k);
    SW  "sw"  "iiii iiit tttt ssss s010 iiii i010 0011" "rs2, #(rs1)" "<st" Store Store Base |m, o| m.store::<32>(o.t, o.s, o.k);

    // Jumps and branches
    JAL  "jal"  "jjjj jjjj jjjj jjjj jjjj dddd d110 1111" "rd, @" "d<" Jump Other Base |m, o| { m.link(o.d)?; m.jump(o.k) };
    JALR "jalr" "iiii iiii iiii ssss s000 dddd d110 0111" "rd, #(rs1)" "d<s" JumpRegister Other Base |m, o| { let to = m.r(o.s); m.link(o.d)?; m.jump_register(&to, o.k) };
    BEQ  "beq"  "bbbb bbbt tttt ssss s000 bbbb b110 0011" "rs1, rs2, @" "<st" Branch Other Base |m, o| { let c = m.equal(m.r(o.s), m.r(o.t)); m.branch(c, o.k) };
    BNE  "bne"  "bbbb bbbt tttt ssss s001 bbbb b110 0011" "rs1, rs2, @" "<st" Branch Other Base |m, o| { let c = m.equal(m.r(o.s), m.r(o.t)); let c = m.d.not(&c); m.branch(c, o.k) };
    BLT  "blt"  "bbbb bbbt tttt ssss s100 bbbb b110 0011" "rs1, rs2, @" "<st" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), true); m.branch(c, o.k) };
    BGE  "bge"  "bbbb bbbt tttt ssss s101 bbbb b110 0011" "rs1, rs2, @" "<st" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), true); let c = m.d.not(&c); m.branch(c, o.k) };
    BLTU "bltu" "bbbb bbbt tttt ssss s110 bbbb b110 0011" "rs1, rs2, @" "<st" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), false); m.branch(c, o.k) };
    BGEU "bgeu" "bbbb bbbt tttt ssss s111 bbbb b110 0011" "rs1, rs2, @" "<st" Branch Other Base |m, o| { let c = m.is_less(m.r(o.s), m.r(o.t), false); let c = m.d.not(&c); m.branch(c, o.k) };

    // Decoded, not simulated
    FENCE  "fence"   "0000 nnnn nnnn 0000 0000 0000 0000 1111" "#" "<" Trap Other Base |_, _| unsupported("FENCE, on a machine with one memory");
    FENCEI "fence.i" "0000 0000 0000 0000 0001 0000 0000 1111" "" "<" Trap Other Base |_, _| unsupported("FENCE.I, for code that changes itself");
    ECALL  "ecall"   "0000 0000 0000 0000 0000 0000 0111 0011" "" "<" Trap Other Base |_, _| unsupported("a system call");
    EBREAK "ebreak"  "0000 0000 0001 0000 0000 0000 0111 0011" "" "<" Trap Other Base |_, _| unsupported("a breakpoint");
    CSRRW  "csrrw"   "nnnn nnnn nnnn ssss s001 dddd d111 0011" "rd, #, rs1" "d<s" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRS  "csrrs"   "nnnn nnnn nnnn ssss s010 dddd d111 0011" "rd, #, rs1" "d<s" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRC  "csrrc"   "nnnn nnnn nnnn ssss s011 dddd d111 0011" "rd, #, rs1" "d<s" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRWI "csrrwi"  "nnnn nnnn nnnn zzzz z101 dddd d111 0011" "rd, #, zimm" "d<" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRSI "csrrsi"  "nnnn nnnn nnnn zzzz z110 dddd d111 0011" "rd, #, zimm" "d<" Trap Other Base |_, _| unsupported(CONTROL);
    CSRRCI "csrrci"  "nnnn nnnn nnnn zzzz z111 dddd d111 0011" "rd, #, zimm" "d<" Trap Other Base |_, _| unsupported(CONTROL);

    // Instructions of 16 bits
    {
        C_ADDI4SPN "c.addi4spn" "000w wwww wwwd dd00" "rd, rs1, #"  Compressed ADDI ['s' 2]       ['k' 0];
        C_LW       "c.lw"       "010w wwss swwd dd00" "rd, #(rs1)"  Compressed LW   []            [];
        C_SW       "c.sw"       "110w wwss swwt tt00" "rs2, #(rs1)" Compressed SW   []            [];
        C_NOP      "c.nop"      "0000 0000 0000 0001" ""            Compressed ADDI []            [];
        C_ADDI     "c.addi"     "000i eeee eiii ii01" "rd, #"       Compressed ADDI []            ['d' 0 'k' 0];
        C_JAL      "c.jal"      "001j jjjj jjjj jj01" "@"           Compressed JAL  ['d' 1]       [];
        C_LI       "c.li"       "010i dddd diii ii01" "rd, #"       Compressed ADDI []            ['d' 0];
        C_ADDI16SP "c.addi16sp" "011p 0001 0ppp pp01" "rd, #"       Compressed ADDI ['d' 2 's' 2] ['k' 0];
        C_LUI      "c.lui"      "011u dddd duuu uu01" "rd, ^"       Compressed LUI  []            ['d' 0 'd' 2 'k' 0];
        C_SRLI     "c.srli"     "1000 00ee ennn nn01" "rd, #"       Compressed SRLI []            ['k' 0];
        C_SRAI     "c.srai"     "1000 01ee ennn nn01" "rd, #"       Compressed SRAI []            ['k' 0];
        C_ANDI     "c.andi"     "100i 10ee eiii ii01" "rd, #"       Compressed ANDI []            [];
        C_SUB      "c.sub"      "1000 11ee e00t tt01" "rd, rs2"     Compressed SUB  []            [];
        C_XOR      "c.xor"      "1000 11ee e01t tt01" "rd, rs2"     Compressed XOR  []            [];
        C_OR       "c.or"       "1000 11ee e10t tt01" "rd, rs2"     Compressed OR   []            [];
        C_AND      "c.and"      "1000 11ee e11t tt01" "rd, rs2"     Compressed AND  []            [];
        C_J        "c.j"        "101j jjjj jjjj jj01" "@"           Compressed JAL  []            [];
        C_BEQZ     "c.beqz"     "110b bbss sbbb bb01" "rs1, @"      Compressed BEQ  []            [];
        C_BNEZ     "c.bnez"     "111b bbss sbbb bb01" "rs1, @"      Compressed BNE  []            [];
        C_SLLI     "c.slli"     "0000 eeee ennn nn10" "rd, #"       Compressed SLLI []            ['d' 0 'k' 0];
        C_LWSP     "c.lwsp"     "010w dddd dwww ww10" "rd, #(rs1)"  Compressed LW   ['s' 2]       ['d' 0];
        C_JR       "c.jr"       "1000 ssss s000 0010" "rs1"         Compressed JALR []            ['s' 0];
        C_MV       "c.mv"       "1000 dddd dttt tt10" "rd, rs2"     Compressed ADD  []            ['d' 0 't' 0];
        C_JALR     "c.jalr"     "1001 ssss s000 0010" "rs1"         Compressed JALR ['d' 1]       ['s' 0];
        C_ADD      "c.add"      "1001 eeee ettt tt10" "rd, rs2"     Compressed ADD  []            ['d' 0 't' 0];
        C_SWSP     "c.swsp"     "110w wwww wttt tt10" "rs2, #(rs1)" Compressed SW   ['s' 2]       [];
    }
}

const CONTROL: &str = "a control and status register";

fn unsupported(what: &str) -> Result<Flow, Fault> {
    Err(Fault::Unsupported(what.into()))
}
