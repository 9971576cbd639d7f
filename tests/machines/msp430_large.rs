//! Registers of 20 bits (MSP430X): PUSHM.A, POPM.A, CALLA, BRA and RETA, and what instructions on words do to bits 19 to 16,
//! against icicle-emu; and where icicle-emu is wrong.

use lozenge::domain::concrete::{Bits, Concrete};
use lozenge::isa::Isa;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::{Dest, FLAGS, Insn, Source};
use lozenge::isa::msp430::cores::Core;
use lozenge::isa::msp430::instructions::{Op, Ops};
use lozenge::isa::msp430::machine::{C, Msp430};
use lozenge::isa::msp430::operands::{SP, SR, Size};
use lozenge::isa::msp430::run::Decoded;
use lozenge::kernel::Request;
use lozenge::spec::Op as Operation;
use lozenge::spec::modulus::Reduce;
use lozenge::vectors::{self, Random};

use crate::kit::icicle::{self, Job};
use crate::kit::mspdebug::{self, Places};
use crate::kit::{any, ask, known, tier};

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

/// Our machine after it ran.
fn ran(case: &Case, memory: &[u8]) -> Msp430<Concrete> {
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
    m
}

/// Registers and memory after our machine ran.
fn ours(case: &Case, memory: &[u8]) -> ([u32; 16], Vec<u8>) {
    let m = ran(case, memory);
    let register = |r: usize| m.r[r].0 as u32 | (m.high[r].0 as u32) << 16;
    let seen = SEEN as usize..SEEN as usize + BYTES;
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
        // A subroutine behind a BRA over it: RETA comes back behind CALLA.
        let at = CODE + body.iter().map(|insn| insn.bytes() as u32).sum::<u32>() + 4;
        let far = |op: Op, to: u32| {
            let x = to as u16;
            let ops = Ops::default();
            Insn::new(op, Ops { x, ..ops })
        };
        body.push(far(Op::BRA, at + 2));
        body.push(Insn::reta());
        body.push(far(Op::CALLA, at));
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

/// `SUBC x, y` with a carry of 0 or 1: the difference, then the carry, as words of memory at [`SEEN`].
fn difference([x, y]: [u16; 2], carry: bool) -> Vec<u8> {
    let register = |op, k, r| Insn::two(op, Source::Constant(k), Dest::Register(r));
    let flag = if carry { Op::BIS } else { Op::BIC };
    let put = |r, at| {
        Insn::two(
            Op::MOV,
            Source::Register(r),
            Dest::Absolute(SEEN as u16 + at),
        )
    };
    let body = [
        register(Op::MOV, x, 4),
        register(Op::MOV, y, 5),
        register(flag, 1, SR),
        Insn::two(Op::SUBC, Source::Register(4), Dest::Register(5)),
        register(Op::MOV, 0, 6),
        register(Op::ADDC, 0, 6),
        put(5, 0),
        put(6, 2),
    ];
    Msp430Isa::encode(core(), &body).expect("code")
}

/// `y + !x + C` (SLAU208, SUBC): with `x = 0xffff` and `C = 0` nothing carries. So say the integers, our machine and mspdebug;
/// icicle-emu 0.0.11 says 1 there, and nowhere else among these.
#[test]
fn subc_of_all_ones_is_wrong_in_icicle_alone() {
    let words = [0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff];
    let pairs = words.iter().flat_map(|x| words.map(|y| [*x, y]));
    let cases: Vec<_> = pairs
        .flat_map(|pair| [(pair, false), (pair, true)])
        .collect();
    let memory = vec![0; BYTES];
    let codes: Vec<_> = cases.iter().map(|(p, c)| difference(*p, *c)).collect();
    let mut registers = [0; 16];
    (registers[0], registers[usize::from(SP)]) = (CODE, STACK);
    let job = |code: &Vec<u8>| Job {
        registers,
        code: (CODE, code.clone()),
        data: (SEEN, memory.clone()),
    };
    let icicle = icicle::runs(&codes.iter().map(job).collect::<Vec<_>>());
    let places = Places {
        seen: SEEN as u16,
        code: CODE as u16,
        data: SEEN as u16 + BYTES as u16,
    };
    let jobs: Vec<_> = codes.iter().map(|code| (code.clone(), vec![0])).collect();
    let mspdebug = mspdebug::runs("msp430_subc", places, &jobs);
    for (((([x, y], carry), code), theirs), others) in
        cases.into_iter().zip(codes).zip(mspdebug).zip(icicle)
    {
        let sum = u32::from(y) + u32::from(!x) + u32::from(carry);
        let want = [sum as u16, (sum >> 16) as u16];
        let words = |bytes: &[u8]| {
            let word = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
            [word(0), word(1)]
        };
        let name = format!("SUBC {x:#x}, {y:#x} with {carry}");
        let (_, own) = ours(&Case { registers, code }, &memory);
        assert_eq!(words(&own), want, "{name}");
        assert_eq!(words(&theirs.0), want, "{name} in mspdebug");
        let wrong = x == 0xffff && !carry;
        let told = words(&others.1);
        assert_eq!(told == want, !wrong, "{name} in icicle-emu: {told:x?}");
    }
}

/// Sums modulo p256 come out wrong in icicle-emu 0.0.11, as words of the modulus are all ones: registers and memory are ours until an
/// instruction uses the carry that a SUBC of 0xffff with a carry of 0 left.
#[test]
fn icicle_parts_from_us_at_a_subc_of_all_ones() {
    let request = Request {
        modular: Some(ask::modular("p256", Reduce::Full)),
        ..ask::of(Operation::Modadd, 256)
    };
    let kernel = known::generate(&request, &any(core())).expect("a kernel");
    let insns = Msp430Isa::decode(core(), &kernel.code).expect("code");
    let (result, a, b) = (SEEN, SEEN + 0x500, SEEN + 0x540);
    let mut registers = [0; 16];
    (registers[0], registers[usize::from(SP)]) = (CODE, STACK);
    [registers[12], registers[13], registers[14]] = [result, a, b];
    // The first so many instructions.
    let case = |count: usize| Case {
        registers,
        code: kernel.code[..insns[count].0].to_vec(),
    };
    let same = |count: usize, memory: &[u8]| {
        let job = Job {
            registers,
            code: (CODE, case(count).code),
            data: (SEEN, memory.to_vec()),
        };
        let (theirs, seen) = icicle::runs(&[job]).pop().expect("a run");
        let (own, own_seen) = ours(&case(count), memory);
        (4..16).all(|r| own[r] == theirs[r]) && own_seen == seen
    };
    // But for the way back.
    let all = insns.len() - 1;
    let mut memories = vectors::of(&kernel.spec, 6, 1).into_iter().map(|sources| {
        let mut memory = vec![0; BYTES];
        for (at, source) in [a, b].into_iter().zip(&sources) {
            let bytes = source.to_bytes_le();
            let at = (at - SEEN) as usize;
            memory[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        memory
    });
    let wrong = memories.find(|memory| !same(all, memory));
    let memory = wrong.expect("sums that are wrong in icicle-emu");
    // So many are the same, and one more are not.
    let (mut before, mut behind) = (1, all);
    while behind > before + 1 {
        let middle = (before + behind) / 2;
        match same(middle, &memory) {
            true => before = middle,
            false => behind = middle,
        }
    }
    let carries = |i: &usize| insns[*i].1.writes() & FLAGS != 0;
    let at = (0..before).rev().find(carries).expect("a carry");
    let (m, insn) = (ran(&case(at), &memory), insns[at].1);
    let source = match insn.ops.source() {
        Source::Constant(k) => u64::from(k),
        Source::Register(r) => m.r[usize::from(r)].0,
        other => panic!("{other:?}"),
    };
    assert_eq!((insn.op, source, m.flags[C]), (Op::SUBC, 0xffff, false));
}
