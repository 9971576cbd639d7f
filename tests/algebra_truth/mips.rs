//! Random programs for MIPS, biased to what the algebra recognises.

use lozenge::isa::mips::code::Insn;
use lozenge::isa::mips::instructions::{Op, Ops};
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{BYTES, MIPS_FIRST, MIPS_POINTER, REGISTERS};

fn pick<T: Copy>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())]
}

fn register(random: &mut Random) -> u8 {
    match random.below(16) {
        0 => 0,
        _ => target(random),
    }
}

fn target(random: &mut Random) -> u8 {
    MIPS_FIRST + random.below(REGISTERS) as u8
}

fn shift(op: Op, d: u8, t: u8, count: i32) -> Insn {
    let ops = Ops {
        d,
        t,
        k: count,
        ..Ops::default()
    };
    Insn { op, ops }
}

/// MULTU, MTHI, ...: what reads `s` and `t`, or writes `d`.
fn unit(op: Op, d: u8, s: u8, t: u8) -> Insn {
    Insn::three(op, d, s, t)
}

fn plain(random: &mut Random) -> Insn {
    const THREE: [Op; 13] = [
        Op::ADDU,
        Op::ADDU,
        Op::SUBU,
        Op::SUBU,
        Op::SLTU,
        Op::SLTU,
        Op::SLTU,
        Op::AND,
        Op::OR,
        Op::XOR,
        Op::NOR,
        Op::MOVZ,
        Op::MOVN,
    ];
    const SHIFTS: [Op; 3] = [Op::SLL, Op::SRL, Op::SRA];
    let (d, s, t) = (target(random), register(random), register(random));
    match random.below(20) {
        0..3 => {
            let k = pick(random, &[0, 1, -1, 2, -2, 0x7fff, -0x8000]);
            Insn::immediate(pick(random, &[Op::ADDIU, Op::ADDIU, Op::SLTIU]), d, s, k)
        }
        3 => {
            let k = pick(random, &[0, 1, 3, 0xff, 0xff00, 0xffff]);
            Insn::immediate(pick(random, &[Op::ANDI, Op::ORI, Op::XORI]), d, s, k)
        }
        4..7 => shift(
            pick(random, &SHIFTS),
            d,
            t,
            pick(random, &[1, 1, 31, 31, 16, 8, 30]),
        ),
        // 0 - x: masks and their bits.
        7 => Insn::three(pick(random, &[Op::SUBU, Op::SLTU]), d, 0, t),
        8 => unit(pick(random, &[Op::MFLO, Op::MFHI]), d, 0, 0),
        9 => Insn::three(Op::SLT, d, s, t),
        _ => Insn::three(pick(random, &THREE), d, s, t),
    }
}

fn some(random: &mut Random) -> Vec<Insn> {
    (0..1 + random.below(3)).map(|_| plain(random)).collect()
}

/// A branch over its delay slot and `over` more.
fn branch(random: &mut Random, over: usize) -> Insn {
    let (s, t) = (target(random), register(random));
    let op = pick(
        random,
        &[
            Op::BEQ,
            Op::BNE,
            Op::BNE,
            Op::BEQ,
            Op::BLTZ,
            Op::BGEZ,
            Op::BLEZ,
            Op::BGTZ,
            Op::BEQL,
            Op::BNEL,
            Op::BLTZL,
        ],
    );
    let t = match op {
        Op::BEQ | Op::BNE | Op::BEQL | Op::BNEL => t,
        _ => 0,
    };
    Insn {
        op,
        ops: Ops {
            s,
            t,
            k: over as i32 + 1,
            ..Ops::default()
        },
    }
}

fn distinct(random: &mut Random) -> [u8; 4] {
    let start = random.below(REGISTERS);
    [0, 1, 2, 3].map(|i| MIPS_FIRST + ((start + i) % REGISTERS) as u8)
}

/// A branch in one of the ways of another.
fn nested(random: &mut Random) -> Vec<Insn> {
    let (inner, mut list) = (some(random), some(random));
    list.extend([branch(random, inner.len()), plain(random)]);
    list.extend(inner);
    list.extend(some(random));
    let mut all = vec![branch(random, list.len()), plain(random)];
    all.extend(list);
    all
}

/// Addresses in arithmetic: only their lowest bits are the same in every run.
fn address(random: &mut Random, t: u8, d: u8) -> Vec<Insn> {
    let p = MIPS_POINTER;
    match random.below(4) {
        0 => vec![Insn::immediate(Op::ANDI, t, p, pick(random, &[1, 3, 7]))],
        1 => vec![
            Insn::three(Op::SUBU, t, 0, p),
            Insn::immediate(Op::ANDI, t, t, 3),
        ],
        2 => vec![shift(Op::SRL, t, p, 1), Insn::immediate(Op::ANDI, t, t, 1)],
        _ => vec![Insn::three(pick(random, &[Op::ADDU, Op::SUBU]), t, p, d)],
    }
}

/// Instructions that control enters at the start and leaves at the end.
pub fn block(random: &mut Random) -> Vec<Insn> {
    let [t, d, r, c] = distinct(random);
    let three = Insn::three;
    match random.below(32) {
        // A carry is a comparison, and another with a carry that comes in.
        0..4 => {
            let mut list = vec![
                three(Op::ADDU, t, d, r),
                three(Op::SLTU, c, t, pick(random, &[d, r])),
            ];
            if random.below(2) == 0 {
                let z = target(random);
                list.extend([three(Op::ADDU, t, t, z), three(Op::SLTU, z, t, z)]);
                list.push(three(pick(random, &[Op::ADDU, Op::OR]), c, c, z));
            }
            list
        }
        // A borrow, and another.
        4..7 => {
            let mut list = vec![three(Op::SLTU, c, d, r), three(Op::SUBU, t, d, r)];
            if random.below(2) == 0 {
                let z = target(random);
                list.extend([three(Op::SLTU, d, t, z), three(Op::SUBU, t, t, z)]);
                list.push(three(pick(random, &[Op::ADDU, Op::OR]), c, c, d));
            }
            list
        }
        // s = x + y, then s - x; d = x - y, then x - d.
        7..9 => {
            let op = pick(random, &[Op::ADDU, Op::SUBU]);
            let (x, y) = pick(random, &[(t, d), (t, r), (d, t)]);
            vec![
                three(op, t, d, r),
                three(pick(random, &[Op::SUBU, Op::SLTU]), c, x, y),
            ]
        }
        // if (s != x) c = s < x.
        9..11 => {
            let op = pick(random, &[Op::ADDU, Op::SUBU]);
            let mut list = vec![three(op, t, d, r)];
            if random.below(2) == 0 {
                list.push(three(op, t, t, c));
            }
            let (x, y) = pick(random, &[(t, d), (d, t)]);
            match random.below(2) {
                0 => {
                    let ops = Ops {
                        s: t,
                        t: d,
                        k: 2,
                        ..Ops::default()
                    };
                    list.push(Insn { op: Op::BEQ, ops });
                    list.push(shift(Op::SLL, 0, 0, 0));
                    list.push(three(Op::SLTU, c, x, y));
                }
                _ => list.extend([
                    three(Op::SUBU, r, t, d),
                    three(Op::SLTU, t, x, y),
                    three(pick(random, &[Op::MOVN, Op::MOVZ]), c, t, r),
                ]),
            }
            list
        }
        11..14 => {
            let over = some(random);
            let mut list = vec![branch(random, over.len()), plain(random)];
            list.extend(over);
            list
        }
        14 => {
            let (one, other) = (some(random), some(random));
            let mut list = vec![branch(random, one.len() + 2), plain(random)];
            list.extend(one);
            let ops = Ops {
                k: other.len() as i32 + 1,
                ..Ops::default()
            };
            list.extend([Insn { op: Op::BEQ, ops }, plain(random)]);
            list.extend(other);
            list
        }
        // An addition under a condition, and its carry.
        15..17 => vec![
            three(Op::ADDU, t, d, r),
            three(Op::SLTU, c, t, r),
            three(
                pick(random, &[Op::MOVN, Op::MOVZ]),
                d,
                t,
                pick(random, &[c, r]),
            ),
            three(Op::ADDU, r, r, c),
        ],
        17..20 => {
            let op = pick(
                random,
                &[Op::MULTU, Op::MADDU, Op::MADDU, Op::MULT, Op::MSUBU],
            );
            vec![
                unit(op, 0, t, d),
                unit(Op::MFLO, r, 0, 0),
                unit(Op::MFHI, c, 0, 0),
            ]
        }
        20 => vec![
            unit(Op::MULTU, 0, t, d),
            unit(Op::MFLO, 6, 0, 0),
            unit(Op::MFHI, 7, 0, 0),
            three(Op::ADDU, t, t, 6),
            three(Op::SLTU, 6, t, 6),
            three(Op::ADDU, d, d, 7),
            three(Op::SLTU, 7, d, 7),
            three(Op::ADDU, d, d, 6),
            three(Op::SLTU, 6, d, 6),
            three(Op::ADDU, r, r, 6),
            three(Op::ADDU, r, r, 7),
        ],
        // A small signed number, and its sign.
        21..25 => {
            let by = pick(random, &[0, -1, -1, -2, 1]);
            vec![
                pick(
                    random,
                    &[
                        three(Op::SLTU, t, d, r),
                        shift(Op::SRL, t, d, 31),
                        shift(Op::SRA, t, d, 31),
                    ],
                ),
                Insn::immediate(Op::ADDIU, t, t, by),
                pick(
                    random,
                    &[
                        shift(Op::SRA, c, t, 31),
                        shift(Op::SRA, c, t, 31),
                        shift(Op::SRL, c, t, 31),
                        shift(Op::SLL, c, t, 1),
                        three(Op::SLT, c, t, 0),
                    ],
                ),
            ]
        }
        // Masks.
        25 => vec![
            three(Op::SLTU, c, d, r),
            three(Op::SUBU, c, 0, c),
            three(pick(random, &[Op::AND, Op::OR, Op::XOR]), t, t, c),
        ],
        26 => {
            let op = pick(
                random,
                &[Op::LW, Op::SW, Op::SW, Op::LBU, Op::SB, Op::LHU, Op::SH],
            );
            let at = random.below(BYTES) as i32;
            let at = match op {
                Op::LW | Op::SW => at & !3,
                Op::LHU | Op::SH => at & !1,
                _ => at,
            };
            let access = Insn::immediate(op, t, MIPS_POINTER, at);
            match random.below(3) {
                0 => vec![branch(random, 1), shift(Op::SLL, 0, 0, 0), access],
                _ => vec![access],
            }
        }
        27 => {
            let op = pick(random, &[Op::SLLV, Op::SRLV, Op::SRAV]);
            let count = Insn::immediate(Op::ADDIU, r, 0, pick(random, &[0, 1, 31, 32, 33]));
            match random.below(6) {
                0 => nested(random),
                1 => address(random, t, d),
                2 => vec![Insn::immediate(Op::ANDI, r, r, 1), three(op, d, r, t)],
                3 => {
                    let at = random.below(BYTES) as i32;
                    let op = pick(random, &[Op::LWL, Op::LWR, Op::SWL, Op::SWR, Op::LB]);
                    vec![Insn::immediate(op, t, MIPS_POINTER, at)]
                }
                _ => vec![count, three(op, d, r, t)],
            }
        }
        _ => vec![plain(random)],
    }
}

/// Loads all of memory, so that it is compared.
pub fn memory() -> Vec<Vec<Insn>> {
    let load = |k: usize| Insn::immediate(Op::LW, 20 + k as u8, MIPS_POINTER, 4 * k as i32);
    vec![(0..BYTES / 4).map(load).collect()]
}
