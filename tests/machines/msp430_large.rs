//! Registers of 20 bits (MSP430X): PUSHM.A, POPM.A, CALLA and RETA, and what instructions on words do to bits 19 to 16,
//! against icicle-emu.

use lozenge::domain::concrete::{Bits, Concrete};
use lozenge::isa::Isa;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::{Dest, Insn, Source};
use lozenge::isa::msp430::cores::Core;
use lozenge::isa::msp430::instructions::{Op, Ops};
use lozenge::isa::msp430::machine::Msp430;
use lozenge::isa::msp430::operands::{SP, Size};
use lozenge::isa::msp430::run::Decoded;
use lozenge::vectors::Random;

use crate::kit::icicle::{self, Job};
use crate::kit::tier;

const CODE: u32 = 0x4400;
const STACK: u32 = 0x2800;
/// Memory that is looked at, around where the stack begins.
const SEEN: u32 = 0x2400;
const BYTES: usize = 0x800;

fn core() -> &'static Core {
    Core::named("msp430x").expect("a core")
}

/// Registers from R4 on with 20 bits, and what runs.
struct Case {
    registers: [u32; 16],
    code: Vec<u8>,
}

fn case(body: &[Insn], random: &mut Random) -> Case {
    let mut registers = [0; 16].map(|_: u32| random.below(1 << 20) as u32);
    (registers[0], registers[usize::from(SP)]) = (CODE, STACK);
    Case {
        registers,
        code: Msp430Isa::encode(core(), body).expect("code"),
    }
}

/// Registers and memory after our machine ran.
fn ours(case: &Case, memory: &[u8]) -> ([u32; 16], Vec<u8>) {
    let mut d = Concrete::new(0x1_0000);
    let seen = SEEN as usize..SEEN as usize + BYTES;
    d.memory[seen.clone()].copy_from_slice(memory);
    let mut m = Msp430::new(d, None, core().irq);
    m.extended = true;
    m.high = vec![Bits(0); 16];
    for r in 1..16 {
        m.r[r] = Bits(u64::from(case.registers[r] & 0xffff));
        m.high[r] = Bits(u64::from(case.registers[r] >> 16));
    }
    let mut padded = vec![0; CODE as usize];
    padded.extend(&case.code);
    m.pc = CODE as usize;
    let run = Decoded::new(&padded, core()).run(&mut m, padded.len(), 1000);
    run.unwrap_or_else(|(at, fault)| panic!("{fault} at {at:#x}"));
    let register = |r: usize| m.r[r].0 as u32 | (m.high[r].0 as u32) << 16;
    (std::array::from_fn(register), m.d.memory[seen].to_vec())
}

/// What changes a register's lower bits.
fn of_words(random: &mut Random) -> Insn {
    let [x, y] = [0; 2].map(|_: u8| 4 + random.below(12) as u8);
    let op = [Op::MOV, Op::ADD, Op::XOR, Op::BIS, Op::AND][random.below(5)];
    let size = [Size::Word, Size::Byte][random.below(2)];
    let two = Insn::two(op, Source::Register(x), Dest::Register(y)).sized(size);
    let one = |op| Insn::one(op, Source::Register(y));
    [
        two,
        one(Op::RRA),
        one(Op::SWPB),
        Insn::shift(Op::RRUM, y, 2),
    ][random.below(4)]
}

/// A run of registers from R4 on.
fn run(random: &mut Random) -> [u8; 2] {
    let low = 4 + random.below(12) as u8;
    [low, low + random.below(16 - usize::from(low)) as u8]
}

#[test]
fn registers_of_20_bits_agree_with_icicle() {
    let mut random = tier::random(8);
    let mut cases = Vec::new();
    for _ in 0..tier::times(60) {
        let [low, high] = run(&mut random);
        let mut body = vec![Insn::several(Op::PUSHMA, low, high)];
        body.extend((0..6).map(|_| of_words(&mut random)));
        // As many registers, of which none needs to be the same.
        let count = high - low;
        let first = 4 + random.below(usize::from(12 - count)) as u8;
        body.push(Insn::several(Op::POPMA, first, first + count));
        body.push(of_words(&mut random));
        // A subroutine behind a jump over it: RETA comes back behind CALLA.
        let at = CODE + body.iter().map(|insn| insn.bytes() as u32).sum::<u32>() + 2;
        let x = at as u16;
        body.push(Insn::jump(Op::JMP, 4));
        body.push(Insn::reta());
        body.push(Insn::new(
            Op::CALLA,
            Ops {
                x,
                ..Ops::default()
            },
        ));
        body.push(of_words(&mut random));
        cases.push(case(&body, &mut random));
    }
    let memory: Vec<u8> = (0..BYTES).map(|_| random.draw() as u8).collect();
    let job = |case: &Case| Job {
        registers: case.registers,
        code: (CODE, case.code.clone()),
        data: (SEEN, memory.clone()),
    };
    let theirs = icicle::runs(&cases.iter().map(job).collect::<Vec<_>>());
    for (case, (registers, seen)) in cases.iter().zip(theirs) {
        let (own, own_seen) = ours(case, &memory);
        for r in (1..16).filter(|r| ![2, 3].contains(r)) {
            assert_eq!(own[r], registers[r], "r{r} after {:02x?}", case.code);
        }
        assert!(own_seen == seen, "memory after {:02x?}", case.code);
    }
}
