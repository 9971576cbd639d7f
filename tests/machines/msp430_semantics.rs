//! Every row of the MSP430 table in every addressing mode, and the multiplier of 16 bits, against mspdebug's simulator, on
//! random and edge states, with cycles.
//!
//! Both run the same loop over many states: load all registers; execute the instruction; store all registers. Then all
//! memory must be the same, and the cycles but for sources that the constant generator makes, of which mspdebug 0.22 counts
//! more than SLAU144, table 3-16.

use lozenge::domain::concrete::Concrete;
use lozenge::isa::Isa;
use lozenge::isa::msp430::Msp430Isa;
use lozenge::isa::msp430::code::{Dest, Insn, Source, forms};
use lozenge::isa::msp430::cores::Core;
use lozenge::isa::msp430::instructions::{Op, Timing, table};
use lozenge::isa::msp430::machine::Msp430;
use lozenge::isa::msp430::operands::{CG, PC, SP, SR, Size};
use lozenge::isa::msp430::run::Decoded;
use lozenge::vectors::Random;

use crate::kit::mspdebug::{self, Places};
use crate::kit::tier;
use crate::kit::words::word;

/// Where data at fixed addresses lie, code, and states; the places in a state: registers in, next state, marks, data,
/// registers out.
const FIXED: u16 = 0x0600;
const CODE: u16 = 0x4400;
const STATES: usize = 0x6000;
const PLACES: Places = Places {
    seen: FIXED,
    code: CODE,
    data: STATES as u16,
};
const NEXT: u16 = 32;
const MARK: u16 = 34;
const DATA: u16 = 64;
const OUT: u16 = 96;
const SIZE: usize = 128;
/// States for each instruction: as many as memory holds.
const COUNT: usize = 200;
/// V, GIE, N, Z and C.
const FLAGS: u16 = 0x010f;
/// Bytes before the instruction under test.
const BODY: u16 = 4 + 4 * 13;
/// The multiplier's registers.
const MULTIPLIER: u16 = 0x0130;

fn core() -> &'static Core {
    Core::named("msp430-mpy16").expect("a core")
}

/// Half of a word where instructions go wrong.
fn half(random: &mut Random) -> u16 {
    (word(random) >> (16 * random.below(2))) as u16
}

/// What is run over the states, with its pointer in `base`.
struct Case {
    body: Vec<Insn>,
    base: u8,
    /// Registers that must point to a word of data, the distance that is added to them, and whether bytes will do.
    points: Vec<(u8, u16, bool)>,
    /// Registers that hold this number.
    holds: Vec<(u8, u16)>,
    /// Registers of which only these bits may be set.
    masked: Vec<(u8, u16)>,
    counts: bool,
}

impl Case {
    fn of(body: Vec<Insn>, base: u8) -> Self {
        Self {
            body,
            base,
            points: Vec::new(),
            holds: Vec::new(),
            masked: vec![(SR, FLAGS)],
            counts: true,
        }
    }

    /// The loop.
    fn code(&self) -> Vec<Insn> {
        let all = || (1..16u8).filter(|r| *r != self.base && *r != CG);
        let at = |place: u16| Source::Indexed(self.base, place);
        let load = |r: u8| Insn::two(Op::MOV, at(2 * u16::from(r)), Dest::Register(r));
        let store = |r: u8| {
            let to = Dest::Indexed(self.base, OUT + 2 * u16::from(r));
            Insn::two(Op::MOV, Source::Register(r), to)
        };
        let base = Dest::Register(self.base);
        let mut code = vec![Insn::two(Op::MOV, Source::Constant(STATES as u16), base)];
        code.extend(all().map(load));
        assert_eq!(
            code.iter().map(Insn::bytes).sum::<usize>(),
            usize::from(BODY)
        );
        code.extend(&self.body);
        code.extend(all().map(store));
        code.push(Insn::two(Op::MOV, at(NEXT), base));
        code.push(Insn::two(Op::BIT, Source::Register(self.base), base));
        let end = 4 + code.iter().map(Insn::bytes).sum::<usize>() as u16;
        let over = Insn::jump(Op::JEQ, 6);
        let again = Source::Constant(CODE + 4);
        assert!(end < 0x1000);
        code.extend([over, Insn::two(Op::MOV, again, Dest::Register(PC))]);
        code
    }

    /// The states, one after the other.
    fn states(&self, random: &mut Random) -> Vec<u8> {
        let mut words: Vec<u16> = Vec::new();
        for i in 0..COUNT {
            let at = (STATES + i * SIZE) as u16;
            let mut registers = [0; 16].map(|_: u16| half(random));
            registers[usize::from(SP)] = at + DATA + 16;
            for (r, mask) in &self.masked {
                registers[usize::from(*r)] &= mask;
            }
            for (r, k) in &self.holds {
                registers[usize::from(*r)] = *k;
            }
            for (r, x, bytes) in &self.points {
                let step = if *bytes { 1 } else { 2 };
                let place = DATA + step * random.below(14) as u16;
                registers[usize::from(*r)] = (at + place).wrapping_sub(*x);
            }
            let start = words.len();
            words.extend(registers);
            words.push(if i + 1 < COUNT { at + SIZE as u16 } else { 0 });
            words.resize(start + SIZE / 2, 0x1111);
            for j in 0..16 {
                words[start + usize::from(DATA) / 2 + j] = half(random);
            }
        }
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    fn text(&self) -> String {
        let lines: Vec<_> = self.body.iter().map(Insn::text).collect();
        lines.join("; ")
    }
}

/// All memory from [`FIXED`] on and cycles, after our machine ran.
fn ours(case: &Case, code: &[u8], data: &[u8]) -> (Vec<u8>, u64) {
    let mut d = Concrete::new(0x1_0000);
    d.memory[STATES..STATES + data.len()].copy_from_slice(data);
    let mut m = Msp430::new(d, core().multiplier, core().irq);
    let mut padded = vec![0; usize::from(CODE)];
    padded.extend(code);
    m.pc = CODE.into();
    let run = Decoded::new(&padded, core()).run(&mut m, padded.len(), u64::MAX);
    let ran = run.unwrap_or_else(|(pc, fault)| panic!("{}: {fault} at {pc:#x}", case.text()));
    m.d.memory[usize::from(CODE)..padded.len()].copy_from_slice(code);
    (m.d.memory[usize::from(FIXED)..].to_vec(), ran.cost.call.max)
}

fn compare(name: &str, cases: &[Case], random: &mut Random) {
    let job = |case: &Case| {
        let code = Msp430Isa::encode(core(), &case.code()).expect("code");
        (code, case.states(random))
    };
    let jobs: Vec<_> = cases.iter().map(job).collect();
    let answers = mspdebug::runs(name, PLACES, &jobs);
    for ((case, (code, data)), (there, cycles)) in cases.iter().zip(&jobs).zip(&answers) {
        let (here, own) = ours(case, code, data);
        if let Some(at) = (0..here.len()).find(|i| here[*i] != there[*i]) {
            let place = at + usize::from(FIXED);
            let read = |data: &[u8]| u16::from_le_bytes([data[at & !1], data[at | 1]]);
            let state = place.wrapping_sub(STATES) / SIZE;
            let registers = data.get(state * SIZE..state * SIZE + 32);
            panic!(
                "{}: we have {:#06x}, mspdebug {:#06x} at {:#x} ({} of state {state}, {registers:02x?})",
                case.text(),
                read(&here),
                read(there),
                place & !1,
                place.wrapping_sub(STATES) % SIZE,
            );
        }
        if case.counts {
            assert_eq!(own, *cycles, "{}: cycles of {COUNT} states", case.text());
        }
    }
    println!("{name}: {} cases of {COUNT} states", cases.len());
}

/// Registers that an instruction may name.
fn register(random: &mut Random, base: u8) -> u8 {
    loop {
        let r = 4 + random.below(12) as u8;
        if r != base {
            return r;
        }
    }
}

/// Kinds of sources.
const MODES: usize = 10;

/// The source of kind `kind`, for a case.
fn source(kind: usize, size: Size, case: &mut Case, random: &mut Random) -> Source {
    let (r, x) = (register(random, case.base), random.draw() as u16);
    let bytes = size == Size::Byte;
    let fixed = FIXED + 2 * random.below(16) as u16;
    match kind {
        0 => Source::Register(r),
        1 => {
            case.points.push((r, x, bytes));
            Source::Indexed(r, x)
        }
        2 => {
            case.points.push((r, 0, bytes));
            Source::Indirect(r)
        }
        3 => {
            case.points.push((r, 0, bytes));
            Source::Increment(r)
        }
        4 => Source::Absolute(fixed),
        5 => Source::Constant(x | 0x10),
        6 => {
            case.counts = false;
            Source::Constant([0, 1, 2, 4, 8, 0xffff][random.below(6)])
        }
        7 => Source::Symbolic(fixed.wrapping_sub(CODE + BODY + 2)),
        // Where SP points.
        8 => [Source::Indexed(SP, 2), Source::Indirect(SP)][random.below(2)],
        // A byte that SP points to: below.
        _ if bytes => [Source::Register(SP), Source::Register(SR)][random.below(2)],
        _ => [
            Source::Increment(SP),
            Source::Register(SP),
            Source::Register(SR),
        ][random.below(3)],
    }
}

/// All instructions of two operands, in all modes and both sizes.
fn of_two(op: Op, random: &mut Random) -> Vec<Case> {
    let mut list = Vec::new();
    for kind in 0..MODES {
        for to in 0..3 {
            for size in [Size::Word, Size::Byte] {
                let mut case = Case::of(Vec::new(), [11, 15][random.below(2)]);
                let source = source(kind, size, &mut case, random);
                let (mut d, y) = (register(random, case.base), random.draw() as u16);
                while to == 1 && case.points.iter().any(|(r, ..)| *r == d) {
                    d = register(random, case.base);
                }
                let dest = match to {
                    0 => Dest::Register(d),
                    1 => {
                        case.points.push((d, y, size == Size::Byte));
                        Dest::Indexed(d, y)
                    }
                    _ => Dest::Absolute(FIXED + 2 * random.below(16) as u16),
                };
                case.body.push(Insn::two(op, source, dest).sized(size));
                list.push(case);
            }
        }
    }
    list
}

/// All instructions of one operand.
fn of_one(op: Op, written: bool, random: &mut Random) -> Vec<Case> {
    let sizes: &[Size] = match op {
        Op::SWPB | Op::SXT | Op::PUSH => &[Size::Word],
        _ => &[Size::Word, Size::Byte],
    };
    let mut list = Vec::new();
    for (kind, size) in (0..MODES).flat_map(|kind| sizes.iter().map(move |size| (kind, *size))) {
        let mut case = Case::of(Vec::new(), [11, 15][random.below(2)]);
        let source = source(kind, size, &mut case, random);
        let is_dest = !matches!(
            source,
            Source::Constant(_) | Source::Register(SP) | Source::Register(SR)
        );
        if is_dest || !written && source != Source::Register(SP) {
            case.body.push(Insn::one(op, source).sized(size));
            list.push(case);
        }
    }
    list
}

#[test]
fn rows_agree_with_mspdebug() {
    let mut random = tier::random(1);
    let mut cases = Vec::new();
    for form in forms() {
        cases.extend(match form.timing {
            // Below, of decimal digits.
            Timing::Two | Timing::Once if form.op == Op::DADD => Vec::new(),
            Timing::Two | Timing::Once => of_two(form.op, &mut random),
            Timing::One => of_one(form.op, true, &mut random),
            Timing::Push => of_one(form.op, false, &mut random),
            Timing::Call | Timing::Return | Timing::Jump => Vec::new(),
            // Of the MSP430X: below.
            Timing::Several | Timing::SeveralWhole | Timing::Bits => Vec::new(),
            Timing::Far | Timing::FarJump => Vec::new(),
        });
    }
    let cases = tier::some(cases, 2);
    compare("msp430_rows", &cases, &mut random);
}

/// Two marks that are cleared if what is before them does not jump behind the first.
fn marked(insn: Insn, base: u8) -> Vec<Insn> {
    let zero = Source::Constant(0);
    let clear = |place| Insn::two(Op::MOV, zero, Dest::Indexed(base, place));
    vec![insn, clear(MARK), clear(MARK + 2)]
}

#[test]
fn jumps_calls_and_flags_agree_with_mspdebug() {
    let mut random = tier::random(3);
    let base = 15;
    let mut cases = Vec::new();
    let mut add = |insn: Insn, holds: &[(u8, u16)]| {
        let mut case = Case::of(marked(insn, base), base);
        case.holds.extend(holds);
        case.counts = false;
        cases.push(case);
    };
    for form in forms().iter().filter(|f| f.timing == Timing::Jump) {
        add(Insn::jump(form.op, 6), &[]);
    }
    let target = |bytes: u16| CODE + BODY + bytes + 4;
    let pc = Dest::Register(PC);
    add(Insn::one(Op::CALL, Source::Constant(target(4))), &[]);
    add(Insn::one(Op::CALL, Source::Register(7)), &[(7, target(2))]);
    add(Insn::two(Op::MOV, Source::Constant(target(4)), pc), &[]);
    add(
        Insn::two(Op::MOV, Source::Register(9), pc),
        &[(9, target(2))],
    );
    add(Insn::two(Op::ADD, Source::Constant(4), pc), &[]);
    // SR as it is written, and parts of it.
    for insn in [
        Insn::two(Op::MOV, Source::Register(8), Dest::Register(SR)),
        Insn::two(Op::BIS, Source::Register(8), Dest::Register(SR)),
        Insn::two(Op::BIC, Source::Register(8), Dest::Register(SR)),
        Insn::two(Op::BIC, Source::Constant(8), Dest::Register(SR)),
        Insn::two(Op::BIS, Source::Constant(1), Dest::Register(SR)),
        Insn::two(Op::CMP, Source::Register(8), Dest::Register(SR)),
        Insn::two(Op::BIT, Source::Constant(8), Dest::Register(SR)),
    ] {
        let mut case = Case::of(vec![insn], base);
        case.masked.push((8, FLAGS));
        case.counts = false;
        cases.push(case);
    }
    // RET and RETI to what was pushed, and a subroutine.
    let push = |source| Insn::one(Op::PUSH, source);
    let mut back = vec![push(Source::Constant(target(10)))];
    back.extend(marked(Insn::ret(), base));
    let mut reti = vec![
        push(Source::Constant(target(12))),
        push(Source::Register(8)),
    ];
    reti.extend(marked(Insn::new(Op::RETI, Default::default()), base));
    for body in [back, reti] {
        let mut case = Case::of(body, base);
        case.masked.push((8, FLAGS));
        case.counts = false;
        cases.push(case);
    }
    compare("msp430_jumps", &cases, &mut random);
}

/// SP rises by 2 whatever the operands' size (SLAU144, POP: "independent of the byte suffix"); mspdebug takes 1.
#[test]
fn a_byte_off_the_stack_leaves_it_even() {
    let insn = Insn::pop(Dest::Register(5)).sized(Size::Byte);
    let code = Msp430Isa::encode(core(), &[insn]).expect("code");
    let mut m = Msp430::new(Concrete::new(0x1000), None, core().irq);
    m.r[usize::from(SP)].0 = 0x800;
    m.d.memory[0x800..0x802].copy_from_slice(&[0xab, 0xcd]);
    let run = Decoded::new(&code, core()).run(&mut m, code.len(), 10);
    run.expect("a run");
    assert_eq!([m.r(5).0, m.r(SP).0], [0xab, 0x802]);
}

#[test]
fn decimal_sums_agree_with_mspdebug() {
    let mut random = tier::random(4);
    let digits = |random: &mut Random| (0..4).fold(0, |all, _| all << 4 | random.below(10) as u16);
    let mut cases = Vec::new();
    for size in [Size::Word, Size::Byte] {
        for _ in 0..tier::times(20) {
            let insn = Insn::two(Op::DADD, Source::Register(5), Dest::Register(6)).sized(size);
            // V is undefined: other flags only.
            let sum = Insn::two(Op::ADDC, Source::Register(7), Dest::Register(8));
            let mut case = Case::of(vec![insn, sum], 15);
            case.holds.push((5, digits(&mut random)));
            case.holds.push((6, digits(&mut random)));
            cases.push(case);
        }
    }
    compare("msp430_decimal", &cases, &mut random);
}

/// Operands, results in turn: all four operations, one first factor for two products, results that are written.
#[test]
fn the_multiplier_agrees_with_mspdebug() {
    let mut random = tier::random(5);
    let at = |offset: u16| MULTIPLIER + offset;
    let write =
        |r: u8, offset: u16| Insn::two(Op::MOV, Source::Register(r), Dest::Absolute(at(offset)));
    let read =
        |r: u8, offset: u16| Insn::two(Op::MOV, Source::Absolute(at(offset)), Dest::Register(r));
    let mut cases = Vec::new();
    for _ in 0..tier::times(60) {
        let mut body = vec![write(4, 0x0a), write(5, 0x0c)];
        for pair in 0..2 {
            body.push(write(6 + pair, 2 * random.below(4) as u16));
            body.push(write(8, 0x08));
            if random.below(2) == 1 {
                body.push(write(9, 0x08));
            }
        }
        body.extend([
            read(4, 0x0a),
            read(5, 0x0c),
            read(6, 0x0e),
            read(7, 0),
            read(8, 0x08),
        ]);
        cases.push(Case::of(body, 15));
    }
    compare("msp430_multiplier", &cases, &mut random);
}

/// What `body` does to a state, on an MSP430X: registers, flags but V, memory.
fn on_extended(body: &[Insn], state: &[u8]) -> ([u64; 16], [bool; 8], Vec<u8>) {
    let core = Core::named("msp430x").expect("a core");
    let code = Msp430Isa::encode(core, body).expect("code");
    let mut d = Concrete::new(0x1000);
    d.memory[0x800..0x800 + state.len()].copy_from_slice(state);
    let mut m = Msp430::new(d, None, core.irq);
    for r in 4..16 {
        m.r[r].0 = u64::from(u16::from_le_bytes([state[2 * r], state[2 * r + 1]]));
    }
    m.r[usize::from(SP)].0 = 0x900;
    m.flags[0] = state[4] & 1 == 1;
    let run = Decoded::new(&code, core).run(&mut m, code.len(), 100);
    run.unwrap_or_else(|(_, fault)| panic!("{fault}"));
    let flags = std::array::from_fn(|i| m.flags[i]);
    (m.r.map(|r| r.0), flags, m.d.memory)
}

/// The instructions of the MSP430X on several registers and bits do what as many of one do.
#[test]
fn instructions_of_several_agree_with_their_expansions() {
    let mut random = tier::random(7);
    for _ in 0..tier::times(500) {
        let low = 4 + random.below(12) as u8;
        let high = low + random.below(16 - usize::from(low)) as u8;
        let r = Dest::Register(low);
        let count = 1 + random.below(4);
        let add = Insn::two(Op::ADD, Source::Register(low), r);
        let clear = Insn::two(Op::BIC, Source::Constant(1), Dest::Register(SR));
        let one = |op| Insn::one(op, Source::Register(low));
        let push = |r| Insn::one(Op::PUSH, Source::Register(r));
        let pop = |r| Insn::pop(Dest::Register(r));
        for (whole, parts) in [
            (
                Insn::several(Op::PUSHM, low, high),
                (low..=high).rev().map(push).collect::<Vec<_>>(),
            ),
            (
                Insn::several(Op::POPM, low, high),
                (low..=high).map(pop).collect(),
            ),
            (
                Insn::shift(Op::RRCM, low, count as u8),
                vec![one(Op::RRC); count],
            ),
            (
                Insn::shift(Op::RRAM, low, count as u8),
                vec![one(Op::RRA); count],
            ),
            (Insn::shift(Op::RLAM, low, count as u8), vec![add; count]),
            (
                Insn::shift(Op::RRUM, low, count as u8),
                [clear, one(Op::RRC)].repeat(count),
            ),
        ] {
            let state: Vec<u8> = (0..512).map(|_| random.draw() as u8).collect();
            let text = whole.text();
            assert!(
                on_extended(&[whole], &state) == on_extended(&parts, &state),
                "{text}"
            );
        }
    }
}

/// What the table says an instruction reads and writes is what its meaning reads and writes.
#[test]
fn data_flow_is_what_the_meaning_does() {
    let rows = table::<Concrete>();
    let mut random = tier::random(6);
    let forms = forms().iter();
    let plain = |timing| {
        matches!(
            timing,
            Timing::Two | Timing::Once | Timing::One | Timing::Push
        )
    };
    for form in forms.filter(|f| plain(f.timing)) {
        let written = form.timing == Timing::One;
        let cases = match form.timing {
            Timing::One | Timing::Push => of_one(form.op, written, &mut random),
            _ => of_two(form.op, &mut random),
        };
        for case in cases {
            let insn = case.body[0];
            let (reads, writes) = (insn.reads(), insn.writes());
            let states = case.states(&mut random);
            let mut registers: [u16; 16] =
                std::array::from_fn(|r| u16::from_le_bytes([states[2 * r], states[2 * r + 1]]));
            let run = |registers: &[u16; 16]| {
                let mut d = Concrete::new(0x1_0000);
                d.memory[STATES..STATES + states.len()].copy_from_slice(&states);
                let mut m = Msp430::new(d, None, core().irq);
                for (r, value) in registers.iter().enumerate().skip(1) {
                    m.r[r].0 = u64::from(*value);
                }
                m.flags[0] = registers[usize::from(SR)] & 1 == 1;
                (m.pc, m.next) = (usize::from(CODE + BODY), usize::from(CODE + BODY + 2));
                let flow = rows[form.op as usize].meaning;
                let flow =
                    flow(&mut m, &insn.ops).unwrap_or_else(|e| panic!("{}: {e}", insn.text()));
                (flow, m.r.map(|r| r.0), m.d.memory, m.flags)
            };
            let (flow, mut expected, memory, flags) = run(&registers);
            for r in (4..16).filter(|r| reads >> r & 1 == 0) {
                registers[r] ^= 0x5a5a;
                if writes >> r & 1 == 0 {
                    expected[r] ^= 0x5a5a;
                }
            }
            let after = run(&registers);
            assert_eq!((flow, expected), (after.0, after.1), "{}", insn.text());
            assert!(memory == after.2 && flags == after.3, "{}", insn.text());
            // Flags that it does not write stay.
            let changed = (0..4).zip([0, 1, 2, 8]).any(|(place, flag)| {
                let before = flag == 0 && registers[usize::from(SR)] & 1 == 1;
                writes >> (16 + place) & 1 == 0 && after.3[flag] != before
            });
            assert!(!changed, "{}", insn.text());
        }
    }
}
