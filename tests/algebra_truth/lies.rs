//! Claims about random programs, most of them false on some inputs: those that are shown are true.
//!
//! They say what a chain of additions or a product might be, and what an absolute value is of; then one thing
//! in a claim is changed, or none. A sum without its last carry is a lie that most inputs do not tell.

use lozenge::isa::arm::code::Insn as ArmInsn;
use lozenge::isa::arm::instructions::Op as ArmOp;
use lozenge::isa::avr::code::Insn as AvrInsn;
use lozenge::isa::avr::instructions::Op as AvrOp;
use lozenge::isa::mips::code::Insn as MipsInsn;
use lozenge::isa::mips::instructions::Op as MipsOp;
use lozenge::isa::riscv::code::Insn as RiscvInsn;
use lozenge::isa::riscv::instructions::Op as RiscvOp;
use lozenge::program::{Claim, Magnitude, Term, Written};
use lozenge::vectors::Random;

use crate::algebra_truth::compare::{Counts, compare};
use crate::algebra_truth::machines::{
    AVR_FIRST, MIPS_FIRST, Model, OnArm, OnAvr, OnMips, OnRiscv, REGISTERS, RISCV_FIRST,
};
use crate::algebra_truth::{arm, avr, mips, riscv};
use crate::kit::tier;

/// Programs of each machine, by tier.
const PROGRAMS: [u64; 3] = [50, 500, 20_000];
/// Blocks of a program, and absolute values in it.
const BLOCKS: usize = 16;
const SIZES: usize = 3;

/// `d = x op y` of words: what an instruction does.
#[derive(Clone, Copy)]
enum Does {
    Add,
    Subtract,
    /// The low and the high word of a product.
    Multiply,
}

/// What an instruction does with registers: those it writes, the lowest first, and two that it reads.
struct Step {
    does: Does,
    d: Vec<u8>,
    x: u8,
    y: u8,
}

impl Step {
    fn new(does: Does, d: &[u8], x: u8, y: u8) -> Option<Self> {
        let d = d.to_vec();
        Some(Self { does, d, x, y })
    }
}

trait Claiming: Model {
    /// Bytes of an instruction of these programs.
    const BYTES: usize;
    fn block(random: &mut Random) -> Vec<Self::Insn>;
    fn branches(insn: &Self::Insn) -> bool;
    fn does(insn: &Self::Insn) -> Option<Step>;
    /// `t = |x - y|` with a mask `m`, by five instructions: the wrapped difference after one of them, the mask
    /// after another.
    fn absolute(t: u8, m: u8, x: u8, y: u8) -> (Vec<Self::Insn>, [usize; 2]);
    fn first() -> u8;
}

impl Claiming for OnAvr {
    const BYTES: usize = 2;

    fn block(random: &mut Random) -> Vec<AvrInsn> {
        avr::block(random)
    }

    fn branches(insn: &AvrInsn) -> bool {
        use AvrOp::{BRBC, BRBS, CPSE, RJMP, SBRC, SBRS};
        matches!(insn.op, BRBC | BRBS | CPSE | RJMP | SBRC | SBRS)
    }

    fn does(insn: &AvrInsn) -> Option<Step> {
        let (d, r) = (insn.ops.d, insn.ops.r);
        match insn.op {
            AvrOp::ADD | AvrOp::ADC => Step::new(Does::Add, &[d], d, r),
            AvrOp::SUB | AvrOp::SBC => Step::new(Does::Subtract, &[d], d, r),
            AvrOp::MUL => Step::new(Does::Multiply, &[0, 1], d, r),
            _ => None,
        }
    }

    fn absolute(t: u8, m: u8, x: u8, y: u8) -> (Vec<AvrInsn>, [usize; 2]) {
        let list = vec![
            AvrInsn::rr(AvrOp::MOV, t, x),
            AvrInsn::rr(AvrOp::SUB, t, y),
            AvrInsn::rr(AvrOp::SBC, m, m),
            AvrInsn::rr(AvrOp::EOR, t, m),
            AvrInsn::rr(AvrOp::SUB, t, m),
        ];
        (list, [1, 2])
    }

    fn first() -> u8 {
        AVR_FIRST
    }
}

impl Claiming for OnArm {
    const BYTES: usize = 4;

    fn block(random: &mut Random) -> Vec<ArmInsn> {
        arm::block(random)
    }

    fn branches(insn: &ArmInsn) -> bool {
        matches!(insn.op, ArmOp::B)
    }

    fn does(insn: &ArmInsn) -> Option<Step> {
        let o = insn.ops;
        let y = u8::try_from(o.k).ok().filter(|y| *y < 15);
        match insn.op {
            ArmOp::ADD | ArmOp::ADC => Step::new(Does::Add, &[o.d], o.n, y?),
            ArmOp::SUB | ArmOp::SBC => Step::new(Does::Subtract, &[o.d], o.n, y?),
            ArmOp::UMULL => Step::new(Does::Multiply, &[o.n, o.d], o.m, o.r),
            _ => None,
        }
    }

    fn absolute(t: u8, m: u8, x: u8, y: u8) -> (Vec<ArmInsn>, [usize; 2]) {
        let list = vec![
            ArmInsn::reg(ArmOp::SUB, true, t, x, y),
            ArmInsn::reg(ArmOp::SBC, false, m, m, m),
            ArmInsn::reg(ArmOp::EOR, false, t, t, m),
            ArmInsn::reg(ArmOp::SUB, false, t, t, m),
        ];
        (list, [0, 1])
    }

    fn first() -> u8 {
        0
    }
}

impl Claiming for OnMips {
    const BYTES: usize = 4;

    fn block(random: &mut Random) -> Vec<MipsInsn> {
        mips::block(random)
    }

    fn branches(insn: &MipsInsn) -> bool {
        use lozenge::isa::mips::instructions::Timing;
        insn.form().timing == Timing::Branch
    }

    fn does(insn: &MipsInsn) -> Option<Step> {
        let o = insn.ops;
        match insn.op {
            MipsOp::ADDU => Step::new(Does::Add, &[o.d], o.s, o.t),
            MipsOp::SUBU => Step::new(Does::Subtract, &[o.d], o.s, o.t),
            _ => None,
        }
    }

    fn absolute(t: u8, m: u8, x: u8, y: u8) -> (Vec<MipsInsn>, [usize; 2]) {
        let list = vec![
            MipsInsn::three(MipsOp::SLTU, m, x, y),
            MipsInsn::three(MipsOp::SUBU, t, x, y),
            MipsInsn::three(MipsOp::SUBU, m, 0, m),
            MipsInsn::three(MipsOp::XOR, t, t, m),
            MipsInsn::three(MipsOp::SUBU, t, t, m),
        ];
        (list, [1, 2])
    }

    fn first() -> u8 {
        MIPS_FIRST
    }
}

impl Claiming for OnRiscv {
    const BYTES: usize = 4;

    fn block(random: &mut Random) -> Vec<RiscvInsn> {
        riscv::block(random)
    }

    fn branches(insn: &RiscvInsn) -> bool {
        insn.branch().is_some()
    }

    fn does(insn: &RiscvInsn) -> Option<Step> {
        let o = insn.ops;
        match insn.op {
            RiscvOp::ADD => Step::new(Does::Add, &[o.d], o.s, o.t),
            RiscvOp::SUB => Step::new(Does::Subtract, &[o.d], o.s, o.t),
            _ => None,
        }
    }

    fn absolute(t: u8, m: u8, x: u8, y: u8) -> (Vec<RiscvInsn>, [usize; 2]) {
        let list = vec![
            RiscvInsn::three(RiscvOp::SLTU, m, x, y),
            RiscvInsn::three(RiscvOp::SUB, t, x, y),
            RiscvInsn::three(RiscvOp::SUB, m, 0, m),
            RiscvInsn::three(RiscvOp::XOR, t, t, m),
            RiscvInsn::three(RiscvOp::SUB, t, t, m),
        ];
        (list, [1, 2])
    }

    fn first() -> u8 {
        RISCV_FIRST
    }
}

fn term(sign: i8, x: Vec<Written>, y: Vec<Written>) -> Term {
    Term {
        sign,
        shift: 0,
        x,
        y,
    }
}

/// A claim about the instructions from `from` on that are of one kind, if there are some.
fn about<M: Claiming>(list: &[M::Insn], from: usize, random: &mut Random) -> Option<Claim> {
    let first = M::does(&list[from])?;
    let before = from.checked_sub(1)?;
    let mut claim = Claim {
        words: Vec::new(),
        lead: 0,
        terms: Vec::new(),
        magnitude: None,
    };
    let read = |r: u8| Written::once(before, r);
    if let Does::Multiply = first.does {
        claim.words = first.d.iter().map(|d| Written::once(from, *d)).collect();
        claim
            .terms
            .push(term(1, vec![read(first.x)], vec![read(first.y)]));
        return Some(claim);
    }
    let adds = |does: Does| matches!(does, Does::Add);
    let alike = list[from..].iter().map_while(|insn| {
        let step = M::does(insn)?;
        (!matches!(step.does, Does::Multiply) && adds(step.does) == adds(first.does))
            .then_some(step)
    });
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (i, step) in alike.take(1 + random.below(4)).enumerate() {
        claim.words.push(Written::once(from + i, step.d[0]));
        x.push(read(step.x));
        y.push(read(step.y));
    }
    let sign = if adds(first.does) { 1 } else { -1 };
    claim.terms = vec![term(1, x, Vec::new()), term(sign, y, Vec::new())];
    Some(claim)
}

/// Changes one thing in a claim, or none.
fn change<M: Claiming>(claim: &mut Claim, len: usize, random: &mut Random) {
    let any = |random: &mut Random| {
        let register = M::first() + random.below(REGISTERS) as u8;
        Written::once(random.below(len), register)
    };
    let which = random.below(claim.terms.len());
    let term = &mut claim.terms[which];
    match random.below(12) {
        0 => term.sign = -term.sign,
        1 => term.shift = 1,
        2 => claim.lead = 1,
        3 => term.x[0] = any(random),
        4 => claim.words[0] = any(random),
        5 if claim.words.len() > 1 => drop(claim.words.pop()),
        6 => claim.words.push(any(random)),
        7 => {
            let other = any(random);
            claim.terms.push(self::term(1, vec![other], Vec::new()));
        }
        8 => term.y = vec![any(random)],
        9 => {
            let len = claim.words.len();
            claim.words.swap(0, len - 1);
        }
        _ => {}
    }
}

/// `t = |x - y|`, and what is said of it.
fn size<M: Claiming>(list: &mut Vec<M::Insn>, random: &mut Random) -> Claim {
    let start = random.below(REGISTERS);
    let [t, m, x, y] = [0, 1, 2, 3].map(|i| M::first() + ((start + i) % REGISTERS) as u8);
    let (insns, [wrapped, mask]) = M::absolute(t, m, x, y);
    let before = list.len() - 1;
    let last = before + insns.len();
    let read = |r| vec![Written::once(before, r)];
    let mut claim = Claim {
        words: vec![Written::once(last, t)],
        lead: 0,
        terms: vec![term(1, read(x), Vec::new()), term(-1, read(y), Vec::new())],
        magnitude: Some(Magnitude {
            wrapped: vec![Written::once(before + 1 + wrapped, t)],
            mask: Written::once(before + 1 + mask, m),
        }),
    };
    list.extend(insns);
    let wrong = Written::once(
        random.below(list.len()),
        M::first() + random.below(REGISTERS) as u8,
    );
    if let Some(made) = &mut claim.magnitude {
        match random.below(8) {
            0 => made.wrapped = vec![wrong],
            1 => made.mask = wrong,
            2 => claim.words = vec![wrong],
            3 => claim.terms.swap(0, 1),
            4 => claim.terms[1].sign = 1,
            _ => {}
        }
    }
    claim
}

fn run<M: Claiming>() {
    let count = tier::of(PROGRAMS);
    let first = tier::seed() << 32;
    let (mut counts, mut wrong) = (Counts::default(), Vec::new());
    for seed in first..first + count {
        let mut random = Random::new(!seed);
        let (mut list, mut claims) = (Vec::new(), Vec::new());
        for i in 0..BLOCKS {
            let block = M::block(&mut random);
            // Control goes straight on, so that every instruction is executed once.
            if !block.iter().any(M::branches) {
                list.extend(block);
            }
            if i % (BLOCKS / SIZES) == 1 && !list.is_empty() {
                claims.push(size::<M>(&mut list, &mut random));
            }
        }
        let sums = (0..list.len()).filter_map(|i| about::<M>(&list, i, &mut random));
        let mut sums: Vec<Claim> = sums.collect();
        for claim in &mut sums {
            change::<M>(claim, list.len(), &mut random);
        }
        claims.extend(sums);
        let placed = claims
            .iter()
            .map(|claim| claim.at(|insn| Some(insn * M::BYTES)));
        let placed: Vec<Claim> = placed.map(|claim| claim.expect("an address")).collect();
        match compare::<M>(&[list], &placed, &mut random) {
            Ok(one) => counts.add(&one),
            Err(what) => wrong.push(format!("seed {seed}: {what}")),
        }
    }
    let name = M::NAME;
    println!(
        "{name}: {count} programs with claims from seed {first}, {} wrong; {counts:?}",
        wrong.len()
    );
    let told = wrong.iter().take(3).map(String::as_str).collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{}", told.join("\n"));
    assert!(
        counts.lies > 4 * count && counts.shown > count,
        "{counts:?}"
    );
}

#[test]
fn lies_about_programs_for_avr_are_not_shown() {
    run::<OnAvr>();
}

#[test]
fn lies_about_programs_for_arm_are_not_shown() {
    run::<OnArm>();
}

#[test]
fn lies_about_programs_for_mips_are_not_shown() {
    run::<OnMips>();
}

#[test]
fn lies_about_programs_for_riscv_are_not_shown() {
    run::<OnRiscv>();
}
