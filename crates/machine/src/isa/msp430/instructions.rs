//! The instruction table of the MSP430: name, encoding, syntax, data flow, timing class, count class, feature, meaning.
//!
//! Source: SLAU144, *MSP430x2xx Family User's Guide*, sections 3.3 (addressing modes) and 3.4 (instruction set). A row is
//! all that the encoder, the assembly text, the simulator, the prover and the generator know of an instruction. Of the
//! MSP430X's own instructions (SLAU208, section 6.6) here are those on words of 16 bits that have no extension word: what a
//! program with its data below 64 KB gains from, and what calls and saves in the large model.
//!
//! | column | letters |
//! |---|---|
//! | pattern | `s`, `a` register and mode of the source; `d`, `b` those of the destination; `w` the size; `k` the distance of a jump, `n` how many registers or bits, `h` the upper bits of an address; what a mode has beside its register follows in a code unit of its own, the source's first |
//! | syntax | `src`, `dst`; `@` the target; `n`; `highest` the highest register; `far` an address |
//! | flow | written `<` read: `s` what the source reads, `i` the register that it increments; `d` the destination, `e` that and what its address is made of, `a` the latter alone; `F` C, Z, N and V, `C` the carry, `p` SP, `m` and `q` the registers of PUSHM and POPM, `P` program counter and what lies at fixed addresses |

use Class::{Add, Move, Other};

use crate::codec::{self, instructions};
use crate::domain::word::Domain;
use crate::isa::cost::Class;
use crate::isa::machine::Meaning;
use crate::isa::msp430::arithmetic::{Above, Carry};
use crate::isa::msp430::machine::{C, Msp430, N, Z};
pub use crate::isa::msp430::operands::{Feature, Ops};

/// What a core charges for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// Two operands, the destination read and written.
    Two,
    /// Two operands, the destination read or written: MOV, BIT, CMP.
    Once,
    /// One operand, read and written.
    One,
    Push,
    Call,
    Return,
    Jump,
    /// PUSHM, POPM of words.
    Several,
    /// The same of 20 bits.
    SeveralWhole,
    /// CALLA, RETA.
    Far,
    /// BRA.
    FarJump,
    /// Shifts of a register by several bits.
    Bits,
}

/// One instruction.
pub type Row<D> = codec::Row<Ops, Meaning<Msp430<D>, Ops>>;

instructions! {
    // Two operands
    MOV  "mov"  "0100 ssss bwaa dddd" "src, dst" "di<sa"   Once Move  Base |m, o| m.copy(o);
    ADD  "add"  "0101 ssss bwaa dddd" "src, dst" "diF<se"  Two  Add   Base |m, o| m.sum(o, Carry::None);
    ADDC "addc" "0110 ssss bwaa dddd" "src, dst" "diF<seC" Two  Add   Base |m, o| m.sum(o, Carry::Flag);
    SUBC "subc" "0111 ssss bwaa dddd" "src, dst" "diF<seC" Two  Add   Base |m, o| m.difference(o, Carry::Flag, true);
    SUB  "sub"  "1000 ssss bwaa dddd" "src, dst" "diF<se"  Two  Add   Base |m, o| m.difference(o, Carry::None, true);
    CMP  "cmp"  "1001 ssss bwaa dddd" "src, dst" "iF<se"   Once Add   Base |m, o| m.difference(o, Carry::None, false);
    DADD "dadd" "1010 ssss bwaa dddd" "src, dst" "diF<seC" Two  Add   Base |m, o| m.decimal_sum(o);
    BIT  "bit"  "1011 ssss bwaa dddd" "src, dst" "iF<se"   Once Other Base |m, o| m.and(o, false);
    BIC  "bic"  "1100 ssss bwaa dddd" "src, dst" "di<se"   Two  Other Base |m, o| m.change_bits(o, false);
    BIS  "bis"  "1101 ssss bwaa dddd" "src, dst" "di<se"   Two  Other Base |m, o| m.change_bits(o, true);
    XOR  "xor"  "1110 ssss bwaa dddd" "src, dst" "diF<se"  Two  Other Base |m, o| m.xor(o);
    AND  "and"  "1111 ssss bwaa dddd" "src, dst" "diF<se"  Two  Other Base |m, o| m.and(o, true);

    // One operand
    RRC  "rrc"  "0001 0000 0waa ssss" "src" "tiF<sC"  One    Other Base |m, o| m.turn(o, Above::Carry);
    SWPB "swpb" "0001 0000 10aa ssss" "src" "ti<s"    One    Other Base |m, o| m.swap_bytes(o);
    RRA  "rra"  "0001 0001 0waa ssss" "src" "tiF<s"   One    Other Base |m, o| m.turn(o, Above::Sign);
    SXT  "sxt"  "0001 0001 10aa ssss" "src" "tiF<s"   One    Other Base |m, o| m.extend_sign(o);
    PUSH "push" "0001 0010 0waa ssss" "src" "ip<sp"   Push   Other Base |m, o| m.push(o);
    CALL "call" "0001 0010 10aa ssss" "src" "ipP<spP" Call   Other Base |m, o| m.call(o);
    RETI "reti" "0001 0011 0000 0000" ""    "pPF<pP"  Return Other Base |m, _| m.return_from_interrupt();

    // Jumps
    JNE  "jne"  "0010 00kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_if(Z, false, o.k);
    JEQ  "jeq"  "0010 01kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_if(Z, true, o.k);
    JNC  "jnc"  "0010 10kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_if(C, false, o.k);
    JC   "jc"   "0010 11kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_if(C, true, o.k);
    JN   "jn"   "0011 00kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_if(N, true, o.k);
    JGE  "jge"  "0011 01kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_less(false, o.k);
    JL   "jl"   "0011 10kk kkkk kkkk" "@" "P<PF" Jump Other Base |m, o| m.jump_less(true, o.k);
    JMP  "jmp"  "0011 11kk kkkk kkkk" "@" "P<P"  Jump Other Base |m, o| m.jump(o.k);

    // Several registers, several bits, and what has 20 bits: MSP430X
    PUSHM "pushm.w" "0001 0101 nnnn dddd" "n, highest" "p<pm"  Several Other Extended |m, o| m.push_all(o, false);
    POPM  "popm.w"  "0001 0111 nnnn dddd" "n, highest" "pq<p"  Several Other Extended |m, o| m.pop_all(o, false);
    PUSHMA "pushm.a" "0001 0100 nnnn dddd" "n, highest" "p<pm" SeveralWhole Other Extended |m, o| m.push_all(o, true);
    POPMA "popm.a"  "0001 0110 nnnn dddd" "n, highest" "pq<p"  SeveralWhole Other Extended |m, o| m.pop_all(o, true);
    CALLA "calla"   "0001 0011 1011 hhhh" "far"        "pP<pP" Far     Other Extended |m, o| m.call_far(o);
    RETA  "reta"    "0000 0001 0001 0000" ""           "pP<p"  Far     Other Extended |m, _| m.return_far();
    BRA   "mova"    "0000 hhhh 1000 0000" "far, r0"    "P<P"   FarJump Other Extended |m, o| m.jump_far(o);
    RRCM  "rrcm.w"  "0000 nn00 0101 dddd" "n, dst"     "dF<dC" Bits    Other Extended |m, o| m.turn_all(o, Above::Carry);
    RRAM  "rram.w"  "0000 nn01 0101 dddd" "n, dst"     "dF<d"  Bits    Other Extended |m, o| m.turn_all(o, Above::Sign);
    RLAM  "rlam.w"  "0000 nn10 0101 dddd" "n, dst"     "dF<d"  Bits    Other Extended |m, o| m.double_all(o);
    RRUM  "rrum.w"  "0000 nn11 0101 dddd" "n, dst"     "dF<d"  Bits    Other Extended |m, o| m.turn_all(o, Above::Zero);
}
