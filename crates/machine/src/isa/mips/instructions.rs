//! The MIPS32 instruction table: name, encoding, syntax, data flow, timing class, count class, feature, meaning.
//!
//! Source: MIPS MD00086, *MIPS32 Architecture for Programmers, Volume II*, release 1
//! (rows of feature `Base`); Großschädl and Kamendje 2003, sections 4.1, 4.2, 5.2 and 5.3,
//! for the extensions. A row is all that the encoder, the assembly text, the simulator,
//! the prover, the scheduler and the generator know of an instruction: to add one, add a row.
//!
//! | column | letters |
//! |---|---|
//! | pattern | `s`, `t`, `d` registers; `e` `d` again; `p` an even register and the next; `a` a shift count; `i` a signed, `u` an unsigned constant; `n` a signed count of words; `o` a branch offset, `j` a jump target, in words; `c` a code |
//! | syntax | `rs`, `rt`, `rd`, `rp`; `#` the number, `@` the target |
//! | flow | written `<` read: `s t d p` those registers, `R` $ra, `H` HI with its guard bits, `L` LO |

use Class::{Add, Load, Move, Mul, Other, Store};

use crate::codec::{self, instructions};
use crate::domain::word::{Domain, Logic, Shift, Signs};
use crate::fault::Fault;
use crate::isa::cost::Class;
use crate::isa::machine::{Flow, Meaning};
use crate::isa::mips::machine::Mips;
pub use crate::isa::mips::operands::{Feature, Ops};
use crate::isa::words::Words;

/// What a core charges for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    Alu,
    Load,
    Store,
    Branch,
    Jump,
    /// MULT, MULTU, MADD, ...: the multiplier, into HI and LO.
    Multiply,
    /// MUL: the multiplier, into a register.
    MultiplyRegister,
    /// MADDH, MADDL: the multiplier, into a register, holding its write slot.
    MultiplyAddRegister,
    Divide,
    MoveFrom,
    /// MTHI, MTLO, SHA: HI and LO without the multiplier.
    MoveTo,
    Trap,
}

/// One instruction.
pub type Row<D> = codec::Row<Ops, Meaning<Mips<D>, Ops>>;

instructions! {
    // Extensions: SPECIAL2 (opcode 0x1c), function codes that MIPS32 leaves free
    SHA    "sha"    "0111 0000 0000 0000 0000 0000 0010 1000" ""            "HL<H"   MoveTo   Other WideAcc |m, _| m.shift_accumulator();
    M2ADDU "m2addu" "0111 00ss ssst tttt 0000 0000 0010 1001" "rs, rt"      "HL<stHL" Multiply Mul  WideAcc |m, o| { m.accumulate(o, Signs::Unsigned, true)?; m.accumulate(o, Signs::Unsigned, true) };
    MADDL  "maddl"  "0111 00ss ssst tttt dddd dppp p010 1010" "rd, rs, rt, rp" "d<stp" MultiplyAddRegister Mul MaddHl |m, o| { let (lo, _) = m.multiply_add_pair(o); m.set(o.d, lo) };
    MADDH  "maddh"  "0111 00ss ssst tttt dddd dppp p010 1011" "rd, rs, rt, rp" "d<stp" MultiplyAddRegister Mul MaddHl |m, o| { let (_, hi) = m.multiply_add_pair(o); m.set(o.d, hi) };
    LWI    "lwi"    "0111 00ss ssst tttt nnnn nnnn nn10 1100" "rt, (rs), #" "st<s"   Load     Load  AutoInc |m, o| m.load_and_step(o);

    // Arithmetic
    ADD   "add"   "0000 00ss ssst tttt dddd d000 0010 0000" "rd, rs, rt" "d<st" Alu Add Base |m, o| { let x = m.sum_checked(o.s, m.r(o.t))?; m.set(o.d, x) };
    ADDU  "addu"  "0000 00ss ssst tttt dddd d000 0010 0001" "rd, rs, rt" "d<st" Alu Add Base |m, o| { let x = m.plus(m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    SUB   "sub"   "0000 00ss ssst tttt dddd d000 0010 0010" "rd, rs, rt" "d<st" Alu Add Base |m, o| { let x = m.difference_checked(o.s, m.r(o.t))?; m.set(o.d, x) };
    SUBU  "subu"  "0000 00ss ssst tttt dddd d000 0010 0011" "rd, rs, rt" "d<st" Alu Add Base |m, o| { let x = m.minus(m.r(o.s), m.r(o.t)); m.set(o.d, x) };
    ADDI  "addi"  "0010 00ss ssst tttt iiii iiii iiii iiii" "rt, rs, #" "t<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.sum_checked(o.s, k)?; m.set(o.t, x) };
    ADDIU "addiu" "0010 01ss ssst tttt iiii iiii iiii iiii" "rt, rs, #" "t<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.plus(m.r(o.s), k); m.set(o.t, x) };
    SLT   "slt"   "0000 00ss ssst tttt dddd d000 0010 1010" "rd, rs, rt" "d<st" Alu Add Base |m, o| { let x = m.less(m.r(o.s), m.r(o.t), true); m.set(o.d, x) };
    SLTU  "sltu"  "0000 00ss ssst tttt dddd d000 0010 1011" "rd, rs, rt" "d<st" Alu Add Base |m, o| { let x = m.less(m.r(o.s), m.r(o.t), false); m.set(o.d, x) };
    SLTI  "slti"  "0010 10ss ssst tttt iiii iiii iiii iiii" "rt, rs, #" "t<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.less(m.r(o.s), k, true); m.set(o.t, x) };
    SLTIU "sltiu" "0010 11ss ssst tttt iiii iiii iiii iiii" "rt, rs, #" "t<s" Alu Add Base |m, o| { let k = m.word(o.k); let x = m.less(m.r(o.s), k, false); m.set(o.t, x) };
    CLZ   "clz"   "0111 00ss ssse eeee dddd d000 0010 0000" "rd, rs" "d<s" Alu Other Base |m, o| m.count_leading(o, false);
    CLO   "clo"   "0111 00ss ssse eeee dddd d000 0010 0001" "rd, rs" "d<s" Alu Other Base |m, o| m.count_leading(o, true);

    // Logic and constants
    AND   "and"   "0000 00ss ssst tttt dddd d000 0010 0100" "rd, rs, rt" "d<st" Alu Other Base |m, o| { let x = m.bitwise(Logic::And, o.s, m.r(o.t)); m.set(o.d, x) };
    OR    "or"    "0000 00ss ssst tttt dddd d000 0010 0101" "rd, rs, rt" "d<st" Alu Other Base |m, o| { let x = m.bitwise(Logic::Or, o.s, m.r(o.t)); m.set(o.d, x) };
    XOR   "xor"   "0000 00ss ssst tttt dddd d000 0010 0110" "rd, rs, rt" "d<st" Alu Other Base |m, o| { let x = m.bitwise(Logic::Xor, o.s, m.r(o.t)); m.set(o.d, x) };
    NOR   "nor"   "0000 00ss ssst tttt dddd d000 0010 0111" "rd, rs, rt" "d<st" Alu Other Base |m, o| { let x = m.bitwise(Logic::Or, o.s, m.r(o.t)); let x = m.complement(x); m.set(o.d, x) };
    ANDI  "andi"  "0011 00ss ssst tttt uuuu uuuu uuuu uuuu" "rt, rs, #" "t<s" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.bitwise(Logic::And, o.s, k); m.set(o.t, x) };
    ORI   "ori"   "0011 01ss ssst tttt uuuu uuuu uuuu uuuu" "rt, rs, #" "t<s" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.bitwise(Logic::Or, o.s, k); m.set(o.t, x) };
    XORI  "xori"  "0011 10ss ssst tttt uuuu uuuu uuuu uuuu" "rt, rs, #" "t<s" Alu Other Base |m, o| { let k = m.word(o.k); let x = m.bitwise(Logic::Xor, o.s, k); m.set(o.t, x) };
    LUI   "lui"   "0011 1100 000t tttt uuuu uuuu uuuu uuuu" "rt, #" "t<" Alu Move Base |m, o| { let k = m.word(o.k << 16); m.set(o.t, k) };

    // Shifts
    SLL   "sll"   "0000 0000 000t tttt dddd daaa aa00 0000" "rd, rt, #" "d<t" Alu Other Base |m, o| { let x = m.shifted(Shift::Left, m.r(o.t), o.k); m.set(o.d, x) };
    SRL   "srl"   "0000 0000 000t tttt dddd daaa aa00 0010" "rd, rt, #" "d<t" Alu Other Base |m, o| { let x = m.shifted(Shift::Right, m.r(o.t), o.k); m.set(o.d, x) };
    SRA   "sra"   "0000 0000 000t tttt dddd daaa aa00 0011" "rd, rt, #" "d<t" Alu Other Base |m, o| { let x = m.shifted(Shift::ArithmeticRight, m.r(o.t), o.k); m.set(o.d, x) };
    SLLV  "sllv"  "0000 00ss ssst tttt dddd d000 0000 0100" "rd, rt, rs" "d<st" Alu Other Base |m, o| { let x = m.shifted_by(Shift::Left, m.r(o.t), m.r(o.s)); m.set(o.d, x) };
    SRLV  "srlv"  "0000 00ss ssst tttt dddd d000 0000 0110" "rd, rt, rs" "d<st" Alu Other Base |m, o| { let x = m.shifted_by(Shift::Right, m.r(o.t), m.r(o.s)); m.set(o.d, x) };
    SRAV  "srav"  "0000 00ss ssst tttt dddd d000 0000 0111" "rd, rt, rs" "d<st" Alu Other Base |m, o| { let x = m.shifted_by(Shift::ArithmeticRight, m.r(o.t), m.r(o.s)); m.set(o.d, x) };

    // Conditional moves
    MOVZ  "movz"  "0000 00ss ssst tttt dddd d000 0000 1010" "rd, rs, rt" "d<std" Alu Move Base |m, o| m.move_if_zero(o, true);
    MOVN  "movn"  "0000 00ss ssst tttt dddd d000 0000 1011" "rd, rs, rt" "d<std" Alu Move Base |m, o| m.move_if_zero(o, false);

    // Multiply and divide unit
    MULT  "mult"  "0000 00ss ssst tttt 0000 0000 0001 1000" "rs, rt" "HL<st" Multiply Mul Base |m, o| m.multiply(o, Signs::Signed);
    MULTU "multu" "0000 00ss ssst tttt 0000 0000 0001 1001" "rs, rt" "HL<st" Multiply Mul Base |m, o| m.multiply(o, Signs::Unsigned);
    DIV   "div"   "0000 00ss ssst tttt 0000 0000 0001 1010" "$zero, rs, rt" "HL<st" Divide Other Base |m, o| m.divide(o, true);
    DIVU  "divu"  "0000 00ss ssst tttt 0000 0000 0001 1011" "$zero, rs, rt" "HL<st" Divide Other Base |m, o| m.divide(o, false);
    MADD  "madd"  "0111 00ss ssst tttt 0000 0000 0000 0000" "rs, rt" "HL<stHL" Multiply Mul Base |m, o| m.accumulate(o, Signs::Signed, true);
    MADDU "maddu" "0111 00ss ssst tttt 0000 0000 0000 0001" "rs, rt" "HL<stHL" Multiply Mul Base |m, o| m.accumulate(o, Signs::Unsigned, true);
    MUL   "mul"   "0111 00ss ssst tttt dddd d000 0000 0010" "rd, rs, rt" "d<st" MultiplyRegister Mul Base |m, o| m.multiply_to_register(o);
    MSUB  "msub"  "0111 00ss ssst tttt 0000 0000 0000 0100" "rs, rt" "HL<stHL" Multiply Mul Base |m, o| m.accumulate(o, Signs::Signed, false);
    MSUBU "msubu" "0111 00ss ssst tttt 0000 0000 0000 0101" "rs, rt" "HL<stHL" Multiply Mul Base |m, o| m.accumulate(o, Signs::Unsigned, false);
    MFHI  "mfhi"  "0000 0000 0000 0000 dddd d000 0001 0000" "rd" "d<H" MoveFrom Move Base |m, o| { let x = m.hi()?; m.set(o.d, x) };
    MFLO  "mflo"  "0000 0000 0000 0000 dddd d000 0001 0010" "rd" "d<L" MoveFrom Move Base |m, o| { let x = m.lo()?; m.set(o.d, x) };
    MTHI  "mthi"  "0000 00ss sss0 0000 0000 0000 0001 0001" "rs" "H<s" MoveTo Move Base |m, o| m.set_hi(m.r(o.s));
    MTLO  "mtlo"  "0000 00ss sss0 0000 0000 0000 0001 0011" "rs" "L<s" MoveTo Move Base |m, o| m.set_lo(m.r(o.s));

    // Loads and stores
    LB    "lb"    "1000 00ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<s" Load Load Base |m, o| { let x = m.load::<8>(o.s, o.k, true)?; m.set(o.t, x) };
    LH    "lh"    "1000 01ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<s" Load Load Base |m, o| { let x = m.load::<16>(o.s, o.k, true)?; m.set(o.t, x) };
    LWL   "lwl"   "1000 10ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<st" Load Load Base |m, o| m.load_part(o, true);
    LW    "lw"    "1000 11ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<s" Load Load Base |m, o| { let x = m.load::<32>(o.s, o.k, false)?; m.set(o.t, x) };
    LBU   "lbu"   "1001 00ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<s" Load Load Base |m, o| { let x = m.load::<8>(o.s, o.k, false)?; m.set(o.t, x) };
    LHU   "lhu"   "1001 01ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<s" Load Load Base |m, o| { let x = m.load::<16>(o.s, o.k, false)?; m.set(o.t, x) };
    LWR   "lwr"   "1001 10ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<st" Load Load Base |m, o| m.load_part(o, false);
    SB    "sb"    "1010 00ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "<st" Store Store Base |m, o| m.store::<8>(o.t, o.s, o.k);
    SH    "sh"    "1010 01ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "<st" Store Store Base |m, o| m.store::<16>(o.t, o.s, o.k);
    SWL   "swl"   "1010 10ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "<st" Store Store Base |m, o| m.store_part(o, true);
    SW    "sw"    "1010 11ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "<st" Store Store Base |m, o| m.store::<32>(o.t, o.s, o.k);
    SWR   "swr"   "1011 10ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "<st" Store Store Base |m, o| m.store_part(o, false);

    // Jumps and branches, each with a delay slot
    J       "j"       "0000 10jj jjjj jjjj jjjj jjjj jjjj jjjj" "@" "<" Jump Other Base |m, o| m.jump(o.k);
    JAL     "jal"     "0000 11jj jjjj jjjj jjjj jjjj jjjj jjjj" "@" "R<" Jump Other Base |m, o| { m.link(31, 0)?; m.jump(o.k) };
    JR      "jr"      "0000 00ss sss0 0000 0000 0000 0000 1000" "rs" "<s" Jump Other Base |m, o| m.jump_register(m.r(o.s));
    JALR    "jalr"    "0000 00ss sss0 0000 dddd d000 0000 1001" "rd, rs" "d<s" Jump Other Base |m, o| { let to = m.r(o.s); m.link(o.d, o.s)?; m.jump_register(to) };
    BEQ     "beq"     "0001 00ss ssst tttt oooo oooo oooo oooo" "rs, rt, @" "<st" Branch Other Base |m, o| { let c = m.equal(m.r(o.s), m.r(o.t)); m.branch(c, o.k, false) };
    BNE     "bne"     "0001 01ss ssst tttt oooo oooo oooo oooo" "rs, rt, @" "<st" Branch Other Base |m, o| { let c = m.equal(m.r(o.s), m.r(o.t)); let c = m.d.not(&c); m.branch(c, o.k, false) };
    BLEZ    "blez"    "0001 10ss sss0 0000 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.positive(o.s); let c = m.d.not(&c); m.branch(c, o.k, false) };
    BGTZ    "bgtz"    "0001 11ss sss0 0000 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.positive(o.s); m.branch(c, o.k, false) };
    BLTZ    "bltz"    "0000 01ss sss0 0000 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.negative(o.s); m.branch(c, o.k, false) };
    BGEZ    "bgez"    "0000 01ss sss0 0001 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.negative(o.s); let c = m.d.not(&c); m.branch(c, o.k, false) };
    BLTZAL  "bltzal"  "0000 01ss sss1 0000 oooo oooo oooo oooo" "rs, @" "R<s" Branch Other Base |m, o| { let c = m.negative(o.s); m.link(31, o.s)?; m.branch(c, o.k, false) };
    BGEZAL  "bgezal"  "0000 01ss sss1 0001 oooo oooo oooo oooo" "rs, @" "R<s" Branch Other Base |m, o| { let c = m.negative(o.s); let c = m.d.not(&c); m.link(31, o.s)?; m.branch(c, o.k, false) };
    BEQL    "beql"    "0101 00ss ssst tttt oooo oooo oooo oooo" "rs, rt, @" "<st" Branch Other Base |m, o| { let c = m.equal(m.r(o.s), m.r(o.t)); m.branch(c, o.k, true) };
    BNEL    "bnel"    "0101 01ss ssst tttt oooo oooo oooo oooo" "rs, rt, @" "<st" Branch Other Base |m, o| { let c = m.equal(m.r(o.s), m.r(o.t)); let c = m.d.not(&c); m.branch(c, o.k, true) };
    BLEZL   "blezl"   "0101 10ss sss0 0000 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.positive(o.s); let c = m.d.not(&c); m.branch(c, o.k, true) };
    BGTZL   "bgtzl"   "0101 11ss sss0 0000 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.positive(o.s); m.branch(c, o.k, true) };
    BLTZL   "bltzl"   "0000 01ss sss0 0010 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.negative(o.s); m.branch(c, o.k, true) };
    BGEZL   "bgezl"   "0000 01ss sss0 0011 oooo oooo oooo oooo" "rs, @" "<s" Branch Other Base |m, o| { let c = m.negative(o.s); let c = m.d.not(&c); m.branch(c, o.k, true) };
    BLTZALL "bltzall" "0000 01ss sss1 0010 oooo oooo oooo oooo" "rs, @" "R<s" Branch Other Base |m, o| { let c = m.negative(o.s); m.link(31, o.s)?; m.branch(c, o.k, true) };
    BGEZALL "bgezall" "0000 01ss sss1 0011 oooo oooo oooo oooo" "rs, @" "R<s" Branch Other Base |m, o| { let c = m.negative(o.s); let c = m.d.not(&c); m.link(31, o.s)?; m.branch(c, o.k, true) };

    // Traps: decoded, not simulated
    SYSCALL "syscall" "0000 00cc cccc cccc cccc cccc cc00 1100" "#" "<" Trap Other Base |_, _| unsupported("a system call");
    BREAK   "break"   "0000 00cc cccc cccc cccc cccc cc00 1101" "#" "<" Trap Other Base |_, _| unsupported("a breakpoint");
    SYNC    "sync"    "0000 0000 0000 0000 0000 0000 0000 1111" "" "<" Trap Other Base |_, _| unsupported("SYNC, on a machine with one memory");
    LL      "ll"      "1100 00ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<s" Trap Other Base |_, _| unsupported("a linked load, for other processors to see");
    SC      "sc"      "1110 00ss ssst tttt iiii iiii iiii iiii" "rt, #(rs)" "t<st" Trap Other Base |_, _| unsupported("a conditional store, for other processors to see");
    TGE     "tge"     "0000 00ss ssst tttt cccc cccc cc11 0000" "rs, rt, #" "<st" Trap Other Base |_, _| unsupported("a trap");
    TGEU    "tgeu"    "0000 00ss ssst tttt cccc cccc cc11 0001" "rs, rt, #" "<st" Trap Other Base |_, _| unsupported("a trap");
    TLT     "tlt"     "0000 00ss ssst tttt cccc cccc cc11 0010" "rs, rt, #" "<st" Trap Other Base |_, _| unsupported("a trap");
    TLTU    "tltu"    "0000 00ss ssst tttt cccc cccc cc11 0011" "rs, rt, #" "<st" Trap Other Base |_, _| unsupported("a trap");
    TEQ     "teq"     "0000 00ss ssst tttt cccc cccc cc11 0100" "rs, rt, #" "<st" Trap Other Base |_, _| unsupported("a trap");
    TNE     "tne"     "0000 00ss ssst tttt cccc cccc cc11 0110" "rs, rt, #" "<st" Trap Other Base |_, _| unsupported("a trap");
    TGEI    "tgei"   "0000 01ss sss0 1000 iiii iiii iiii iiii" "rs, #" "<s" Trap Other Base |_, _| unsupported("a trap");
    TGEIU   "tgeiu"  "0000 01ss sss0 1001 iiii iiii iiii iiii" "rs, #" "<s" Trap Other Base |_, _| unsupported("a trap");
    TLTI    "tlti"   "0000 01ss sss0 1010 iiii iiii iiii iiii" "rs, #" "<s" Trap Other Base |_, _| unsupported("a trap");
    TLTIU   "tltiu"  "0000 01ss sss0 1011 iiii iiii iiii iiii" "rs, #" "<s" Trap Other Base |_, _| unsupported("a trap");
    TEQI    "teqi"   "0000 01ss sss0 1100 iiii iiii iiii iiii" "rs, #" "<s" Trap Other Base |_, _| unsupported("a trap");
    TNEI    "tnei"   "0000 01ss sss0 1110 iiii iiii iiii iiii" "rs, #" "<s" Trap Other Base |_, _| unsupported("a trap");
}

fn unsupported(what: &str) -> Result<Flow, Fault> {
    Err(Fault::Unsupported(what.into()))
}
