//! The AVR instruction table: name, encoding, syntax, timing class and meaning, a row each.
//!
//! Source: Microchip DS40002198, *AVR Instruction Set Manual*, the instructions of an
//! ATmega. Pattern letters are operand bits: `d`, `r` registers, `K` a constant, `k` a
//! target, `q` a displacement, `A` an I/O address, `b` a bit number, `s` a flag number,
//! `a` a data address of the reduced core (0x40 to 0xbf).
//! Five bits name r0..r31, four r16..r31, three r16..r23, two the pairs r24..r30;
//! `D`, `R` the even register of any pair. Meanings are run by [`crate::isa::avr::machine`].

use Class::{Add, Frame, Move, Mul, Other};
use Op::*;
use Timing::*;

use crate::codec;
use crate::domain::word::{Domain, Logic, Shift, Signs};
use crate::fault::Fault;
use crate::isa::avr::machine::{Avr, Flow, Pointer};
pub use crate::isa::avr::operands::{Op, Ops, Timing};
use crate::isa::cost::Class;
use crate::isa::machine::Meaning;

/// One instruction.
pub type Row<D> = codec::Row<Ops, Meaning<Avr<D>, Ops>>;

fn row<D: Domain>(
    op: Op,
    name: &'static str,
    pattern: &'static str,
    syntax: &'static str,
    timing: Timing,
    class: Class,
    meaning: Meaning<Avr<D>, Ops>,
) -> Row<D> {
    Row {
        op,
        name,
        pattern,
        syntax,
        flow: "",
        timing,
        class,
        feature: (),
        meaning,
    }
}

const X: Pointer = Pointer::X;
const Y: Pointer = Pointer::Y;
const Z: Pointer = Pointer::Z;

/// The table, in the order of [`Op`].
#[rustfmt::skip]
pub fn table<D: Domain>() -> Vec<Row<D>> {
    // In `syntax`: Rd, Rr registers; K, q, A, b, s numbers; k a relative target; @k a code address; #k a data address.
    vec![
        // Arithmetic and logic
        row(ADD,  "add",  "0000 11rd dddd rrrr", "Rd, Rr", Alu, Add, |m, o| { let c = m.d.flag(false); m.sum(o.d, m.r(o.r), c) }),
        row(ADC,  "adc",  "0001 11rd dddd rrrr", "Rd, Rr", Alu, Add, |m, o| { let c = m.c(); m.sum(o.d, m.r(o.r), c) }),
        row(ADIW, "adiw", "1001 0110 KKdd KKKK", "Rd, K",  WordImmediate, Add, |m, o| m.add_word(o.d, o.k, true)),
        row(SUB,  "sub",  "0001 10rd dddd rrrr", "Rd, Rr", Alu, Add, |m, o| { let c = m.d.flag(false); m.difference(o.d, m.r(o.r), c) }),
        row(SUBI, "subi", "0101 KKKK dddd KKKK", "Rd, K",  Alu, Add, |m, o| { let c = m.d.flag(false); let k = m.byte(o.k); m.difference(o.d, k, c) }),
        row(SBC,  "sbc",  "0000 10rd dddd rrrr", "Rd, Rr", Alu, Add, |m, o| { let c = m.c(); m.difference_with_borrow(o.d, m.r(o.r), c) }),
        row(SBCI, "sbci", "0100 KKKK dddd KKKK", "Rd, K",  Alu, Add, |m, o| { let c = m.c(); let k = m.byte(o.k); m.difference_with_borrow(o.d, k, c) }),
        row(SBIW, "sbiw", "1001 0111 KKdd KKKK", "Rd, K",  WordImmediate, Add, |m, o| m.add_word(o.d, o.k, false)),
        row(AND,  "and",  "0010 00rd dddd rrrr", "Rd, Rr", Alu, Other, |m, o| m.bitwise(Logic::And, o.d, m.r(o.r))),
        row(ANDI, "andi", "0111 KKKK dddd KKKK", "Rd, K",  Alu, Other, |m, o| { let k = m.byte(o.k); m.bitwise(Logic::And, o.d, k) }),
        row(OR,   "or",   "0010 10rd dddd rrrr", "Rd, Rr", Alu, Other, |m, o| m.bitwise(Logic::Or, o.d, m.r(o.r))),
        row(ORI,  "ori",  "0110 KKKK dddd KKKK", "Rd, K",  Alu, Other, |m, o| { let k = m.byte(o.k); m.bitwise(Logic::Or, o.d, k) }),
        row(EOR,  "eor",  "0010 01rd dddd rrrr", "Rd, Rr", Alu, Other, |m, o| m.bitwise(Logic::Xor, o.d, m.r(o.r))),
        row(COM,  "com",  "1001 010d dddd 0000", "Rd",     Alu, Other, |m, o| m.complement(o.d)),
        row(NEG,  "neg",  "1001 010d dddd 0001", "Rd",     Alu, Other, |m, o| m.negate(o.d)),
        row(INC,  "inc",  "1001 010d dddd 0011", "Rd",     Alu, Add, |m, o| m.step_by_one(o.d, true)),
        row(DEC,  "dec",  "1001 010d dddd 1010", "Rd",     Alu, Add, |m, o| m.step_by_one(o.d, false)),
        row(MUL,    "mul",    "1001 11rd dddd rrrr", "Rd, Rr", Multiply, Mul, |m, o| m.product(o, Signs::Unsigned, false)),
        row(MULS,   "muls",   "0000 0010 dddd rrrr", "Rd, Rr", Multiply, Mul, |m, o| m.product(o, Signs::Signed, false)),
        row(MULSU,  "mulsu",  "0000 0011 0ddd 0rrr", "Rd, Rr", Multiply, Mul, |m, o| m.product(o, Signs::SignedUnsigned, false)),
        row(FMUL,   "fmul",   "0000 0011 0ddd 1rrr", "Rd, Rr", Multiply, Mul, |m, o| m.product(o, Signs::Unsigned, true)),
        row(FMULS,  "fmuls",  "0000 0011 1ddd 0rrr", "Rd, Rr", Multiply, Mul, |m, o| m.product(o, Signs::Signed, true)),
        row(FMULSU, "fmulsu", "0000 0011 1ddd 1rrr", "Rd, Rr", Multiply, Mul, |m, o| m.product(o, Signs::SignedUnsigned, true)),
        // Branches and calls
        row(RJMP,   "rjmp",   "1100 kkkk kkkk kkkk", "k", RelativeJump, Other, |m, o| m.jump_by(o.k)),
        row(IJMP,   "ijmp",   "1001 0100 0000 1001", "",  IndirectJump, Other, |m, _| m.jump_z(false)),
        row(EIJMP,  "eijmp",  "1001 0100 0001 1001", "",  IndirectJump, Other, |m, _| m.jump_z(true)),
        row(JMP,    "jmp",    "1001 010k kkkk 110k kkkk kkkk kkkk kkkk", "@k", Jump, Other, |_, o| Ok(Flow::Jump(2 * o.k as usize))),
        row(RCALL,  "rcall",  "1101 kkkk kkkk kkkk", "k", RelativeCall, Frame, |m, o| { m.push_pc(1)?; m.jump_by(o.k) }),
        row(ICALL,  "icall",  "1001 0101 0000 1001", "",  IndirectCall, Frame, |m, _| { m.push_pc(1)?; m.jump_z(false) }),
        row(EICALL, "eicall", "1001 0101 0001 1001", "",  ExtendedIndirectCall, Frame, |m, _| { m.needs_eind()?; m.push_pc(1)?; m.jump_z(true) }),
        row(CALL,   "call",   "1001 010k kkkk 111k kkkk kkkk kkkk kkkk", "@k", Call, Frame, |m, o| { m.push_pc(2)?; Ok(Flow::Jump(2 * o.k as usize)) }),
        row(RET,    "ret",    "1001 0101 0000 1000", "",  Return, Frame, |m, _| m.pop_pc()),
        row(RETI,   "reti",   "1001 0101 0001 1000", "",  Return, Frame, |m, _| { let on = m.d.flag(true); m.set_flag(7, on); m.pop_pc() }),
        row(CPSE, "cpse", "0001 00rd dddd rrrr", "Rd, Rr", Skip, Other, |m, o| { let equal = m.equal(o.d, o.r); m.skip_when(equal, true) }),
        row(CP,   "cp",   "0001 01rd dddd rrrr", "Rd, Rr", Alu, Other, |m, o| { let c = m.d.flag(false); m.compare(o.d, m.r(o.r), c) }),
        row(CPC,  "cpc",  "0000 01rd dddd rrrr", "Rd, Rr", Alu, Other, |m, o| { let c = m.c(); m.compare_with_borrow(o.d, m.r(o.r), c) }),
        row(CPI,  "cpi",  "0011 KKKK dddd KKKK", "Rd, K",  Alu, Other, |m, o| { let c = m.d.flag(false); let k = m.byte(o.k); m.compare(o.d, k, c) }),
        row(SBRC, "sbrc", "1111 110r rrrr 0bbb", "Rr, b", Skip, Other, |m, o| { let bit = m.register_bit(o.r, o.b); m.skip_when(bit, false) }),
        row(SBRS, "sbrs", "1111 111r rrrr 0bbb", "Rr, b", Skip, Other, |m, o| { let bit = m.register_bit(o.r, o.b); m.skip_when(bit, true) }),
        row(SBIC, "sbic", "1001 1001 AAAA Abbb", "A, b",  SkipIo, Other, |m, o| { let bit = m.io_bit(o.k, o.b)?; m.skip_when(bit, false) }),
        row(SBIS, "sbis", "1001 1011 AAAA Abbb", "A, b",  SkipIo, Other, |m, o| { let bit = m.io_bit(o.k, o.b)?; m.skip_when(bit, true) }),
        row(BRBS, "brbs", "1111 00kk kkkk ksss", "s, k",  Branch, Other, |m, o| { let taken = m.get_flag(o.b); m.branch_if(taken, o.k) }),
        row(BRBC, "brbc", "1111 01kk kkkk ksss", "s, k",  Branch, Other, |m, o| { let bit = m.get_flag(o.b); let taken = m.d.not(&bit); m.branch_if(taken, o.k) }),
        // Bits and shifts
        row(SBI,  "sbi",  "1001 1010 AAAA Abbb", "A, b", IoBit, Other, |m, o| m.set_io_bit(o.k, o.b, true)),
        row(CBI,  "cbi",  "1001 1000 AAAA Abbb", "A, b", IoBit, Other, |m, o| m.set_io_bit(o.k, o.b, false)),
        row(LSR,  "lsr",  "1001 010d dddd 0110", "Rd", Alu, Other, |m, o| { let top = m.d.flag(false); m.shift_right(o.d, top) }),
        row(ROR,  "ror",  "1001 010d dddd 0111", "Rd", Alu, Other, |m, o| { let top = m.c(); m.shift_right(o.d, top) }),
        row(ASR,  "asr",  "1001 010d dddd 0101", "Rd", Alu, Other, |m, o| { let top = m.register_bit(o.d, 7); m.shift_right(o.d, top) }),
        row(SWAP, "swap", "1001 010d dddd 0010", "Rd", Alu, Other, |m, o| { let x = m.r(o.d); let y = m.d.shift(Shift::RotateRight, &x, 4).0; m.set(o.d, y) }),
        row(BSET, "bset", "1001 0100 0sss 1000", "s",  Alu, Other, |m, o| { let on = m.d.flag(true); m.set_flag(o.b, on); Ok(Flow::Next) }),
        row(BCLR, "bclr", "1001 0100 1sss 1000", "s",  Alu, Other, |m, o| { let off = m.d.flag(false); m.set_flag(o.b, off); Ok(Flow::Next) }),
        row(BST,  "bst",  "1111 101d dddd 0bbb", "Rd, b", Alu, Other, |m, o| { let bit = m.register_bit(o.d, o.b); m.set_flag(6, bit); Ok(Flow::Next) }),
        row(BLD,  "bld",  "1111 100d dddd 0bbb", "Rd, b", Alu, Other, |m, o| { let (x, t) = (m.r(o.d), m.get_flag(6)); let y = m.d.with_bit(&x, u32::from(o.b), &t); m.set(o.d, y) }),
        // Moves, loads and stores
        row(MOV,  "mov",  "0010 11rd dddd rrrr", "Rd, Rr", Alu, Move, |m, o| m.set(o.d, m.r(o.r))),
        row(MOVW, "movw", "0000 0001 DDDD RRRR", "Rd, Rr", Alu, Move, |m, o| { m.set(o.d, m.r(o.r))?; m.set(o.d + 1, m.r(o.r + 1)) }),
        row(LDI,  "ldi",  "1110 KKKK dddd KKKK", "Rd, K",  Alu, Move, |m, o| { let k = m.byte(o.k); m.set(o.d, k) }),
        row(LDS,  "lds",  "1001 000d dddd 0000 kkkk kkkk kkkk kkkk", "Rd, #k", LoadDirect, Class::Load, |m, o| { let x = m.load_direct(o.k)?; m.set(o.d, x) }),
        row(LDX,  "ld",   "1001 000d dddd 1100", "Rd, X",   Timing::Load, Class::Load, |m, o| m.load(o.d, X, 0)),
        row(LDX_INC, "ld",   "1001 000d dddd 1101", "Rd, X+",  LoadPostIncrement, Class::Load, |m, o| { m.load(o.d, X, 0)?; m.move_pointer(X, 1) }),
        row(LDX_DEC, "ld",   "1001 000d dddd 1110", "Rd, -X",  LoadPreDecrement, Class::Load, |m, o| { m.move_pointer(X, -1)?; m.load(o.d, X, 0) }),
        row(LDDY, "ldd",  "10q0 qq0d dddd 1qqq", "Rd, Y+q", LoadDisplaced, Class::Load, |m, o| m.load(o.d, Y, o.k)),
        row(LDY_INC, "ld",   "1001 000d dddd 1001", "Rd, Y+",  LoadPostIncrement, Class::Load, |m, o| { m.load(o.d, Y, 0)?; m.move_pointer(Y, 1) }),
        row(LDY_DEC, "ld",   "1001 000d dddd 1010", "Rd, -Y",  LoadPreDecrement, Class::Load, |m, o| { m.move_pointer(Y, -1)?; m.load(o.d, Y, 0) }),
        row(LDDZ, "ldd",  "10q0 qq0d dddd 0qqq", "Rd, Z+q", LoadDisplaced, Class::Load, |m, o| m.load(o.d, Z, o.k)),
        row(LDZ_INC, "ld",   "1001 000d dddd 0001", "Rd, Z+",  LoadPostIncrement, Class::Load, |m, o| { m.load(o.d, Z, 0)?; m.move_pointer(Z, 1) }),
        row(LDZ_DEC, "ld",   "1001 000d dddd 0010", "Rd, -Z",  LoadPreDecrement, Class::Load, |m, o| { m.move_pointer(Z, -1)?; m.load(o.d, Z, 0) }),
        row(STS,  "sts",  "1001 001r rrrr 0000 kkkk kkkk kkkk kkkk", "#k, Rr", StoreDirect, Class::Store, |m, o| m.store_direct(o.k, o.r)),
        row(STX,  "st",   "1001 001r rrrr 1100", "X, Rr",   Timing::Store, Class::Store, |m, o| m.store(o.r, X, 0)),
        row(STX_INC, "st",   "1001 001r rrrr 1101", "X+, Rr",  Timing::Store, Class::Store, |m, o| { m.store(o.r, X, 0)?; m.move_pointer(X, 1) }),
        row(STX_DEC, "st",   "1001 001r rrrr 1110", "-X, Rr",  StorePreDecrement, Class::Store, |m, o| { m.move_pointer(X, -1)?; m.store(o.r, X, 0) }),
        row(STDY, "std",  "10q0 qq1r rrrr 1qqq", "Y+q, Rr", StoreDisplaced, Class::Store, |m, o| m.store(o.r, Y, o.k)),
        row(STY_INC, "st",   "1001 001r rrrr 1001", "Y+, Rr",  Timing::Store, Class::Store, |m, o| { m.store(o.r, Y, 0)?; m.move_pointer(Y, 1) }),
        row(STY_DEC, "st",   "1001 001r rrrr 1010", "-Y, Rr",  StorePreDecrement, Class::Store, |m, o| { m.move_pointer(Y, -1)?; m.store(o.r, Y, 0) }),
        row(STDZ, "std",  "10q0 qq1r rrrr 0qqq", "Z+q, Rr", StoreDisplaced, Class::Store, |m, o| m.store(o.r, Z, o.k)),
        row(STZ_INC, "st",   "1001 001r rrrr 0001", "Z+, Rr",  Timing::Store, Class::Store, |m, o| { m.store(o.r, Z, 0)?; m.move_pointer(Z, 1) }),
        row(STZ_DEC, "st",   "1001 001r rrrr 0010", "-Z, Rr",  StorePreDecrement, Class::Store, |m, o| { m.move_pointer(Z, -1)?; m.store(o.r, Z, 0) }),
        row(LPM,    "lpm",  "1001 0101 1100 1000", "",       LoadProgram, Class::Load, |m, _| m.load_program(0, false)),
        row(LPMZ,   "lpm",  "1001 000d dddd 0100", "Rd, Z",  LoadProgram, Class::Load, |m, o| m.load_program(o.d, false)),
        row(LPMZ_INC,  "lpm",  "1001 000d dddd 0101", "Rd, Z+", LoadProgram, Class::Load, |m, o| { m.load_program(o.d, false)?; m.move_pointer(Z, 1) }),
        row(ELPM,   "elpm", "1001 0101 1101 1000", "",       LoadProgram, Class::Load, |m, _| m.load_program(0, true)),
        row(ELPMZ,  "elpm", "1001 000d dddd 0110", "Rd, Z",  LoadProgram, Class::Load, |m, o| m.load_program(o.d, true)),
        row(ELPMZ_INC, "elpm", "1001 000d dddd 0111", "Rd, Z+", LoadProgram, Class::Load, |m, o| { m.load_program(o.d, true)?; m.move_far_z() }),
        row(SPM,  "spm",  "1001 0101 1110 1000", "",      StoreProgram, Other, |_, _| Err(Fault::Unsupported("spm: a program that rewrites itself cannot be followed".into()))),
        row(IN,   "in",   "1011 0AAd dddd AAAA", "Rd, A", Alu, Other, |m, o| { let x = m.load_io(o.k)?; m.set(o.d, x) }),
        row(OUT,  "out",  "1011 1AAr rrrr AAAA", "A, Rr", Alu, Other, |m, o| m.store_io(o.k, o.r)),
        row(PUSH, "push", "1001 001r rrrr 1111", "Rr", Push, Frame, |m, o| { let x = m.r(o.r); m.push(&x)?; Ok(Flow::Next) }),
        row(POP,  "pop",  "1001 000d dddd 1111", "Rd", Pop,  Frame, |m, o| { let x = m.pop()?; m.set(o.d, x) }),
        // Control
        row(NOP,   "nop",   "0000 0000 0000 0000", "", Alu, Other, |_, _| Ok(Flow::Next)),
        row(SLEEP, "sleep", "1001 0101 1000 1000", "", Alu, Other, |_, _| Err(Fault::Unsupported("sleep: waits for an interrupt, and nobody knows how long".into()))),
        row(WDR,   "wdr",   "1001 0101 1010 1000", "", Alu, Other, |_, _| Ok(Flow::Next)),
        row(BREAK, "break", "1001 0101 1001 1000", "", Alu, Other, |_, _| Err(Fault::Unsupported("break: stops for a debugger".into()))),
        // Reduced core: in the place of LDD and STD with large displacements
        row(LDS_RC, "lds", "1010 0aaa dddd aaaa", "Rd, a", LoadDirect, Class::Load, |m, o| { let x = m.load_direct(o.k)?; m.set(o.d, x) }),
        row(STS_RC, "sts", "1010 1aaa rrrr aaaa", "a, Rr", StoreDirect, Class::Store, |m, o| m.store_direct(o.k, o.r)),
    ]
}
