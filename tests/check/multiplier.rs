//! A multiplier behind addresses (MSP430): what is read before it is there, what interrupt handlers may have left in it, and
//! what a function must do to keep them out. And what it computes, against the integers.

use lozenge::domain::concrete::Concrete;
use lozenge::facts::Style;
use lozenge::isa::Isa;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::{Dest, Insn, Source};
use lozenge::isa::msp430::cores::Core;
use lozenge::isa::msp430::instructions::{Op, Ops};
use lozenge::isa::msp430::machine::Msp430;
use lozenge::isa::msp430::multiplier::Irq;
use lozenge::isa::msp430::operands::SR;
use lozenge::isa::msp430::run::Decoded;
use lozenge::kernel::Request;
use lozenge::prove::{self, Verdict};
use lozenge::spec::{self, Alias, Spec};
use lozenge::target::{Names, Target, TargetError};

use crate::kit::words::word;
use crate::kit::{any, ask, known, tier};

/// Offsets of registers.
const OP2: u16 = 0x08;
const RESULT: [u16; 2] = [0x0a, 0x0c];
const SUMEXT: u16 = 0x0e;
const MPY32: [u16; 2] = [0x10, 0x12];
const OP2_WIDE: [u16; 2] = [0x20, 0x22];
const RESULT_WIDE: [u16; 4] = [0x24, 0x26, 0x28, 0x2a];
/// MPY, MPYS, MAC, MACS.
const MPY: u16 = 0;
const MAC: u16 = 4;

fn core(name: &str) -> Core {
    *Core::named(name).expect("a core")
}

fn at(core: &Core, offset: u16) -> u16 {
    core.multiplier.expect("a multiplier").at(offset)
}

fn write(core: &Core, source: Source, offset: u16) -> Insn {
    Insn::two(Op::MOV, source, Dest::Absolute(at(core, offset)))
}

fn read(core: &Core, offset: u16, dest: Dest) -> Insn {
    Insn::two(Op::MOV, Source::Absolute(at(core, offset)), dest)
}

/// Word `i` of an operand.
fn word_of(r: u8, i: u16) -> Source {
    match i {
        0 => Source::Indirect(r),
        _ => Source::Indexed(r, 2 * i),
    }
}

/// The product of 16 bits, with `gap` before its results are read.
fn product(core: &Core, gap: &[Insn]) -> Vec<Insn> {
    let mut code = vec![
        write(core, word_of(13, 0), MPY),
        write(core, word_of(14, 0), OP2),
    ];
    code.extend(gap);
    for (offset, y) in RESULT.into_iter().zip([0, 2]) {
        code.push(read(core, offset, Dest::Indexed(12, y)));
    }
    code
}

/// The product of 32 bits, with the word `i` of the result read `wait` cycles after OP2H was written, and the others later.
fn wide_product(core: &Core, i: usize, wait: u16) -> Vec<Insn> {
    let mut code = Vec::new();
    for (r, offsets) in [(13, MPY32), (14, OP2_WIDE)] {
        for (offset, j) in offsets.into_iter().zip(0..) {
            code.push(write(core, word_of(r, j), offset));
        }
    }
    // An access by an address reads in its third cycle.
    code.extend((3..wait).map(|_| Insn::nop()));
    let others = (0..4).filter(|j| *j != i);
    for (j, first) in std::iter::once(i).chain(others).zip(0..) {
        if first == 1 {
            code.extend([Insn::nop(); 8]);
        }
        let to = Dest::Indexed(12, 2 * j as u16);
        code.push(read(core, RESULT_WIDE[j], to));
    }
    code
}

/// Is the product of so many bits proved, or why not?
fn judged(core: &Core, bits: u32, body: &[Insn]) -> Result<(), String> {
    let end = [Insn::ret()];
    let code = Msp430Isa::encode(core, &[body, &end].concat()).expect("code");
    let spec = Spec::new(spec::Op::Mul, bits, 16).expect("a product");
    let proof = prove::prove(&spec, &(*core).into(), &code, Alias::Distinct);
    let told = [&proof.correct, &proof.memory, &proof.abi].map(Verdict::reason);
    match told.into_iter().flatten().next() {
        None => Ok(()),
        Some(why) => Err(why.to_string()),
    }
}

fn refuses(core: &Core, bits: u32, body: &[Insn], why: &str) {
    let said = judged(core, bits, body).expect_err("it is not to be proved");
    assert!(said.contains(why), "{said}");
}

const EARLY: &str = "read before it is there";
const MAYBE_USED: &str = "an interrupt handler may have";

/// Bits 19 to 16 of an MSP430X are taken for 0, so what may set them is refused there.
#[test]
fn what_may_set_bits_19_to_16_is_refused() {
    let r15 = Source::Register(15);
    let with = |core: &Core, before: &[Insn]| [before, &product(core, &[])].concat();
    let extended = [Insn::one(Op::SXT, r15)];
    // Pushed for RETI: where it goes to, and flags with one bit more.
    let returned = [
        Insn::one(Op::PUSH, r15),
        Insn::one(Op::PUSH, Source::Constant(0x1000)),
        Insn::new(Op::RETI, Ops::default()),
    ];
    let plain = core("msp430-mpy16");
    assert_eq!(judged(&plain, 16, &with(&plain, &extended)), Ok(()));
    let wide = core("msp430x-mpy16");
    assert_eq!(judged(&wide, 16, &with(&wide, &[])), Ok(()));
    refuses(
        &wide,
        16,
        &with(&wide, &extended),
        "SXT of a register may set bits 19 to 16",
    );
    refuses(
        &wide,
        16,
        &with(&wide, &returned),
        "RETI may set bits 19 to 16",
    );
}

/// SLAU049, section 7.2.3: an indirect access behind OP2 needs a NOP.
#[test]
fn an_indirect_read_waits() {
    let core = core("msp430-mpy16");
    assert_eq!(judged(&core, 16, &product(&core, &[])), Ok(()));
    let indirect = |gap: usize| {
        let pointed = Source::Constant(at(&core, RESULT[0]));
        let mut code = vec![Insn::two(Op::MOV, pointed, Dest::Register(11))];
        code.extend(&product(&core, &[])[..2]);
        code.extend(vec![Insn::nop(); gap]);
        for y in [0, 2] {
            code.push(Insn::two(
                Op::MOV,
                Source::Increment(11),
                Dest::Indexed(12, y),
            ));
        }
        code
    };
    refuses(&core, 16, &indirect(0), EARLY);
    assert_eq!(judged(&core, 16, &indirect(1)), Ok(()));
}

/// SLAU208, table 25-6: RES1, RES2 and RES3 are there 3, 5 and 6 cycles after OP2H, RES0 before.
#[test]
fn results_of_32_bits_are_late() {
    let core = core("msp430x-mpy32");
    for (i, cycles) in [(1, 3), (2, 5), (3, 6)] {
        assert_eq!(judged(&core, 32, &wide_product(&core, i, cycles)), Ok(()));
        if cycles > 3 {
            refuses(&core, 32, &wide_product(&core, i, cycles - 1), EARLY);
        }
    }
    // The next factor waits, too: TI's own function has three cycles there.
    let next = |nops: usize| {
        let mut code = wide_product(&core, 0, 3)[..4].to_vec();
        code.extend(vec![Insn::nop(); nops]);
        code.push(write(&core, Source::Register(11), MPY32[0]));
        code
    };
    refuses(&core, 32, &next(2), "while a product is on its way");
    let said = judged(&core, 32, &next(3)).expect_err("it writes nothing");
    assert!(!said.contains("on its way"), "{said}");
}

#[test]
fn what_no_operation_was_chosen_for_is_refused() {
    let core = core("msp430x-mpy32");
    let all = wide_product(&core, 3, 6);
    refuses(&core, 32, &all[2..], "no operation is chosen");
    let no_low = [&all[..2], &all[3..]].concat();
    refuses(&core, 32, &no_low, "without OP2L");
    let no_high = [&all[..3], &all[4..]].concat();
    refuses(&core, 32, &no_high, EARLY);
    let mut upper = product(&core, &[]);
    upper.push(read(&core, RESULT_WIDE[2], Dest::Register(11)));
    refuses(&core, 16, &upper, "after a product of 16 by 16 bits");
    // SUMEXT is written by nobody, and MPY32CTL0 is not followed.
    let mut ours = product(&core, &[]);
    ours.push(write(&core, Source::Register(11), SUMEXT));
    refuses(&core, 16, &ours, "SUMEXT is only read");
    ours.pop();
    ours.push(write(&core, Source::Register(11), 0x2c));
    refuses(&core, 16, &ours, "MPY32CTL0");
}

/// DINT and an instruction behind it before the first use, SR as it was behind the last.
#[test]
fn interrupt_handlers_are_kept_out() {
    let none = core("msp430-mpy16");
    let sr = Dest::Register(SR);
    let push = Insn::one(Op::PUSH, Source::Register(SR));
    let pop = Insn::pop(sr);
    let [dint, eint] = [Op::BIC, Op::BIS].map(|op| Insn::two(op, Source::Constant(8), sr));
    let nop = Insn::nop();
    let around = |before: &[Insn], behind: &[Insn]| [before, &product(&none, &[]), behind].concat();
    let bare = around(&[], &[]);
    let masked = around(&[push, dint, nop], &[pop]);
    let hasty = around(&[push, dint], &[pop]);
    let early = [&[push, dint, nop], &bare[..3], &[pop], &bare[3..]].concat();
    for irq in [Irq::MaskAll, Irq::MaskPerColumn] {
        let core = none.with_irq(irq);
        refuses(&core, 16, &bare, MAYBE_USED);
        refuses(&core, 16, &hasty, MAYBE_USED);
        refuses(&core, 16, &early, MAYBE_USED);
        assert_eq!(judged(&core, 16, &masked), Ok(()));
    }
    for body in [&bare, &masked, &hasty, &early] {
        assert_eq!(judged(&none, 16, body), Ok(()));
    }
    refuses(&none, 16, &around(&[dint, nop], &[eint]), "GIE is set");
    let left = around(&[dint, nop], &[]);
    refuses(&none, 16, &left, "the interrupt flag is not restored");
    // RETI takes SR and the way back off the stack, as TI's functions do.
    let reti = Insn::new(Op::RETI, Ops::default());
    assert_eq!(
        judged(&none, 16, &around(&[push, dint, nop], &[reti])),
        Ok(())
    );
}

/// What is accumulated must have been written while interrupts are kept out: choosing MAC brings no result back.
#[test]
fn a_sum_is_lost_where_an_interrupt_may_come() {
    let core = core("msp430-mpy16").with_irq(Irq::MaskPerColumn);
    let sr = Dest::Register(SR);
    let push = Insn::one(Op::PUSH, Source::Register(SR));
    let close = [Insn::two(Op::BIC, Source::Constant(8), sr), Insn::nop()];
    let zeros = RESULT.map(|offset| write(&core, Source::Constant(0), offset));
    let mut sum = product(&core, &[]);
    sum[0] = write(&core, word_of(13, 0), MAC);
    let end = [Insn::pop(sr)];
    let early = [&[push], &zeros[..], &close, &sum, &end].concat();
    refuses(&core, 16, &early, MAYBE_USED);
    let closed = [&[push], &close[..], &zeros, &sum, &end].concat();
    assert_eq!(judged(&core, 16, &closed), Ok(()));
}

/// Handlers that save and restore the state do so wrongly between OP2L and OP2H (erratum MPY1).
#[test]
fn saving_and_restoring_is_not_for_half_an_operand() {
    let core = core("msp430x-mpy32").with_irq(Irq::SaveRestore);
    assert_eq!(judged(&core, 16, &product(&core, &[])), Ok(()));
    let all = wide_product(&core, 3, 6);
    refuses(&core, 32, &all, "between OP2L and OP2H");
    let sr = Dest::Register(SR);
    let push = Insn::one(Op::PUSH, Source::Register(SR));
    let dint = Insn::two(Op::BIC, Source::Constant(8), sr);
    let closed = [
        &all[..2],
        &[push, dint, Insn::nop()],
        &all[2..4],
        &[Insn::pop(sr)],
        &all[4..],
    ];
    assert_eq!(judged(&core, 32, &closed.concat()), Ok(()));
    let names = |core, irq| Names {
        core: Some(core),
        irq: Some(irq),
        ..Names::default()
    };
    for (core, irq) in [
        ("msp430-mpy16", "save-restore"),
        ("msp430", "mask-all"),
        ("rv32im", "none"),
    ] {
        let refused = Target::resolve(&names(core, irq));
        assert!(matches!(refused, Err(TargetError::NoIrq { .. })), "{core}");
    }
    let target = Target::resolve(&names("msp430x-mpy32", "save-restore")).expect("a target");
    assert_eq!(
        target.arguments(),
        "--core msp430x-mpy32 --irq save-restore"
    );
}

/// What the multiplier of 32 bits holds after operations of any kind and width, against the integers: no emulator that is
/// known has its carry (SOUNDNESS.md).
#[test]
fn the_multiplier_of_32_bits_multiplies() {
    let core = core("msp430x-mpy32");
    let mut random = tier::random(1);
    for _ in 0..tier::times(4000) {
        let [a, b, low, high] = [0; 4].map(|_: u32| word(&mut random));
        let old = u64::from(low) | u64::from(high) << 32;
        let kind = random.below(4) as u16;
        let [wide_a, wide_b] = [0; 2].map(|_: u8| random.below(2) == 1);
        if !wide_a && !wide_b {
            continue;
        }
        let mut code = Vec::new();
        let mut put = |number: u64, offsets: &[u16]| {
            for (i, offset) in offsets.iter().enumerate() {
                let part = Source::Constant((number >> (16 * i)) as u16);
                code.push(write(&core, part, *offset));
            }
        };
        put(old, &RESULT_WIDE);
        match wide_a {
            true => put(a.into(), &MPY32.map(|offset| offset + 4 * kind)),
            false => put(a.into(), &[2 * kind]),
        }
        match wide_b {
            true => put(b.into(), &OP2_WIDE),
            false => put(b.into(), &[OP2]),
        }
        code.extend([Insn::nop(); 8]);
        for (r, offset) in (4..).zip([&RESULT_WIDE[..], &[SUMEXT]].concat()) {
            code.push(read(&core, offset, Dest::Register(r)));
        }
        let code = Msp430Isa::encode(&core, &code).expect("code");
        let mut m = Msp430::new(Concrete::new(0x1000), core.multiplier, core.irq);
        let run = Decoded::new(&code, &core).run(&mut m, code.len(), 100);
        run.expect("a run");
        let number = |x: u32, wide: bool| match (kind & 1 == 1, wide) {
            (true, true) => i128::from(x as i32),
            (true, false) => i128::from(x as u16 as i16),
            (false, true) => i128::from(x),
            (false, false) => i128::from(x as u16),
        };
        let product = number(a, wide_a) * number(b, wide_b);
        let sum = match kind & 2 {
            0 => product,
            _ => product + i128::from(old),
        };
        let found = (4..8).fold(0, |all, r| all | m.r(r).0 << (16 * (r - 4)));
        assert_eq!(found, sum as u64, "{kind}: {a:#x} {b:#x} {old:#x}");
        let above = match kind {
            0 => 0,
            2 => (sum >> 64) as u64,
            _ => 0xffff * (sum as u64 >> 63),
        };
        assert_eq!(m.r(8).0, above, "{kind}: {a:#x} {b:#x} {old:#x}");
    }
}

/// Interrupts are kept out of each column: as proved, and how long they wait at most is in the report.
#[test]
fn kernels_keep_interrupts_out_of_their_columns() {
    let masked = |name: &str, op: spec::Op, irq: Irq| {
        let core = any(&core(name).with_irq(irq));
        let kernel = known::generate(&ask::of(op, 128), &core).expect("a kernel");
        assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
        kernel.cost.masked
    };
    for name in ["msp430-mpy16", "msp430x-mpy32"] {
        for op in [spec::Op::Mul, spec::Op::Sqr] {
            assert_eq!(masked(name, op, Irq::None), None);
            let all = masked(name, op, Irq::MaskAll).expect("masked");
            let column = masked(name, op, Irq::MaskPerColumn).expect("masked");
            assert!(3 * column < all, "{name}: {column}, {all}");
        }
    }
    // Of products of 32 bits, which handlers cannot save.
    let saved = masked("msp430x-mpy32", spec::Op::Mul, Irq::SaveRestore);
    assert_eq!(
        saved,
        masked("msp430x-mpy32", spec::Op::Mul, Irq::MaskPerColumn)
    );
}

/// In loops every pass counts: the whole function is masked, or the longest column, of 8 products here.
#[test]
fn loops_keep_interrupts_out_of_their_columns() {
    let made = |irq: Irq| {
        let request = Request {
            style: Some(Style::Rolled),
            method: Some("product-scanning".into()),
            ..ask::of(spec::Op::Mul, 128)
        };
        let core = any(&core("msp430-mpy16").with_irq(irq));
        let kernel = known::generate(&request, &core).expect("a kernel");
        assert!(kernel.is_proved(), "{irq:?}: {:?}", kernel.proof);
        let (masked, body) = (kernel.cost.masked, kernel.cost.body.max);
        (masked, body)
    };
    assert_eq!(made(Irq::None).0, None);
    let (all, body) = made(Irq::MaskAll);
    assert!(all.expect("masked") + 20 > body, "{all:?} of {body}");
    let (column, body) = made(Irq::MaskPerColumn);
    let column = column.expect("masked");
    assert!((8 * 16..body / 8).contains(&column), "{column} of {body}");
}
