//! The ARM instruction table: name, encoding, syntax, data flow, timing class and meaning, a row each.
//!
//! Source: ARM DDI 0100, *ARM Architecture Reference Manual*, chapter A3 to A5, the
//! instructions of ARMv4T in ARM state that user code runs. Pattern letters are operand
//! bits: `c` condition, `d`, `n`, `m`, `r` registers (`r` is the manual's Rs), `S` set the
//! flags, `P`, `U`, `W` index before, add, write back; `#` a shifter operand with its
//! immediate bit, `@` and `%` the offsets of word and of halfword accesses, `l` a register
//! list, `k` a branch offset in words. A long product's RdHi is `d`, its RdLo `n`.
//! Meanings are run by [`crate::isa::arm::machine`].

use Class::{Add, Frame, Move, Other};
use Op::*;
use Timing::{Alu, Branch, LoadMultiple, Multiply, Status, StoreMultiple, Swap};

use crate::codec;
use crate::domain::word::{Domain, Logic, Signs};
use crate::isa::arm::machine::Arm;
pub use crate::isa::arm::operands::Ops;
use crate::isa::cost::Class;
use crate::isa::machine::Meaning;

/// An instruction's name in the table.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::upper_case_acronyms)]
pub enum Op {
    AND, EOR, SUB, RSB, ADD, ADC, SBC, RSC, TST, TEQ, CMP, CMN, ORR, MOV, BIC, MVN,
    MUL, MLA, UMULL, UMLAL, SMULL, SMLAL,
    LDR, LDRB, STR, STRB, LDRH, LDRSB, LDRSH, STRH, LDM, STM, SWP, SWPB,
    B, BL, BX, MRS, MSR,
}

/// Which upper bytes of the multiplier end a multiplication early.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ends {
    /// All zeros.
    Zeros,
    /// All zeros or all ones.
    Same,
}

/// What a core charges for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Timing {
    Alu,
    /// Cycles of an ARM7 beside those of the multiplier array, what ends it early, and whether the product is long.
    Multiply(u32, Ends, bool),
    Load,
    Store,
    LoadMultiple,
    StoreMultiple,
    Swap,
    Branch,
    /// MRS, MSR.
    Status,
}

/// One instruction.
pub type Row<D> = codec::Row<Ops, Meaning<Arm<D>, Ops>>;

fn row<D: Domain>(
    op: Op,
    name: &'static str,
    pattern: &'static str,
    [syntax, flow]: [&'static str; 2],
    timing: Timing,
    class: Class,
    meaning: Meaning<Arm<D>, Ops>,
) -> Row<D> {
    Row {
        op,
        name,
        pattern,
        syntax,
        flow,
        timing,
        class,
        feature: (),
        meaning,
    }
}

const LOAD: (Timing, Class) = (Timing::Load, Class::Load);
const STORE: (Timing, Class) = (Timing::Store, Class::Store);
const UNSIGNED: Signs = Signs::Unsigned;
const SIGNED: Signs = Signs::Signed;

/// The table, in the order of [`Op`].
#[rustfmt::skip]
pub fn table<D: Domain>() -> Vec<Row<D>> {
    // In `syntax`: Rd, Rn, Rm, Rr registers; # a shifter operand; @ an address; l a list; k a target; ! writeback.
    // Behind it, what is written and what is read: `f` the flags, `S` the flags if they are set, `c` if there is a
    // condition, `w` the base if it moves, `L` the link register. Where some flags stay as they were, they are read.
    vec![
        // Data processing
        row(AND, "and", "cccc 00#0 000S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cS"], Alu, Other, |m, o| m.bitwise(o, Logic::And, false)),
        row(EOR, "eor", "cccc 00#0 001S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cS"], Alu, Other, |m, o| m.bitwise(o, Logic::Xor, false)),
        row(SUB, "sub", "cccc 00#0 010S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#c"], Alu, Add, |m, o| { let c = m.d.flag(true); m.difference(o, c) }),
        row(RSB, "rsb", "cccc 00#0 011S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#c"], Alu, Add, |m, o| { let c = m.d.flag(true); m.reverse_difference(o, c) }),
        row(ADD, "add", "cccc 00#0 100S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#c"], Alu, Add, |m, o| { let c = m.d.flag(false); m.sum(o, c) }),
        row(ADC, "adc", "cccc 00#0 101S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cf"], Alu, Add, |m, o| { let c = m.c()?; m.sum(o, c) }),
        row(SBC, "sbc", "cccc 00#0 110S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cf"], Alu, Add, |m, o| { let c = m.c()?; m.difference(o, c) }),
        row(RSC, "rsc", "cccc 00#0 111S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cf"], Alu, Add, |m, o| { let c = m.c()?; m.reverse_difference(o, c) }),
        row(TST, "tst", "cccc 00#1 0001 nnnn 0000 #### #### ####", ["Rn, #", "f<n#cf"], Alu, Other, |m, o| m.test(o, Logic::And)),
        row(TEQ, "teq", "cccc 00#1 0011 nnnn 0000 #### #### ####", ["Rn, #", "f<n#cf"], Alu, Other, |m, o| m.test(o, Logic::Xor)),
        row(CMP, "cmp", "cccc 00#1 0101 nnnn 0000 #### #### ####", ["Rn, #", "f<n#c"], Alu, Other, |m, o| m.compare(o, false)),
        row(CMN, "cmn", "cccc 00#1 0111 nnnn 0000 #### #### ####", ["Rn, #", "f<n#c"], Alu, Other, |m, o| m.compare(o, true)),
        row(ORR, "orr", "cccc 00#1 100S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cS"], Alu, Other, |m, o| m.bitwise(o, Logic::Or, false)),
        row(MOV, "mov", "cccc 00#1 101S 0000 dddd #### #### ####", ["Rd, #", "dS<#cS"], Alu, Move, |m, o| m.copy(o, false)),
        row(BIC, "bic", "cccc 00#1 110S nnnn dddd #### #### ####", ["Rd, Rn, #", "dS<n#cS"], Alu, Other, |m, o| m.bitwise(o, Logic::And, true)),
        row(MVN, "mvn", "cccc 00#1 111S 0000 dddd #### #### ####", ["Rd, #", "dS<#cS"], Alu, Move, |m, o| m.copy(o, true)),
        // Multiplication
        row(MUL,   "mul",   "cccc 0000 000S dddd 0000 rrrr 1001 mmmm", ["Rd, Rm, Rr",     "dS<mrcS"], Multiply(1, Ends::Same, false),  Class::Mul, |m, o| m.product(o, false)),
        row(MLA,   "mla",   "cccc 0000 001S dddd nnnn rrrr 1001 mmmm", ["Rd, Rm, Rr, Rn", "dS<mrncS"], Multiply(2, Ends::Same, false),  Class::Mul, |m, o| m.product(o, true)),
        row(UMULL, "umull", "cccc 0000 100S dddd nnnn rrrr 1001 mmmm", ["Rn, Rd, Rm, Rr", "dnS<mrcS"], Multiply(2, Ends::Zeros, true), Class::Mul, |m, o| m.long_product(o, UNSIGNED, false)),
        row(UMLAL, "umlal", "cccc 0000 101S dddd nnnn rrrr 1001 mmmm", ["Rn, Rd, Rm, Rr", "dnS<mrdncS"], Multiply(3, Ends::Zeros, true), Class::Mul, |m, o| m.long_product(o, UNSIGNED, true)),
        row(SMULL, "smull", "cccc 0000 110S dddd nnnn rrrr 1001 mmmm", ["Rn, Rd, Rm, Rr", "dnS<mrcS"], Multiply(2, Ends::Same, true),  Class::Mul, |m, o| m.long_product(o, SIGNED, false)),
        row(SMLAL, "smlal", "cccc 0000 111S dddd nnnn rrrr 1001 mmmm", ["Rn, Rd, Rm, Rr", "dnS<mrdncS"], Multiply(3, Ends::Same, true),  Class::Mul, |m, o| m.long_product(o, SIGNED, true)),
        // Memory
        row(LDR,   "ldr",   "cccc 01@P U0W1 nnnn dddd @@@@ @@@@ @@@@", ["Rd, @", "dw<n@c"], LOAD.0, LOAD.1, |m, o| m.load(o, |m, at| m.load_word(at))),
        row(LDRB,  "ldrb",  "cccc 01@P U1W1 nnnn dddd @@@@ @@@@ @@@@", ["Rd, @", "dw<n@c"], LOAD.0, LOAD.1, |m, o| m.load(o, |m, at| m.load_byte(at, false))),
        row(STR,   "str",   "cccc 01@P U0W0 nnnn dddd @@@@ @@@@ @@@@", ["Rd, @", "w<dn@c"], STORE.0, STORE.1, |m, o| m.store(o, |m, at, x| m.store_word(at, x))),
        row(STRB,  "strb",  "cccc 01@P U1W0 nnnn dddd @@@@ @@@@ @@@@", ["Rd, @", "w<dn@c"], STORE.0, STORE.1, |m, o| m.store(o, |m, at, x| m.store_byte(at, x))),
        row(LDRH,  "ldrh",  "cccc 000P U%W1 nnnn dddd %%%% 1011 %%%%", ["Rd, @", "dw<n%c"], LOAD.0, LOAD.1, |m, o| m.load(o, |m, at| m.load_half(at, false))),
        row(LDRSB, "ldrsb", "cccc 000P U%W1 nnnn dddd %%%% 1101 %%%%", ["Rd, @", "dw<n%c"], LOAD.0, LOAD.1, |m, o| m.load(o, |m, at| m.load_byte(at, true))),
        row(LDRSH, "ldrsh", "cccc 000P U%W1 nnnn dddd %%%% 1111 %%%%", ["Rd, @", "dw<n%c"], LOAD.0, LOAD.1, |m, o| m.load(o, |m, at| m.load_half(at, true))),
        row(STRH,  "strh",  "cccc 000P U%W0 nnnn dddd %%%% 1011 %%%%", ["Rd, @", "w<dn%c"], STORE.0, STORE.1, |m, o| m.store(o, |m, at, x| m.store_half(at, x))),
        row(LDM,   "ldm",   "cccc 100P U0W1 nnnn llll llll llll llll", ["Rn!, l", "lw<nc"], LoadMultiple, Class::Load, |m, o| m.load_multiple(o)),
        row(STM,   "stm",   "cccc 100P U0W0 nnnn llll llll llll llll", ["Rn!, l", "w<nlc"], StoreMultiple, Class::Store, |m, o| m.store_multiple(o)),
        row(SWP,   "swp",   "cccc 0001 0000 nnnn dddd 0000 1001 mmmm", ["Rd, Rm, [Rn]", "d<mnc"], Swap, Other, |m, o| m.swap(o, |m, at| m.load_word(at), |m, at, x| m.store_word(at, x))),
        row(SWPB,  "swpb",  "cccc 0001 0100 nnnn dddd 0000 1001 mmmm", ["Rd, Rm, [Rn]", "d<mnc"], Swap, Other, |m, o| m.swap(o, |m, at| m.load_byte(at, false), |m, at, x| m.store_byte(at, x))),
        // Control
        row(B,   "b",   "cccc 1010 kkkk kkkk kkkk kkkk kkkk kkkk", ["k", "<c"], Branch, Other, |m, o| m.branch(o)),
        row(BL,  "bl",  "cccc 1011 kkkk kkkk kkkk kkkk kkkk kkkk", ["k", "L<c"], Branch, Frame, |m, o| { m.link()?; m.branch(o) }),
        row(BX,  "bx",  "cccc 0001 0010 1111 1111 1111 0001 mmmm", ["Rm", "<mc"], Branch, Frame, |m, o| m.exchange(o)),
        row(MRS, "mrs", "cccc 0001 0000 1111 dddd 0000 0000 0000", ["Rd, cpsr", "d<fc"], Status, Other, |m, o| m.read_status(o)),
        row(MSR, "msr", "cccc 00#1 0010 1000 1111 #### #### ####", ["cpsr_f, #", "f<#cf"], Status, Other, |m, o| m.write_status(o)),
    ]
}
