//! Machines that run a program of blocks, in the algebra and on numbers.
//!
//! Control enters a block at its start and leaves it at its end, whatever it does inside: so both runs can be
//! compared after each block.

use std::fmt::Debug;
use std::rc::Rc;

use lozenge::domain::abstract_memory::Region;
use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::concrete::{Bits, Concrete};
use lozenge::domain::{Abstract, Address, Base, Domain};
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::code::Insn as ArmInsn;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::arm::instructions::{Op as ArmOp, Ops as ArmOps};
use lozenge::isa::arm::machine::{Arm, LR, Places};
use lozenge::isa::arm::run::Decoded as ArmCode;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::code::Insn as AvrInsn;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::machine::Avr;
use lozenge::isa::avr::run::Decoded as AvrCode;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::Insn as MipsInsn;
use lozenge::isa::mips::cores::MIPS_4KM;
use lozenge::isa::mips::machine::Mips;
use lozenge::isa::mips::run::Decoded as MipsCode;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::Insn as Msp430Insn;
use lozenge::isa::msp430::cores::Core as Msp430Core;
use lozenge::isa::msp430::machine::{C, Msp430, N, V, Z};
use lozenge::isa::msp430::run::Decoded as Msp430Code;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::code::Insn as RiscvInsn;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::isa::riscv::machine::Riscv;
use lozenge::isa::riscv::run::Decoded as RiscvCode;
use lozenge::isa::{Isa, Stopped};

/// Registers that programs use; a pointer to [`BYTES`] bytes of memory beside them.
pub const REGISTERS: usize = 6;
pub const BYTES: usize = 16;
/// Where the memory lies in a run on numbers: a carry into the high byte of an address is in it.
pub const PLACE: u64 = 0x1f8;

/// The most instructions of a block that are run: both ways of a branch several times.
const LIMIT: u64 = 1000;

/// Registers and flags of a machine.
pub struct State<W, B> {
    pub words: Vec<W>,
    pub bits: Vec<B>,
}

/// A machine, in the algebra and on numbers.
pub trait Model {
    const NAME: &'static str;
    const W: u32;
    /// Flags among the inputs, behind the registers and before the words of memory.
    const FLAGS: usize;
    /// Bytes of memory among them.
    const MEMORY: usize = BYTES;
    type Insn: Copy + Debug + Send + Sync;
    type Symbolic;
    type Numeric;

    /// All inputs are unknown: variables 0, 1, ...
    fn symbolic() -> Self::Symbolic;
    fn numeric(inputs: &[u64]) -> Self::Numeric;
    fn domain(m: &mut Self::Symbolic) -> &mut Algebra;
    fn encode(block: &[Self::Insn]) -> Vec<u8>;
    fn text(insn: &Self::Insn) -> String;
    /// Runs a block from its start to its end.
    fn step(m: &mut Self::Symbolic, code: &[u8]) -> Result<(), Stopped>;
    fn step_on_numbers(m: &mut Self::Numeric, code: &[u8]) -> Result<(), Stopped>;
    fn said(m: &Self::Symbolic) -> State<Value, BitValue>;
    fn is(m: &Self::Numeric) -> State<u64, bool>;

    /// How many inputs there are.
    fn inputs() -> usize {
        REGISTERS + Self::FLAGS + Self::MEMORY / (Self::W as usize / 8)
    }
}

const OPERAND: Base = Base(Base::FIRST_OPERAND);

fn declare<const W: u32>(d: &mut Algebra) {
    d.environment(Vec::new(), false);
    d.declare(OPERAND, Region::operand("m", BYTES, true, 4));
    for offset in (0..BYTES as i64).step_by(W as usize / 8) {
        let word = d.unknown::<W>(format!("m[{offset}]"));
        let at = Address {
            base: OPERAND,
            offset,
        };
        d.init::<W>(at, &word);
    }
}

fn filled<const W: u32>(words: &[u64]) -> Concrete {
    let mut d = Concrete::new(PLACE as usize + BYTES);
    let bytes = W as usize / 8;
    for (i, word) in words.iter().enumerate() {
        let at = PLACE as usize + i * bytes;
        d.memory[at..at + bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
    }
    d
}

pub struct OnAvr;

/// The first register, and the one that is 0 in the beginning.
pub const AVR_FIRST: u8 = 16;
pub const AVR_ZERO: u8 = 2;

impl OnAvr {
    fn run<D: Domain>(m: &mut Avr<D>, code: &[u8]) -> Result<(), Stopped> {
        m.pc = 0;
        AvrCode::new(code, &ATMEGA128)
            .run(m, code.len(), LIMIT)
            .map(|_| ())
    }

    fn state<D: Domain>(m: &Avr<D>) -> State<D::Word<8>, D::Bit> {
        State {
            words: m.r.to_vec(),
            bits: (0..8).map(|i| m.get_flag(i)).collect(),
        }
    }
}

impl Model for OnAvr {
    const NAME: &'static str = "avr";
    const W: u32 = 8;
    const FLAGS: usize = 7;
    type Insn = AvrInsn;
    type Symbolic = Avr<Algebra>;
    type Numeric = Avr<Concrete>;

    fn symbolic() -> Avr<Algebra> {
        let mut m = Avr::new(Algebra::default(), 2, Rc::from([].as_slice()));
        for i in usize::from(AVR_FIRST)..usize::from(AVR_FIRST) + REGISTERS {
            m.r[i] = m.d.unknown::<8>(format!("r{i}"));
        }
        for i in 0..Self::FLAGS as u8 {
            let flag = m.d.unknown_bit(format!("flag {i}"));
            m.set_flag(i, flag);
        }
        declare::<8>(&mut m.d);
        for part in 0..2 {
            m.r[30 + part] = m.d.pointer::<8>(OPERAND, 0, part as u32);
        }
        m
    }

    fn numeric(inputs: &[u64]) -> Avr<Concrete> {
        let (registers, rest) = inputs.split_at(REGISTERS);
        let (flags, memory) = rest.split_at(Self::FLAGS);
        let mut m = Avr::new(filled::<8>(memory), 2, Rc::from([].as_slice()));
        for (register, input) in m.r[usize::from(AVR_FIRST)..].iter_mut().zip(registers) {
            *register = Bits(*input);
        }
        for (i, flag) in (0u8..).zip(flags) {
            m.set_flag(i, *flag == 1);
        }
        [m.r[30], m.r[31]] = [Bits(PLACE & 0xff), Bits(PLACE >> 8)];
        m
    }

    fn domain(m: &mut Avr<Algebra>) -> &mut Algebra {
        &mut m.d
    }

    fn encode(block: &[AvrInsn]) -> Vec<u8> {
        AvrIsa::encode(&ATMEGA128, block).expect("encodes")
    }

    fn text(insn: &AvrInsn) -> String {
        insn.text()
    }

    fn step(m: &mut Avr<Algebra>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn step_on_numbers(m: &mut Avr<Concrete>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn said(m: &Avr<Algebra>) -> State<Value, BitValue> {
        Self::state(m)
    }

    fn is(m: &Avr<Concrete>) -> State<u64, bool> {
        let State { words, bits } = Self::state(m);
        State {
            words: words.iter().map(|w| w.0).collect(),
            bits,
        }
    }
}

pub struct OnArm;

/// The register that points to the memory.
pub const ARM_POINTER: u8 = 10;

impl OnArm {
    fn machine<D: Domain>(mut d: D, caller: Address, link: D::Word<32>) -> Arm<D> {
        let code = Address {
            base: Base::ABSOLUTE,
            offset: 0,
        };
        let start = d.known(0);
        let mut m = Arm::new(d, start, Places { code, caller });
        m.r[usize::from(LR)] = link;
        m
    }

    fn run<D: Domain>(m: &mut Arm<D>, code: &[u8]) -> Result<(), Stopped> {
        m.pc = 0;
        ArmCode::new(code, &ARM7TDMI)
            .run(m, usize::MAX, LIMIT)
            .map(|_| ())
    }

    fn state<D: Domain>(m: &Arm<D>) -> State<D::Word<32>, D::Bit> {
        let f = m.flags.clone();
        State {
            words: m.r.to_vec(),
            bits: vec![f.n, f.z, f.c, f.v],
        }
    }
}

/// The address that numbers return to.
const CALLER: u64 = 0x10000;

impl Model for OnArm {
    const NAME: &'static str = "arm";
    const W: u32 = 32;
    const FLAGS: usize = 4;
    type Insn = ArmInsn;
    type Symbolic = Arm<Algebra>;
    type Numeric = Arm<Concrete>;

    fn symbolic() -> Arm<Algebra> {
        let mut d = Algebra::default();
        let caller = Address {
            base: Base::RETURN,
            offset: 0,
        };
        let link = d.pointer::<32>(Base::RETURN, 0, 0);
        let mut m = Self::machine(d, caller, link);
        for i in 0..REGISTERS {
            m.r[i] = m.d.unknown::<32>(format!("r{i}"));
        }
        m.flags.n = m.d.unknown_bit("N".into());
        m.flags.z = m.d.unknown_bit("Z".into());
        m.flags.c = m.d.unknown_bit("C".into());
        m.flags.v = m.d.unknown_bit("V".into());
        declare::<32>(&mut m.d);
        m.r[usize::from(ARM_POINTER)] = m.d.pointer::<32>(OPERAND, 0, 0);
        m
    }

    fn numeric(inputs: &[u64]) -> Arm<Concrete> {
        let (registers, rest) = inputs.split_at(REGISTERS);
        let (flags, memory) = rest.split_at(Self::FLAGS);
        let caller = Address {
            base: Base::ABSOLUTE,
            offset: CALLER as i64,
        };
        let mut m = Self::machine(filled::<32>(memory), caller, Bits(CALLER));
        for (register, input) in m.r.iter_mut().zip(registers) {
            *register = Bits(*input);
        }
        m.flags.n = flags[0] == 1;
        m.flags.z = flags[1] == 1;
        m.flags.c = flags[2] == 1;
        m.flags.v = flags[3] == 1;
        m.r[usize::from(ARM_POINTER)] = Bits(PLACE);
        m
    }

    fn domain(m: &mut Arm<Algebra>) -> &mut Algebra {
        &mut m.d
    }

    fn encode(block: &[ArmInsn]) -> Vec<u8> {
        let ops = ArmOps {
            m: LR,
            ..ArmOps::default()
        };
        let back = ArmInsn { op: ArmOp::BX, ops };
        ArmIsa::encode(&ARM7TDMI, &[block, &[back]].concat()).expect("encodes")
    }

    fn text(insn: &ArmInsn) -> String {
        insn.text()
    }

    fn step(m: &mut Arm<Algebra>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn step_on_numbers(m: &mut Arm<Concrete>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn said(m: &Arm<Algebra>) -> State<Value, BitValue> {
        Self::state(m)
    }

    fn is(m: &Arm<Concrete>) -> State<u64, bool> {
        let State { words, bits } = Self::state(m);
        State {
            words: words.iter().map(|w| w.0).collect(),
            bits,
        }
    }
}

pub struct OnMips;

/// The first register, and the one that points to the memory.
pub const MIPS_FIRST: u8 = 8;
pub const MIPS_POINTER: u8 = 16;

impl OnMips {
    fn run<D: Domain>(m: &mut Mips<D>, code: &[u8]) -> Result<(), Stopped> {
        m.pc = 0;
        MipsCode::new(code, &MIPS_4KM)
            .run(m, code.len(), LIMIT)
            .map(|_| ())
    }

    fn state<D: Domain>(m: &Mips<D>) -> State<D::Word<32>, D::Bit> {
        // After MUL they hold nothing that may be read.
        let accumulator = m.accumulator().into_iter().flatten();
        State {
            words: m.r.iter().cloned().chain(accumulator).collect(),
            bits: Vec::new(),
        }
    }
}

impl Model for OnMips {
    const NAME: &'static str = "mips";
    const W: u32 = 32;
    const FLAGS: usize = 0;
    type Insn = MipsInsn;
    type Symbolic = Mips<Algebra>;
    type Numeric = Mips<Concrete>;

    fn symbolic() -> Mips<Algebra> {
        let mut m = Mips::new(Algebra::default(), false, false);
        let first = usize::from(MIPS_FIRST);
        for i in first..first + REGISTERS {
            m.r[i] = m.d.unknown::<32>(format!("${i}"));
        }
        declare::<32>(&mut m.d);
        m.r[usize::from(MIPS_POINTER)] = m.d.pointer::<32>(OPERAND, 0, 0);
        m
    }

    fn numeric(inputs: &[u64]) -> Mips<Concrete> {
        let (registers, memory) = inputs.split_at(REGISTERS);
        let mut m = Mips::new(filled::<32>(memory), false, false);
        for (register, input) in m.r[usize::from(MIPS_FIRST)..].iter_mut().zip(registers) {
            *register = Bits(*input);
        }
        m.r[usize::from(MIPS_POINTER)] = Bits(PLACE);
        m
    }

    fn domain(m: &mut Mips<Algebra>) -> &mut Algebra {
        &mut m.d
    }

    fn encode(block: &[MipsInsn]) -> Vec<u8> {
        MipsIsa::encode(&MIPS_4KM, block).expect("encodes")
    }

    fn text(insn: &MipsInsn) -> String {
        insn.text()
    }

    fn step(m: &mut Mips<Algebra>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn step_on_numbers(m: &mut Mips<Concrete>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn said(m: &Mips<Algebra>) -> State<Value, BitValue> {
        Self::state(m)
    }

    fn is(m: &Mips<Concrete>) -> State<u64, bool> {
        let State { words, .. } = Self::state(m);
        State {
            words: words.iter().map(|w| w.0).collect(),
            bits: Vec::new(),
        }
    }
}

pub struct OnRiscv;

/// The first register, and the one that points to the memory.
pub const RISCV_FIRST: u8 = 18;
pub const RISCV_POINTER: u8 = 9;

fn rv32im() -> &'static RiscvCore {
    RiscvCore::named("rv32im").expect("a core")
}

impl OnRiscv {
    fn run<D: Domain>(m: &mut Riscv<D>, code: &[u8]) -> Result<(), Stopped> {
        m.pc = 0;
        RiscvCode::new(code, rv32im())
            .run(m, code.len(), LIMIT)
            .map(|_| ())
    }

    fn state<D: Domain>(m: &Riscv<D>) -> State<D::Word<32>, D::Bit> {
        State {
            words: m.r.to_vec(),
            bits: Vec::new(),
        }
    }
}

impl Model for OnRiscv {
    const NAME: &'static str = "riscv";
    const W: u32 = 32;
    const FLAGS: usize = 0;
    type Insn = RiscvInsn;
    type Symbolic = Riscv<Algebra>;
    type Numeric = Riscv<Concrete>;

    fn symbolic() -> Riscv<Algebra> {
        let mut m = Riscv::new(Algebra::default(), rv32im().features);
        let first = usize::from(RISCV_FIRST);
        for i in first..first + REGISTERS {
            m.r[i] = m.d.unknown::<32>(format!("x{i}"));
        }
        declare::<32>(&mut m.d);
        m.r[usize::from(RISCV_POINTER)] = m.d.pointer::<32>(OPERAND, 0, 0);
        m
    }

    fn numeric(inputs: &[u64]) -> Riscv<Concrete> {
        let (registers, memory) = inputs.split_at(REGISTERS);
        let mut m = Riscv::new(filled::<32>(memory), rv32im().features);
        for (register, input) in m.r[usize::from(RISCV_FIRST)..].iter_mut().zip(registers) {
            *register = Bits(*input);
        }
        m.r[usize::from(RISCV_POINTER)] = Bits(PLACE);
        m
    }

    fn domain(m: &mut Riscv<Algebra>) -> &mut Algebra {
        &mut m.d
    }

    fn encode(block: &[RiscvInsn]) -> Vec<u8> {
        RiscvIsa::encode(rv32im(), block).expect("encodes")
    }

    fn text(insn: &RiscvInsn) -> String {
        insn.text()
    }

    fn step(m: &mut Riscv<Algebra>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn step_on_numbers(m: &mut Riscv<Concrete>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn said(m: &Riscv<Algebra>) -> State<Value, BitValue> {
        Self::state(m)
    }

    fn is(m: &Riscv<Concrete>) -> State<u64, bool> {
        let State { words, .. } = Self::state(m);
        State {
            words: words.iter().map(|w| w.0).collect(),
            bits: Vec::new(),
        }
    }
}

pub struct OnMsp430;

/// The first register, and the one that points to the memory.
pub const MSP430_FIRST: u8 = 4;
pub const MSP430_POINTER: u8 = 12;
/// C, Z, N and V.
const MSP430_FLAGS: [usize; 4] = [C, Z, N, V];

fn mpy16() -> &'static Msp430Core {
    Msp430Core::named("msp430-mpy16").expect("a core")
}

impl OnMsp430 {
    /// Interrupts have long been off: ways through a branch meet only where they are off for as long.
    fn machine<D: Domain>(d: D) -> Msp430<D> {
        let m = Msp430::new(d, mpy16().multiplier, mpy16().irq);
        Msp430 { masked: 3, ..m }
    }

    fn run<D: Domain>(m: &mut Msp430<D>, code: &[u8]) -> Result<(), Stopped> {
        m.pc = 0;
        Msp430Code::new(code, mpy16())
            .run(m, code.len(), LIMIT)
            .map(|_| ())
    }

    fn state<D: Domain>(m: &Msp430<D>) -> State<D::Word<16>, D::Bit> {
        State {
            words: m.r.iter().chain(&m.unit.words).cloned().collect(),
            bits: MSP430_FLAGS.map(|flag| m.flags[flag].clone()).to_vec(),
        }
    }
}

impl Model for OnMsp430 {
    const NAME: &'static str = "msp430";
    const W: u32 = 16;
    const FLAGS: usize = MSP430_FLAGS.len();
    type Insn = Msp430Insn;
    type Symbolic = Msp430<Algebra>;
    type Numeric = Msp430<Concrete>;

    fn symbolic() -> Msp430<Algebra> {
        let mut m = Self::machine(Algebra::default());
        let first = usize::from(MSP430_FIRST);
        for i in first..first + REGISTERS {
            m.r[i] = m.d.unknown::<16>(format!("r{i}"));
        }
        for flag in MSP430_FLAGS {
            m.flags[flag] = m.d.unknown_bit(format!("flag {flag}"));
        }
        declare::<16>(&mut m.d);
        m.r[usize::from(MSP430_POINTER)] = m.d.pointer::<16>(OPERAND, 0, 0);
        m
    }

    fn numeric(inputs: &[u64]) -> Msp430<Concrete> {
        let (registers, rest) = inputs.split_at(REGISTERS);
        let (flags, memory) = rest.split_at(Self::FLAGS);
        let mut m = Self::machine(filled::<16>(memory));
        for (register, input) in m.r[usize::from(MSP430_FIRST)..].iter_mut().zip(registers) {
            *register = Bits(*input);
        }
        for (flag, input) in MSP430_FLAGS.into_iter().zip(flags) {
            m.flags[flag] = *input == 1;
        }
        m.r[usize::from(MSP430_POINTER)] = Bits(PLACE);
        m
    }

    fn domain(m: &mut Msp430<Algebra>) -> &mut Algebra {
        &mut m.d
    }

    fn encode(block: &[Msp430Insn]) -> Vec<u8> {
        Msp430Isa::encode(mpy16(), block).expect("encodes")
    }

    fn text(insn: &Msp430Insn) -> String {
        insn.text()
    }

    fn step(m: &mut Msp430<Algebra>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn step_on_numbers(m: &mut Msp430<Concrete>, code: &[u8]) -> Result<(), Stopped> {
        Self::run(m, code)
    }

    fn said(m: &Msp430<Algebra>) -> State<Value, BitValue> {
        Self::state(m)
    }

    fn is(m: &Msp430<Concrete>) -> State<u64, bool> {
        let State { words, bits } = Self::state(m);
        State {
            words: words.iter().map(|w| w.0).collect(),
            bits,
        }
    }
}
