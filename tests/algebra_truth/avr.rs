//! Random programs for AVR, biased to what the algebra recognises.

use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::instructions::{Op, Ops};
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{AVR_FIRST, AVR_ZERO, BYTES, REGISTERS};

fn pick<T: Copy>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())]
}

/// A register of r16 and up; sometimes one of the product.
fn register(random: &mut Random) -> u8 {
    match random.below(12) {
        r @ 0..2 => r as u8,
        _ => upper(random),
    }
}

fn upper(random: &mut Random) -> u8 {
    AVR_FIRST + random.below(REGISTERS) as u8
}

fn bit(op: Op, d: u8, b: u8) -> Insn {
    let ops = Ops {
        d,
        r: d,
        b,
        ..Ops::default()
    };
    Insn { op, ops }
}

fn number(random: &mut Random) -> i32 {
    match random.below(4) {
        0 => random.below(256) as i32,
        _ => pick(random, &[0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xfe, 0xff]),
    }
}

const ADD: [Op; 2] = [Op::ADD, Op::ADC];
const SUB: [Op; 2] = [Op::SUB, Op::SBC];
const COMPARE: [Op; 2] = [Op::CP, Op::CPC];

/// SEC, CLC, or whatever the carry is.
fn preset(random: &mut Random) -> Vec<Insn> {
    match random.below(3) {
        0 => vec![bit(Op::BSET, 0, 0)],
        1 => vec![bit(Op::BCLR, 0, 0)],
        _ => Vec::new(),
    }
}

/// An instruction of one word and cycle.
fn plain(random: &mut Random) -> Insn {
    const TWO: [Op; 12] = [
        Op::ADD,
        Op::ADC,
        Op::ADC,
        Op::SUB,
        Op::SBC,
        Op::SBC,
        Op::AND,
        Op::OR,
        Op::EOR,
        Op::MOV,
        Op::CP,
        Op::CPC,
    ];
    const ONE: [Op; 8] = [
        Op::COM,
        Op::NEG,
        Op::LSR,
        Op::ROR,
        Op::ASR,
        Op::INC,
        Op::DEC,
        Op::SWAP,
    ];
    const CONSTANT: [Op; 6] = [Op::SUBI, Op::SBCI, Op::ANDI, Op::ORI, Op::CPI, Op::LDI];
    let (d, r) = (register(random), register(random));
    match random.below(20) {
        // Masks, doublings, carries into words.
        0..3 => Insn::rr(Op::SBC, d, d),
        3..5 => Insn::rr(pick(random, &ADD), d, d),
        5..8 => Insn::rr(pick(random, &[Op::ADC, Op::SBC]), d, AVR_ZERO),
        8..11 => Insn::rr(pick(random, &ONE), d, 0),
        11 => Insn::rr(Op::EOR, d, d),
        12..14 => Insn::dk(pick(random, &CONSTANT), upper(random), number(random)),
        14 => bit(
            pick(random, &[Op::BST, Op::BLD]),
            d,
            pick(random, &[0, 7, 7, 3]),
        ),
        15 => bit(
            pick(random, &[Op::BSET, Op::BCLR]),
            0,
            pick(random, &[0, 0, 1, 6]),
        ),
        _ => Insn::rr(pick(random, &TWO), d, r),
    }
}

/// SBRC, SBRS or CPSE.
fn skip(random: &mut Random) -> Insn {
    let r = register(random);
    match random.below(8) {
        0 => Insn::rr(Op::CPSE, r, register(random)),
        _ => {
            let op = pick(random, &[Op::SBRC, Op::SBRS]);
            bit(op, r, pick(random, &[0, 0, 7, 7, 2]))
        }
    }
}

/// A branch over `words` words, on a flag.
fn branch(random: &mut Random, words: usize) -> Insn {
    let flag = pick(random, &[0, 0, 0, 0, 1, 1, 2, 6, 6, 4]);
    Insn {
        op: pick(random, &[Op::BRBS, Op::BRBC]),
        ops: Ops {
            b: flag,
            k: words as i32,
            ..Ops::default()
        },
    }
}

fn some(random: &mut Random) -> Vec<Insn> {
    (0..1 + random.below(3)).map(|_| plain(random)).collect()
}

/// A branch in one of the ways of another.
fn nested(random: &mut Random) -> Vec<Insn> {
    let (inner, mut list) = (some(random), some(random));
    list.push(branch(random, inner.len()));
    list.extend(inner);
    list.extend(some(random));
    let mut all = vec![branch(random, list.len())];
    all.extend(list);
    all
}

/// A product that grows between the additions of its words.
fn changing(random: &mut Random, low: u8) -> Vec<Insn> {
    let [d, r, y] = [0; 3].map(|_| upper(random));
    vec![
        Insn::rr(Op::MUL, d, r),
        Insn::rr(Op::ADD, low, 0),
        Insn::rr(Op::ADD, 0, y),
        Insn::rr(Op::ADC, 1, AVR_ZERO),
        Insn::rr(Op::ADD, low + 1, 1),
    ]
}

/// Addresses in arithmetic: only their lowest bits are the same in every run.
fn address(random: &mut Random, t: u8) -> Vec<Insn> {
    let low = Insn::rr(Op::MOV, t, 30);
    match random.below(4) {
        0 => vec![low, Insn::dk(Op::ANDI, t, pick(random, &[1, 3, 7]))],
        1 => vec![
            low,
            Insn::dk(Op::SUBI, t, number(random)),
            Insn::dk(Op::ANDI, t, 3),
        ],
        2 => vec![low, Insn::rr(Op::LSR, t, 0), Insn::dk(Op::ANDI, t, 1)],
        _ => vec![low, plain(random)],
    }
}

/// Instructions that control enters at the start and leaves at the end.
pub fn block(random: &mut Random) -> Vec<Insn> {
    let (d, r, t) = (upper(random), register(random), upper(random));
    let low = AVR_FIRST + random.below(REGISTERS - 2) as u8;
    match random.below(32) {
        // s = x + y, then s - x or x - s, with a carry that is known or not.
        0..3 => {
            let mut list = preset(random);
            list.extend([Insn::rr(Op::MOV, t, d), Insn::rr(pick(random, &ADD), t, r)]);
            list.extend(preset(random));
            let ops = pick(random, &[SUB, SUB, COMPARE]);
            let op = pick(random, &ops);
            let (x, y) = pick(random, &[(t, d), (t, d), (t, r), (d, t)]);
            list.push(Insn::rr(op, x, y));
            list
        }
        // d = x - y, then x - d or d - x.
        3..5 => {
            let mut list = preset(random);
            list.extend([Insn::rr(Op::MOV, t, d), Insn::rr(pick(random, &SUB), t, r)]);
            list.extend(preset(random));
            let ops = pick(random, &[SUB, SUB, COMPARE]);
            let op = pick(random, &ops);
            let (x, y) = pick(random, &[(d, t), (d, t), (t, d), (t, r)]);
            list.push(Insn::rr(op, x, y));
            list
        }
        // An addition that is skipped or not, and where its carry goes.
        5..9 => {
            let skip = skip(random);
            let mut list = vec![skip, Insn::rr(pick(random, &ADD), low, r)];
            if random.below(2) == 0 {
                list.extend([skip, Insn::rr(Op::ADC, low + 1, register(random))]);
            } else {
                list.push(Insn::rr(Op::ADC, low + 1, AVR_ZERO));
            }
            if random.below(2) == 0 {
                list.push(Insn::rr(Op::ADC, low + 2, AVR_ZERO));
            }
            list
        }
        9 => vec![skip(random), plain(random)],
        // A branch over some instructions, and what the carry is then.
        10..13 => {
            let over = some(random);
            let mut list = vec![branch(random, over.len())];
            list.extend(over);
            if random.below(2) == 0 {
                list.push(Insn::rr(Op::ADC, t, pick(random, &[AVR_ZERO, d])));
            }
            list
        }
        // brcs 1f; add x, y; 1: adc z, 0
        13..15 => vec![
            branch(random, 1),
            Insn::rr(pick(random, &[Op::ADD, Op::ADD, Op::SUB]), low, r),
            Insn::rr(
                pick(random, &[Op::ADC, Op::SBC]),
                low + 1,
                pick(random, &[AVR_ZERO, d]),
            ),
        ],
        // One way or the other.
        15 => {
            let (one, other) = (some(random), some(random));
            let mut list = vec![branch(random, one.len() + 1)];
            list.extend(one);
            list.push(Insn::dk(Op::RJMP, 0, other.len() as i32));
            list.extend(other);
            list
        }
        // A product, added to a column; perhaps it changes on the way.
        16..18 => {
            let mut list = vec![Insn::rr(Op::MUL, d, t), Insn::rr(Op::ADD, low, 0)];
            if random.below(4) == 0 {
                let word = random.below(2) as u8;
                list.push(Insn::rr(
                    pick(random, &[Op::ADD, Op::ADC, Op::MOV]),
                    word,
                    r,
                ));
            }
            list.extend([
                Insn::rr(Op::ADC, low + 1, 1),
                Insn::rr(Op::ADC, low + 2, AVR_ZERO),
            ]);
            list
        }
        // A number of three words, added to another, perhaps after a word of it changed.
        18 => {
            let from = upper(random).min(AVR_FIRST + REGISTERS as u8 - 3);
            let op = pick(random, &[ADD, ADD, SUB]);
            let mut list: Vec<_> = (0..3)
                .map(|i| Insn::rr(op[usize::from(i > 0)], low.min(from + 3) + i, from + i))
                .filter(|insn| insn.ops.d < AVR_FIRST + REGISTERS as u8)
                .collect();
            if random.below(2) == 0 {
                let word = from + random.below(3) as u8;
                let at = random.below(list.len());
                list.insert(at, Insn::rr(pick(random, &ADD), word, d));
            }
            list
        }
        // The same, doubled.
        19 => {
            let list = [Op::ADD, Op::ADC, Op::ADC].into_iter().zip(low..);
            list.map(|(op, r)| Insn::rr(op, r, r)).collect()
        }
        20 => (low..low + 3).map(|r| Insn::rr(Op::EOR, r, r)).collect(),
        // Flags wait in SREG.
        21 => {
            const SREG: i32 = 0x3f;
            let mut list = vec![Insn::dk(Op::IN, t, SREG)];
            list.extend(some(random).into_iter().filter(|insn| insn.ops.d != t));
            list.push(Insn::rk(Op::OUT, t, SREG));
            list
        }
        // A carry waits in T, or in the lowest bit of a register.
        22 => match random.below(2) {
            0 => vec![
                Insn::rr(Op::SBC, t, t),
                bit(Op::BST, t, 0),
                plain(random),
                bit(Op::BLD, d, 0),
            ],
            _ => vec![
                Insn::rr(Op::ROR, t, 0),
                plain(random),
                Insn::rr(Op::ADD, t, t),
            ],
        },
        // A small signed number: a carry less a number, and its sign.
        23..25 => {
            let mut list = vec![
                Insn::rr(Op::SBC, t, t),
                Insn::dk(Op::SUBI, t, pick(random, &[0, 1, 2, 0xff, 0xfe])),
                Insn::rr(Op::SUB, t, AVR_ZERO),
            ];
            list.extend(match random.below(3) {
                0 => vec![Insn::rr(Op::ADD, t, t), Insn::rr(Op::SBC, d, d)],
                1 => vec![bit(Op::BST, t, 7), bit(Op::BLD, d, 0)],
                _ => vec![bit(Op::SBRC, t, 7), Insn::rr(Op::ADD, d, r)],
            });
            list
        }
        // Numbers of two words.
        25 => {
            let pair = pick(random, &[24, 26]);
            let by = pick(random, &[0, 1, 2, 63]);
            vec![
                Insn::rr(Op::MOV, pair, d),
                Insn::rr(Op::MOV, pair + 1, t),
                Insn::dk(pick(random, &[Op::ADIW, Op::SBIW]), pair, by),
                Insn::rr(Op::MOV, d, pair),
                Insn::rr(Op::MOV, t, pair + 1),
            ]
        }
        26 => match random.below(3) {
            0 => vec![Insn::rr(Op::MULS, d, t)],
            1 => vec![Insn::rr(
                Op::MULSU,
                pick(random, &[16, 17, 18]),
                pick(random, &[19, 20]),
            )],
            _ => vec![Insn::rr(
                Op::FMUL,
                pick(random, &[16, 17, 18]),
                pick(random, &[19, 20]),
            )],
        },
        27 => {
            let access = Insn {
                op: pick(random, &[Op::LDDZ, Op::STDZ]),
                ops: Ops {
                    d: t,
                    r: t,
                    k: random.below(BYTES) as i32,
                    ..Ops::default()
                },
            };
            match random.below(3) {
                0 => vec![branch(random, 1), access],
                1 => vec![skip(random), access],
                _ => vec![access],
            }
        }
        28 => match random.below(4) {
            0 => nested(random),
            1 => address(random, t),
            2 => changing(random, low),
            _ => vec![skip(random), Insn::rr(Op::MOVW, low & 30, t & 30)],
        },
        _ => vec![plain(random)],
    }
}

/// Loads all of memory, so that it is compared.
pub fn memory() -> Vec<Vec<Insn>> {
    let load = |k: usize| Insn::dk(Op::LDDZ, 3 + k as u8, k as i32);
    vec![(0..BYTES.min(12)).map(load).collect()]
}
