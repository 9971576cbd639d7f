//! Random programs for ARM, biased to what the algebra recognises.

use lozenge::isa::arm::code::Insn;
use lozenge::isa::arm::instructions::{Op, Ops};
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{ARM_POINTER, BYTES, REGISTERS};

fn pick<T: Copy>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())]
}

fn register(random: &mut Random) -> u8 {
    random.below(REGISTERS) as u8
}

/// A condition: mostly of the carry, of 0 and of the sign.
fn condition(random: &mut Random) -> u8 {
    pick(random, &[0, 1, 2, 2, 2, 3, 3, 3, 4, 5, 8, 9, 10, 11])
}

fn under(cond: u8, mut insn: Insn) -> Insn {
    insn.ops.cond = cond;
    insn
}

/// Bits of a shifter operand: a register, perhaps shifted, or a number.
fn operand(random: &mut Random, m: u8) -> i32 {
    /// LSR, ASR by 32 and RRX are counts of 0.
    const COUNTS: [i32; 8] = [0, 1, 1, 31, 31, 16, 8, 30];
    match random.below(8) {
        0 => 0x1000 | pick(random, &[0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x102, 0x4ff]),
        1..4 => {
            let (count, kind) = (pick(random, &COUNTS), random.below(4) as i32);
            count << 7 | kind << 5 | i32::from(m)
        }
        _ => i32::from(m),
    }
}

/// SUBS or CMP that makes the carry known.
fn preset(random: &mut Random) -> Vec<Insn> {
    let r = register(random);
    match random.below(4) {
        // C = 1
        0 => vec![Insn::reg(Op::CMP, false, 0, r, r)],
        // C = 0
        1 => vec![Insn::imm(Op::CMN, false, 0, r, 0)],
        _ => Vec::new(),
    }
}

/// An instruction of data processing.
fn plain(random: &mut Random) -> Insn {
    const OPS: [Op; 18] = [
        Op::ADD,
        Op::ADD,
        Op::ADC,
        Op::ADC,
        Op::SUB,
        Op::SUB,
        Op::SBC,
        Op::SBC,
        Op::RSB,
        Op::RSC,
        Op::AND,
        Op::EOR,
        Op::ORR,
        Op::BIC,
        Op::MOV,
        Op::MVN,
        Op::CMP,
        Op::CMN,
    ];
    let (d, n, m) = (register(random), register(random), register(random));
    let op = pick(random, &OPS);
    let mut insn = Insn::alu(op, random.below(2) == 0, d, n, operand(random, m));
    match op {
        Op::CMP | Op::CMN => (insn.ops.s, insn.ops.d) = (false, 0),
        Op::MOV | Op::MVN => insn.ops.n = 0,
        _ => {}
    }
    match random.below(10) {
        // A mask, zero, a doubling.
        0 => Insn::reg(Op::SBC, random.below(2) == 0, d, d, d),
        1 => Insn::reg(pick(random, &[Op::ADD, Op::ADC]), true, d, d, d),
        2 => Insn::imm(pick(random, &[Op::ADC, Op::SBC, Op::RSC]), true, d, n, 0),
        3 => {
            let cond = condition(random);
            under(cond, insn)
        }
        _ => insn,
    }
}

fn branch(cond: u8, over: usize) -> Insn {
    let ops = Ops {
        cond,
        // Relative to two instructions on.
        k: over as i32 - 1,
        ..Ops::default()
    };
    Insn { op: Op::B, ops }
}

fn some(random: &mut Random) -> Vec<Insn> {
    (0..1 + random.below(3)).map(|_| plain(random)).collect()
}

fn three(random: &mut Random) -> [u8; 3] {
    let d = random.below(REGISTERS);
    let step = 1 + random.below(REGISTERS - 2);
    let n = (d + step) % REGISTERS;
    let m = (0..REGISTERS).find(|m| *m != d && *m != n).unwrap_or(0);
    [d as u8, n as u8, m as u8]
}

/// A branch in one of the ways of another.
fn nested(random: &mut Random) -> Vec<Insn> {
    let (inner, mut list) = (some(random), some(random));
    list.push(branch(condition(random), inner.len()));
    list.extend(inner);
    list.extend(some(random));
    let mut all = vec![branch(condition(random), list.len())];
    all.extend(list);
    all
}

/// Addresses in arithmetic: only their lowest bits are the same in every run.
fn address(random: &mut Random, t: u8, d: u8) -> Vec<Insn> {
    let p = ARM_POINTER;
    match random.below(4) {
        0 => vec![Insn::imm(Op::AND, false, t, p, pick(random, &[1, 3, 7]))],
        1 => vec![
            Insn::imm(Op::RSB, false, t, p, 1),
            Insn::imm(Op::AND, false, t, t, 3),
        ],
        2 => vec![
            Insn::alu(Op::MOV, false, t, 0, 1 << 7 | 1 << 5 | i32::from(p)),
            Insn::imm(Op::AND, false, t, t, 1),
        ],
        _ => vec![Insn::reg(pick(random, &[Op::ADD, Op::SUB]), false, t, p, d)],
    }
}

/// Instructions that control enters at the start and leaves at the end.
pub fn block(random: &mut Random) -> Vec<Insn> {
    let [t, d, r] = three(random);
    let s = random.below(4) != 0;
    match random.below(32) {
        // s = x + y, then s - x or x - s.
        0..3 => {
            let mut list = preset(random);
            list.push(Insn::reg(pick(random, &[Op::ADD, Op::ADC]), s, t, d, r));
            list.extend(preset(random));
            let (x, y) = pick(random, &[(t, d), (t, d), (t, r), (d, t)]);
            let op = pick(random, &[Op::SUB, Op::SBC, Op::SBC, Op::RSB, Op::RSC]);
            list.push(Insn::reg(op, s, pick(random, &[t, d, r]), x, y));
            list
        }
        // d = x - y, then x - d or d - x.
        3..5 => {
            let mut list = preset(random);
            list.push(Insn::reg(pick(random, &[Op::SUB, Op::SBC]), s, t, d, r));
            list.extend(preset(random));
            let (x, y) = pick(random, &[(d, t), (d, t), (t, d), (t, r)]);
            let op = pick(random, &[Op::SUB, Op::SBC, Op::SBC, Op::RSB, Op::RSC]);
            list.push(Insn::reg(op, s, pick(random, &[t, d, r]), x, y));
            list
        }
        // An addition under a condition, and where its carry goes.
        5..10 => {
            let cond = condition(random);
            let mut list = Vec::new();
            if random.below(2) == 0 {
                list.push(Insn::imm(Op::MOV, false, t, 0, 0));
            }
            if random.below(3) == 0 {
                list.push(Insn::alu(Op::CMP, false, 0, d, operand(random, r)));
            }
            let op = pick(random, &[Op::ADD, Op::ADD, Op::ADC, Op::SUB, Op::SBC]);
            list.push(under(cond, Insn::reg(op, true, d, d, r)));
            let cond = pick(random, &[14, 14, cond, cond ^ 1]);
            let op = pick(random, &[Op::ADC, Op::ADC, Op::SBC]);
            list.push(under(cond, Insn::imm(op, random.below(2) == 0, t, t, 0)));
            list
        }
        // A branch over some instructions, and what the carry is then.
        10..13 => {
            let over = some(random);
            let mut list = vec![branch(condition(random), over.len())];
            list.extend(over);
            if random.below(2) == 0 {
                list.push(Insn::imm(Op::ADC, true, t, t, 0));
            }
            list
        }
        13 => vec![
            branch(condition(random), 1),
            Insn::reg(pick(random, &[Op::ADD, Op::ADD, Op::SUB]), true, d, d, r),
            Insn::reg(pick(random, &[Op::ADC, Op::SBC]), true, t, t, r),
        ],
        14 => {
            let (one, other) = (some(random), some(random));
            let mut list = vec![branch(condition(random), one.len() + 1)];
            list.extend(one);
            list.push(branch(14, other.len()));
            list.extend(other);
            list
        }
        // Products, added up.
        15..17 => vec![Insn::long(
            pick(random, &[Op::UMULL, Op::UMLAL, Op::UMLAL]),
            t,
            d,
            r,
            t,
        )],
        // A product, added to a column; perhaps it changes on the way.
        17 => {
            let product = Insn::long(Op::UMULL, 6, 7, t, d);
            let mut list = vec![product, Insn::reg(Op::ADD, true, t, t, 6)];
            if random.below(3) == 0 {
                let word = pick(random, &[6, 7]);
                let op = pick(random, &[Op::ADD, Op::ADC]);
                list.push(Insn::reg(op, random.below(2) == 0, word, word, r));
            }
            list.push(Insn::reg(Op::ADC, true, d, d, 7));
            list.push(Insn::imm(Op::ADC, random.below(2) == 0, r, r, 0));
            list
        }
        18 => vec![Insn::long(
            pick(random, &[Op::SMULL, Op::SMLAL]),
            t,
            d,
            r,
            r,
        )],
        // Flags wait in a register.
        19 => {
            let read = Ops {
                d: t,
                ..Ops::default()
            };
            let write = Ops {
                k: i32::from(t),
                ..Ops::default()
            };
            let mut list = vec![Insn {
                op: Op::MRS,
                ops: read,
            }];
            list.extend(some(random).into_iter().filter(|insn| insn.ops.d != t));
            list.push(Insn {
                op: Op::MSR,
                ops: write,
            });
            list
        }
        // A small signed number, and its sign.
        20..24 => {
            let (bit, mask) = (
                31 << 7 | 1 << 5 | i32::from(d),
                31 << 7 | 2 << 5 | i32::from(d),
            );
            let by = pick(random, &[0, 1, 1, 2, 3]);
            let op = pick(random, &[Op::SUB, Op::SUB, Op::ADD, Op::RSB]);
            let less = Insn::imm(op, random.below(2) == 0, t, t, by);
            let mut list = match random.below(5) {
                0 => vec![Insn::reg(Op::SBC, false, t, t, t), less],
                1 => vec![Insn::alu(Op::MOV, false, t, 0, bit), less],
                2 => vec![Insn::alu(Op::MOV, false, t, 0, mask), less],
                // What is always negative.
                3 => vec![Insn::alu(Op::MVN, false, t, 0, bit)],
                _ => vec![
                    Insn::imm(Op::MVN, false, t, 0, by),
                    Insn::alu(Op::ADD, s, t, t, bit),
                ],
            };
            // ASR 31, LSR 31, LSL 1, ASR 32
            let shift = pick(
                random,
                &[
                    31 << 7 | 2 << 5,
                    31 << 7 | 2 << 5,
                    31 << 7 | 1 << 5,
                    1 << 7,
                    2 << 5,
                ],
            );
            list.push(Insn::alu(
                Op::MOV,
                s,
                pick(random, &[d, t]),
                0,
                shift | i32::from(t),
            ));
            list
        }
        // A carry as a comparison.
        24..26 => {
            let by = pick(random, &[d, r]);
            vec![
                Insn::reg(pick(random, &[Op::ADD, Op::SUB]), false, t, d, r),
                pick(
                    random,
                    &[
                        Insn::reg(Op::CMP, false, 0, t, by),
                        Insn::reg(Op::CMP, false, 0, by, t),
                    ],
                ),
                under(condition(random), Insn::imm(Op::ADD, false, r, r, 1)),
            ]
        }
        26 => {
            let op = pick(random, &[Op::LDR, Op::STR, Op::STR, Op::LDRB, Op::STRB]);
            let at = random.below(BYTES) as i32;
            let at = if matches!(op, Op::LDR | Op::STR) {
                at & !3
            } else {
                at
            };
            let other = condition(random);
            let cond = pick(random, &[14, 14, 14, other]);
            let access = Insn::at(op, t, ARM_POINTER, at, false);
            match cond {
                14 => vec![access],
                cond => vec![branch(cond, 1), access],
            }
        }
        27 => match random.below(4) {
            0 => vec![Insn::imm(Op::MOV, false, t, 0, pick(random, &[0, 1, 255]))],
            1 => nested(random),
            2 => address(random, t, d),
            _ => vec![
                Insn::alu(
                    pick(random, &[Op::TST, Op::TEQ]),
                    false,
                    0,
                    d,
                    operand(random, r),
                ),
                plain(random),
            ],
        },
        _ => vec![plain(random)],
    }
}

/// Loads all of memory, so that it is compared.
pub fn memory() -> Vec<Vec<Insn>> {
    let load = |k: usize| Insn::at(Op::LDR, 6 + k as u8, ARM_POINTER, 4 * k as i32, false);
    vec![(0..BYTES / 4).map(load).collect()]
}
