//! Random programs for MSP430, biased to what the algebra recognises. They add no bytes: what the finder says it says of
//! words of one width.

use lozenge::isa::msp430::code::{Dest, Insn, Source};
use lozenge::isa::msp430::instructions::Op;
use lozenge::isa::msp430::operands::{SR, Size};
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{BYTES, MSP430_FIRST, MSP430_POINTER, REGISTERS};

/// Addresses of the multiplier: MPY to MACS, then OP2 and what it makes.
const MULTIPLIER: u16 = 0x0130;
const OP2: u16 = 0x0138;
const RESULT: [u16; 2] = [0x013a, 0x013c];
const SUMEXT: u16 = 0x013e;

fn pick<T: Copy>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())]
}

fn register(random: &mut Random) -> u8 {
    MSP430_FIRST + random.below(REGISTERS) as u8
}

fn distinct(random: &mut Random) -> [u8; 4] {
    let start = random.below(REGISTERS);
    [0, 1, 2, 3].map(|i| MSP430_FIRST + ((start + i) % REGISTERS) as u8)
}

fn two(op: Op, s: u8, d: u8) -> Insn {
    Insn::two(op, Source::Register(s), Dest::Register(d))
}

fn number(op: Op, k: u16, d: u8) -> Insn {
    Insn::two(op, Source::Constant(k), Dest::Register(d))
}

fn one(op: Op, d: u8) -> Insn {
    Insn::one(op, Source::Register(d))
}

/// SETC, CLRC, or whatever the carry is.
fn preset(random: &mut Random) -> Vec<Insn> {
    match random.below(3) {
        0 => vec![number(Op::BIS, 1, SR)],
        1 => vec![number(Op::BIC, 1, SR)],
        _ => Vec::new(),
    }
}

const ADD: [Op; 2] = [Op::ADD, Op::ADDC];
const SUB: [Op; 2] = [Op::SUB, Op::SUBC];

/// An instruction on registers.
fn plain(random: &mut Random) -> Insn {
    const TWO: [Op; 12] = [
        Op::ADD,
        Op::ADDC,
        Op::ADDC,
        Op::SUB,
        Op::SUBC,
        Op::SUBC,
        Op::AND,
        Op::BIS,
        Op::XOR,
        Op::MOV,
        Op::CMP,
        Op::BIC,
    ];
    const BITWISE: [Op; 5] = [Op::AND, Op::BIS, Op::XOR, Op::MOV, Op::BIC];
    const NUMBERS: [u16; 10] = [0, 1, 2, 0xffff, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xff, 4];
    let (s, d) = (register(random), register(random));
    match random.below(20) {
        // Masks, doublings, carries into words.
        0..3 => two(Op::SUBC, d, d),
        3..5 => two(pick(random, &ADD), d, d),
        5..8 => number(pick(random, &[Op::ADDC, Op::SUBC]), 0, d),
        8..11 => one(pick(random, &[Op::RRC, Op::RRA, Op::SWPB, Op::SXT]), d),
        11 => number(Op::XOR, 0xffff, d),
        12..14 => number(pick(random, &TWO), pick(random, &NUMBERS), d),
        14 => two(pick(random, &BITWISE), s, d).sized(Size::Byte),
        15 => number(
            pick(random, &[Op::BIS, Op::BIC]),
            pick(random, &[1, 1, 2, 4]),
            SR,
        ),
        _ => two(pick(random, &TWO), s, d),
    }
}

fn some(random: &mut Random) -> Vec<Insn> {
    (0..1 + random.below(3)).map(|_| plain(random)).collect()
}

fn bytes(list: &[Insn]) -> i16 {
    list.iter().map(Insn::bytes).sum::<usize>() as i16
}

/// A jump over `over`, and that; behind a comparison, as the carry of AND and XOR, which is 1 unless Z is, is not followed.
fn branch(random: &mut Random, over: Vec<Insn>) -> Vec<Insn> {
    let (s, d) = (register(random), register(random));
    let ops = [Op::JC, Op::JC, Op::JNC, Op::JNC, Op::JEQ, Op::JNE, Op::JN];
    let mut list = vec![two(pick(random, &[Op::CMP, Op::CMP, Op::ADD]), s, d)];
    list.push(Insn::jump(pick(random, &ops), 2 + bytes(&over)));
    list.extend(over);
    list
}

fn at(address: u16) -> Dest {
    Dest::Absolute(address)
}

/// Products in the multiplier, one after the other, and what is taken of each.
fn products(random: &mut Random) -> Vec<Insn> {
    let mut list = Vec::new();
    for (address, r) in RESULT.into_iter().zip(distinct(random)) {
        match random.below(3) {
            0 => list.push(Insn::two(Op::MOV, Source::Register(r), at(address))),
            1 => list.push(Insn::two(Op::MOV, Source::Constant(0), at(address))),
            _ => {}
        }
    }
    for i in 0..1 + random.below(3) {
        let [x, y, r, top] = distinct(random);
        let kind = pick(random, &[0, 4, 4, 4, 4, 2, 6]);
        if i == 0 || random.below(3) > 0 {
            let to = at(MULTIPLIER + kind);
            list.push(Insn::two(Op::MOV, Source::Register(x), to));
        }
        list.push(Insn::two(Op::MOV, Source::Register(y), at(OP2)));
        let mut take = |op, address, r| {
            list.push(Insn::two(op, Source::Absolute(address), Dest::Register(r)));
        };
        if random.below(2) == 0 {
            take(Op::ADD, SUMEXT, top);
        }
        match random.below(4) {
            0 => {
                take(Op::ADD, RESULT[0], r);
                take(Op::ADDC, RESULT[1], top);
            }
            1 => take(Op::MOV, RESULT[0], r),
            2 => {
                // The next column.
                list.push(Insn::two(
                    Op::MOV,
                    Source::Absolute(RESULT[1]),
                    at(RESULT[0]),
                ));
                list.push(Insn::two(Op::MOV, Source::Register(top), at(RESULT[1])));
            }
            _ => {}
        }
    }
    // Ways through a branch meet only where the multiplier has ended in both.
    list.extend([Insn::nop(); 3]);
    list
}

/// An access to memory, of a word or a byte.
fn access(random: &mut Random, r: u8) -> Insn {
    let place = random.below(BYTES) as u16;
    let size = pick(random, &[Size::Word, Size::Word, Size::Byte]);
    let sums: &[Op] = match size {
        Size::Byte => &[],
        Size::Word | Size::Address => &[Op::ADD, Op::ADDC, Op::SUBC],
    };
    let op = pick(random, &[&[Op::MOV, Op::MOV, Op::XOR], sums].concat());
    let place = if size == Size::Byte {
        place
    } else {
        place & !1
    };
    let insn = match random.below(2) {
        0 => Insn::two(op, word_at(place), Dest::Register(r)),
        _ => Insn::two(
            op,
            Source::Register(r),
            Dest::Indexed(MSP430_POINTER, place),
        ),
    };
    insn.sized(size)
}

/// What lies so many bytes into memory.
fn word_at(place: u16) -> Source {
    match place {
        0 => Source::Indirect(MSP430_POINTER),
        _ => Source::Indexed(MSP430_POINTER, place),
    }
}

/// Instructions that control enters at the start and leaves at the end.
pub fn block(random: &mut Random) -> Vec<Insn> {
    let [t, d, r, c] = distinct(random);
    match random.below(24) {
        // Chains of sums and of differences, with what is left of them.
        0..5 => {
            let [first, then] = pick(random, &[ADD, SUB]);
            let mut list = preset(random);
            list.push(two(pick(random, &[first, then]), d, r));
            list.push(two(then, t, c));
            if random.below(2) == 0 {
                list.push(number(then, 0, t));
            }
            if random.below(3) == 0 {
                list.push(two(Op::SUBC, d, d));
            }
            list
        }
        // A comparison, and its carry as a mask or a bit.
        5..8 => {
            let mut list = vec![two(pick(random, &[Op::CMP, Op::SUB]), d, r)];
            match random.below(3) {
                0 => list.extend([two(Op::SUBC, c, c), two(Op::AND, c, t)]),
                1 => list.extend([number(Op::MOV, 0, c), number(Op::ADDC, 0, c)]),
                _ => list.extend([two(Op::SUBC, c, c), two(Op::XOR, c, t), two(Op::SUB, c, t)]),
            }
            list
        }
        // Doubled through the carry, halved through it.
        8..10 => vec![two(Op::ADD, d, d), two(Op::ADDC, r, r), two(Op::ADDC, c, c)],
        10 => {
            let mut list = preset(random);
            list.extend([one(Op::RRC, d), one(Op::RRC, r)]);
            list
        }
        11..16 => products(random),
        16..18 => {
            let over = some(random);
            branch(random, over)
        }
        18 => {
            let (mut over, other) = (some(random), some(random));
            over.push(Insn::jump(Op::JMP, 2 + bytes(&other)));
            let mut list = branch(random, over);
            list.extend(other);
            list
        }
        19 | 20 => {
            let access = vec![access(random, t)];
            match random.below(3) {
                0 => branch(random, access),
                _ => access,
            }
        }
        _ => vec![plain(random)],
    }
}

/// Loads all of memory, so that it is compared.
pub fn memory() -> Vec<Vec<Insn>> {
    let load = |k: u16| {
        let to = Dest::Register(MSP430_FIRST + k as u8);
        Insn::two(Op::MOV, word_at(2 * k), to)
    };
    vec![(0..BYTES as u16 / 2).map(load).collect()]
}
