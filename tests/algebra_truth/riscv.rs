//! Random programs for RISC-V, biased to what the algebra recognises.

use lozenge::isa::riscv::code::Insn;
use lozenge::isa::riscv::instructions::Op;
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{BYTES, REGISTERS, RISCV_FIRST, RISCV_POINTER};

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
    RISCV_FIRST + random.below(REGISTERS) as u8
}

fn distinct(random: &mut Random) -> [u8; 4] {
    let start = random.below(REGISTERS);
    [0, 1, 2, 3].map(|i| RISCV_FIRST + ((start + i) % REGISTERS) as u8)
}

fn three(op: Op, d: u8, s: u8, t: u8) -> Insn {
    Insn::three(op, d, s, t)
}

fn immediate(op: Op, d: u8, s: u8, k: i32) -> Insn {
    Insn::immediate(op, d, s, k)
}

fn plain(random: &mut Random) -> Insn {
    const THREE: [Op; 11] = [
        Op::ADD,
        Op::ADD,
        Op::SUB,
        Op::SUB,
        Op::SLTU,
        Op::SLTU,
        Op::SLTU,
        Op::AND,
        Op::OR,
        Op::XOR,
        Op::SLT,
    ];
    let (d, s, t) = (target(random), register(random), register(random));
    match random.below(20) {
        0..3 => {
            let k = pick(random, &[0, 1, -1, 2, -2, 0x7ff, -0x800]);
            immediate(pick(random, &[Op::ADDI, Op::ADDI, Op::SLTIU]), d, s, k)
        }
        3 => {
            let k = pick(random, &[0, 1, 3, 0xff, 0x7ff, -1]);
            immediate(pick(random, &[Op::ANDI, Op::ORI, Op::XORI]), d, s, k)
        }
        4..7 => {
            let op = pick(random, &[Op::SLLI, Op::SRLI, Op::SRAI]);
            immediate(op, d, s, pick(random, &[1, 1, 31, 31, 16, 8, 30]))
        }
        // 0 - x: masks and their bits.
        7 => three(pick(random, &[Op::SUB, Op::SLTU]), d, 0, t),
        8 => immediate(Op::LUI, d, 0, pick(random, &[0, 0x1000, -0x8000_0000])),
        _ => three(pick(random, &THREE), d, s, t),
    }
}

fn some(random: &mut Random) -> Vec<Insn> {
    (0..1 + random.below(3)).map(|_| plain(random)).collect()
}

fn bytes(list: &[Insn]) -> i32 {
    list.iter().map(Insn::bytes).sum::<usize>() as i32
}

/// A branch over `over`, and that.
fn branch(random: &mut Random, over: Vec<Insn>) -> Vec<Insn> {
    let (s, t) = (target(random), register(random));
    let op = pick(
        random,
        &[
            Op::BEQ,
            Op::BNE,
            Op::BNE,
            Op::BEQ,
            Op::BLT,
            Op::BGE,
            Op::BLTU,
            Op::BGEU,
        ],
    );
    let mut list = vec![Insn::store(op, t, s, 4 + bytes(&over))];
    list.extend(over);
    list
}

/// A product of two registers, in two others.
fn product(random: &mut Random, [low, high, x, y]: [u8; 4]) -> Vec<Insn> {
    let op = pick(
        random,
        &[Op::MULHU, Op::MULHU, Op::MULHU, Op::MULH, Op::MULHSU],
    );
    vec![three(Op::MUL, low, x, y), three(op, high, x, y)]
}

/// An access to memory.
fn access(random: &mut Random, t: u8) -> Insn {
    let op = pick(
        random,
        &[
            Op::LW,
            Op::SW,
            Op::SW,
            Op::LBU,
            Op::LB,
            Op::SB,
            Op::LHU,
            Op::LH,
            Op::SH,
        ],
    );
    let at = random.below(BYTES) as i32;
    let p = RISCV_POINTER;
    match op {
        Op::LW => immediate(op, t, p, at & !3),
        Op::SW => Insn::store(op, t, p, at & !3),
        Op::LHU | Op::LH => immediate(op, t, p, at & !1),
        Op::SH => Insn::store(op, t, p, at & !1),
        Op::SB => Insn::store(op, t, p, at),
        _ => immediate(op, t, p, at),
    }
}

/// Instructions that control enters at the start and leaves at the end.
pub fn block(random: &mut Random) -> Vec<Insn> {
    let [t, d, r, c] = distinct(random);
    match random.below(30) {
        // A carry is a comparison, and another with a carry that comes in.
        0..4 => {
            let addend = pick(random, &[d, r]);
            let mut list = vec![three(Op::ADD, t, d, r), three(Op::SLTU, c, t, addend)];
            if random.below(2) == 0 {
                let z = target(random);
                list.extend([three(Op::ADD, t, t, z), three(Op::SLTU, z, t, z)]);
                list.push(three(pick(random, &[Op::ADD, Op::OR]), c, c, z));
            }
            list
        }
        // A borrow, and another.
        4..7 => {
            let mut list = vec![three(Op::SLTU, c, d, r), three(Op::SUB, t, d, r)];
            if random.below(2) == 0 {
                let z = target(random);
                list.extend([three(Op::SLTU, d, t, z), three(Op::SUB, t, t, z)]);
                list.push(three(pick(random, &[Op::ADD, Op::OR]), c, c, d));
            }
            list
        }
        // s = x + y, then s - x; d = x - y, then x - d.
        7..9 => {
            let op = pick(random, &[Op::ADD, Op::SUB]);
            let (x, y) = pick(random, &[(t, d), (t, r), (d, t)]);
            let then = pick(random, &[Op::SUB, Op::SLTU]);
            vec![three(op, t, d, r), three(then, c, x, y)]
        }
        // A sum with all ones, and its carry.
        9 => vec![
            immediate(Op::ADDI, r, 0, pick(random, &[-1, -1, 1, -2])),
            three(Op::ADD, t, d, r),
            three(Op::SLTU, c, t, pick(random, &[d, r])),
        ],
        // if (s != x) c = s < x.
        10..12 => {
            let op = pick(random, &[Op::ADD, Op::SUB]);
            let (x, y) = pick(random, &[(t, d), (d, t)]);
            vec![
                three(op, t, d, r),
                Insn::store(Op::BEQ, t, d, 8),
                three(Op::SLTU, c, x, y),
            ]
        }
        12..15 => {
            let over = some(random);
            branch(random, over)
        }
        15 => {
            let (mut one, other) = (some(random), some(random));
            one.push(immediate(Op::JAL, 0, 0, 4 + bytes(&other)));
            let mut list = branch(random, one);
            list.extend(other);
            list
        }
        16 => {
            let inner = some(random);
            let mut over = branch(random, inner);
            over.extend(some(random));
            branch(random, over)
        }
        17..20 => product(random, [r, c, t, d]),
        // A product is added, its low carry with its high word.
        20..22 => {
            let [low, high] = [10, 11];
            let mut list = vec![three(Op::MUL, low, t, d), three(Op::MULHU, high, t, d)];
            list.extend([three(Op::ADD, r, r, low), three(Op::SLTU, low, r, low)]);
            list.push(three(Op::ADD, high, high, low));
            list.extend([three(Op::ADD, c, c, high), three(Op::SLTU, high, c, high)]);
            list.push(three(Op::ADD, t, t, high));
            list
        }
        // Doubled: the top bit goes on.
        22 => vec![
            immediate(Op::SRLI, c, d, 31),
            immediate(Op::SLLI, t, d, 1),
            immediate(Op::SLLI, r, r, 1),
            three(Op::OR, r, r, c),
        ],
        // A small signed number, and its sign.
        23 => vec![
            three(Op::SLTU, t, d, r),
            immediate(Op::ADDI, t, t, pick(random, &[0, -1, -1, -2, 1])),
            immediate(pick(random, &[Op::SRAI, Op::SRLI]), c, t, 31),
        ],
        // Masks.
        24 => vec![
            three(Op::SLTU, c, d, r),
            three(Op::SUB, c, 0, c),
            three(pick(random, &[Op::AND, Op::OR, Op::XOR]), t, t, c),
        ],
        25 | 26 => {
            let access = vec![access(random, t)];
            match random.below(3) {
                0 => branch(random, access),
                _ => access,
            }
        }
        27 => {
            let op = pick(random, &[Op::SLL, Op::SRL, Op::SRA]);
            let count = pick(random, &[0, 1, 31, 32, 33]);
            match random.below(2) {
                0 => vec![immediate(Op::ANDI, r, r, 1), three(op, d, t, r)],
                _ => vec![immediate(Op::ADDI, r, 0, count), three(op, d, t, r)],
            }
        }
        // Addresses in arithmetic: only their lowest bits are the same in every run.
        28 => vec![immediate(Op::ANDI, t, RISCV_POINTER, pick(random, &[1, 3]))],
        _ => vec![plain(random)],
    }
}

/// Loads all of memory, so that it is compared.
pub fn memory() -> Vec<Vec<Insn>> {
    let load = |k: usize| immediate(Op::LW, 12 + k as u8, RISCV_POINTER, 4 * k as i32);
    vec![(0..BYTES / 4).map(load).collect()]
}
