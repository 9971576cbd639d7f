//! Every row of the MIPS32 table against unicorn (QEMU), on random and edge states.
//!
//! Both run the same loop over many states: load all registers, HI and LO; execute the
//! instruction; store all registers, HI and LO. Then all memory must be the same. Where an
//! instruction is an extension, unicorn runs an expansion into MIPS32 instead.

use lozenge::domain::concrete::Concrete;
use lozenge::fault::Fault;
use lozenge::isa::Isa;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::{Form, HI, Insn, LO, forms};
use lozenge::isa::mips::cores::{Core, Features};
use lozenge::isa::mips::instructions::{Feature, Op, Ops, Timing, table};
use lozenge::isa::mips::machine::{Flow, Mips};
use lozenge::isa::mips::run::Decoded;
use lozenge::vectors::Random;

use crate::kit::oracle::{self, Dialogue};
use crate::kit::tier;
use crate::kit::words::word;

/// Where states lie, and the places in one: registers in, HI, LO, next state, data, marks, registers out, HI, LO.
const STATES: usize = 0x8000;
const HI_IN: i32 = 128;
const LO_IN: i32 = 132;
const NEXT: i32 = 136;
const DATA: i32 = 144;
const MARK: i32 = 176;
const OUT: i32 = 192;
const HI_OUT: i32 = 320;
const LO_OUT: i32 = 324;
const SIZE: i32 = 336;
/// Instructions before the one under test: its index, if the base is set in two.
const BODY: usize = 36;
/// States for each choice of operands, and choices for each row.
const COUNT: usize = 500;
const CHOICES: usize = 20;

fn memory(op: Op, t: u8, base: u8, at: i32) -> Insn {
    Insn::immediate(op, t, base, at)
}

fn three(op: Op, d: u8, s: u8, t: u8) -> Insn {
    Insn::three(op, d, s, t)
}

/// The loop around `body`, with its pointer in `base`.
fn around(body: &[Insn], base: u8, with_hi_lo: bool) -> Vec<Insn> {
    let all = || (1..32u8).filter(|r| *r != base);
    let mut code = vec![
        Insn::immediate(Op::LUI, base, 0, (STATES >> 16) as i32),
        Insn::immediate(Op::ORI, base, base, (STATES & 0xffff) as i32),
        memory(Op::LW, 1, base, HI_IN),
        three(Op::MTHI, 0, 1, 0),
        memory(Op::LW, 1, base, LO_IN),
        three(Op::MTLO, 0, 1, 0),
    ];
    code.extend(all().map(|r| memory(Op::LW, r, base, 4 * i32::from(r))));
    assert_eq!(code.len(), BODY);
    code.extend(body);
    code.extend(all().map(|r| memory(Op::SW, r, base, OUT + 4 * i32::from(r))));
    if with_hi_lo {
        code.push(three(Op::MFHI, 1, 0, 0));
        code.push(memory(Op::SW, 1, base, HI_OUT));
        code.push(three(Op::MFLO, 1, 0, 0));
        code.push(memory(Op::SW, 1, base, LO_OUT));
    }
    code.push(memory(Op::LW, 1, base, NEXT));
    let mut again = three(Op::BNE, 0, 1, 0);
    again.ops.k = 2 - (code.len() as i32 + 1);
    code.push(again);
    code.push(three(Op::ADDU, base, 1, 0));
    code
}

/// What a state must have so that `insn` can run.
fn prepare(insn: &Insn, at: u32, registers: &mut [u32; 32], random: &mut Random) {
    let Ops { s, t, k, .. } = insn.ops;
    let [s, t] = [s, t].map(usize::from);
    match insn.op {
        // No overflow exception.
        Op::ADD | Op::ADDI | Op::SUB => {
            for r in [s, t] {
                registers[r] = ((registers[r] as i32) >> 2) as u32;
            }
        }
        Op::DIV | Op::DIVU if registers[t] == 0 => registers[t] = 3,
        Op::JR | Op::JALR => registers[s] = 4 * (BODY as u32 + 3),
        _ if matches!(insn.form().timing, Timing::Load | Timing::Store) => {
            let align = match insn.op {
                Op::LW | Op::SW | Op::LWI => 4,
                Op::LH | Op::LHU | Op::SH => 2,
                _ => 1,
            };
            let offset = random.below(32 / align) * align;
            let k = if insn.op == Op::LWI { 0 } else { k };
            registers[s] = (at + DATA as u32 + offset as u32).wrapping_sub(k as u32);
        }
        _ => {}
    }
}

/// [`COUNT`] states, one after the other.
fn states(insn: &Insn, big: bool, random: &mut Random) -> Vec<u8> {
    let mut words: Vec<u32> = Vec::new();
    for i in 0..COUNT {
        let at = (STATES + i * SIZE as usize) as u32;
        let mut registers = [0; 32].map(|_: u32| word(random));
        registers[0] = 0;
        prepare(insn, at, &mut registers, random);
        let start = words.len();
        words.extend(registers);
        words.extend([word(random), word(random)]);
        words.push(if i + 1 < COUNT { at + SIZE as u32 } else { 0 });
        words.resize(start + SIZE as usize / 4, 0);
        for j in 0..8 {
            words[start + DATA as usize / 4 + j] = random.draw() as u32;
        }
        words[start + MARK as usize / 4..][..2].fill(1);
    }
    words
        .into_iter()
        .flat_map(|w| {
            if big {
                w.to_be_bytes()
            } else {
                w.to_le_bytes()
            }
        })
        .collect()
}

/// The data after our machine ran `code`.
fn ours(core: &Core, code: &[u8], data: &[u8]) -> Vec<u8> {
    let mut d = Concrete::new(STATES + data.len());
    d.big_endian = core.big_endian;
    d.memory[STATES..].copy_from_slice(data);
    let wide = core.features.has(Feature::WideAcc);
    let mut m = Mips::new(d, wide, core.big_endian);
    let run = Decoded::new(code, core).run(&mut m, code.len(), u64::MAX);
    run.unwrap_or_else(|(pc, fault)| panic!("{fault} at {pc:#x}"));
    m.d.memory[STATES..].to_vec()
}

/// Runs `our` instructions here and `their` instructions there, from the same states.
fn compare(
    unicorn: &mut Dialogue,
    core: &Core,
    [our, their]: [&[Insn]; 2],
    base: u8,
    with_hi_lo: bool,
    random: &mut Random,
) {
    let data = states(&our[0], core.big_endian, random);
    let plain = Core {
        features: Features::NONE,
        ..core.clone()
    };
    let our_code = MipsIsa::encode(core, &around(our, base, with_hi_lo)).unwrap();
    let their_code = MipsIsa::encode(&plain, &around(their, base, with_hi_lo)).unwrap();
    let here = ours(core, &our_code, &data);
    let there = oracle::on_mips(unicorn, core.big_endian, &their_code, STATES, &data);
    assert_ne!(there, data, "unicorn ran nothing");
    if let Some(at) = (0..here.len()).find(|i| here[*i] != there[*i]) {
        let (state, place) = (at / SIZE as usize, at % SIZE as usize);
        let read = |data: &[u8], place: usize| {
            let at = state * SIZE as usize + place / 4 * 4;
            let bytes: [u8; 4] = data[at..at + 4].try_into().unwrap();
            match core.big_endian {
                true => u32::from_be_bytes(bytes),
                false => u32::from_le_bytes(bytes),
            }
        };
        let Ops { s, t, d, .. } = our[0].ops;
        let from = [s, t, d].map(|r| read(&data, 4 * usize::from(r)));
        panic!(
            "{}: s, t, d = {from:x?}: we have {:#x}, unicorn {:#x} at {place} of the state",
            our[0].text(),
            read(&here, place),
            read(&there, place),
        );
    }
}

/// A register that is none of `taken`.
fn other(taken: &[u8], random: &mut Random) -> u8 {
    loop {
        let r = 1 + random.below(31) as u8;
        if !taken.contains(&r) {
            return r;
        }
    }
}

/// An instruction of the form that the loop can run: it leaves the pointer alone.
fn instruction(form: &Form, base: u8, random: &mut Random) -> Insn {
    loop {
        let mut numbers = Vec::new();
        for (letter, least, most, step) in form.ranges() {
            let number = match (letter, form.op) {
                ('o', _) => 2,
                ('j', _) => BODY as i64 + 3,
                _ => least + step * random.below(((most - least) / step + 1) as usize) as i64,
            };
            numbers.push((letter, number));
        }
        let insn = form.with(&numbers);
        let Ops { s, t, d, .. } = insn.ops;
        let touched = insn.reads() | insn.writes();
        let free = touched >> base & 1 == 0;
        let addressed = matches!(form.timing, Timing::Load | Timing::Store | Timing::Jump);
        let possible = match form.op {
            Op::J | Op::JAL => true,
            Op::JR | Op::JALR => s != 0 && s != d,
            Op::LWI => s != 0 && s != t,
            Op::BLTZAL | Op::BGEZAL | Op::BLTZALL | Op::BGEZALL => s != 31,
            Op::DIV | Op::DIVU => t != 0,
            _ => !addressed || s != 0,
        };
        if free && possible {
            return insn;
        }
    }
}

fn core(features: Features, big_endian: bool) -> Core {
    let core = Core::named("mips-4km").unwrap();
    Core {
        features,
        big_endian,
        ..core
    }
}

/// HI, LO and `scratch` as the state has them.
fn restore(base: u8, scratch: &[u8], hi_lo: bool) -> Vec<Insn> {
    let mut list = Vec::new();
    if hi_lo {
        let r = scratch[0];
        list.push(memory(Op::LW, r, base, HI_IN));
        list.push(three(Op::MTHI, 0, r, 0));
        list.push(memory(Op::LW, r, base, LO_IN));
        list.push(three(Op::MTLO, 0, r, 0));
    }
    list.extend(
        scratch
            .iter()
            .map(|r| memory(Op::LW, *r, base, 4 * i32::from(*r))),
    );
    list
}

#[test]
fn base_rows_agree_with_unicorn() {
    let mut unicorn = Dialogue::with(oracle::in_python("mips_unicorn.py"));
    let mut random = tier::random(1);
    let mut rows = 0;
    let base_rows = forms().iter().filter(|f| f.feature == Feature::Base);
    for form in base_rows.filter(|f| f.timing != Timing::Trap) {
        let in_memory = matches!(form.timing, Timing::Load | Timing::Store);
        for big in [false, true] {
            if big && !in_memory {
                continue;
            }
            for choice in 0..tier::times(CHOICES) {
                let base = [26, 3][choice % 2];
                let insn = instruction(form, base, &mut random);
                let mut body = vec![insn];
                if matches!(form.timing, Timing::Branch | Timing::Jump) {
                    body.push(memory(Op::SW, 0, base, MARK));
                    body.push(memory(Op::SW, 0, base, MARK + 4));
                }
                let core = core(Features::NONE, big);
                let hi_lo = form.op != Op::MUL;
                compare(
                    &mut unicorn,
                    &core,
                    [&body, &body],
                    base,
                    hi_lo,
                    &mut random,
                );
            }
        }
        rows += 1;
    }
    println!("{rows} rows, {} states each", tier::times(CHOICES) * COUNT);
    assert_eq!(rows, 73, "rows of the table that run");
}

#[test]
fn extensions_agree_with_their_expansions() {
    let mut unicorn = Dialogue::with(oracle::in_python("mips_unicorn.py"));
    let mut random = tier::random(2);
    for choice in 0..tier::times(CHOICES) {
        let base = [26, 3][choice % 2];
        let big = choice % 4 > 1;
        let core = core(Features::ALL, big);
        let mut taken = vec![base];
        let mut fresh = |random: &mut Random| {
            let r = other(&taken, random);
            taken.push(r);
            r
        };
        let [s, t, u, v, w, x, y, z] = [0; 8].map(|_| fresh(&mut random));

        // LWI is a load and an addition.
        let lwi = instruction(&forms()[Op::LWI as usize], base, &mut random);
        let Ops { s: p, t: q, k, .. } = lwi.ops;
        let their = [
            memory(Op::LW, q, p, 0),
            Insn::immediate(Op::ADDIU, p, p, 4 * k),
        ];
        compare(
            &mut unicorn,
            &core,
            [&[lwi], &their],
            base,
            true,
            &mut random,
        );

        // MUL keeps HI and LO.
        let mul = three(Op::MUL, s, t, u);
        let their = [vec![mul], restore(base, &[v], true)].concat();
        compare(
            &mut unicorn,
            &core,
            [&[mul], &their],
            base,
            true,
            &mut random,
        );

        // MADDL, MADDH: the addends times 1.
        for (op, half) in [(Op::MADDL, Op::MFLO), (Op::MADDH, Op::MFHI)] {
            let pair = loop {
                let p = 2 * random.below(16) as u8;
                if ![base, v].contains(&p) && ![base, v].contains(&(p + 1)) {
                    break p;
                }
            };
            let our = Insn::row(op, s, t, u, pair);
            let mut their = vec![
                three(Op::MULTU, 0, t, u),
                Insn::immediate(Op::ADDIU, v, 0, 1),
                three(Op::MADDU, 0, pair, v),
                three(Op::MADDU, 0, pair + 1, v),
                three(half, s, 0, 0),
            ];
            their.extend(restore(base, &[v], true));
            compare(
                &mut unicorn,
                &core,
                [&[our], &their],
                base,
                true,
                &mut random,
            );
        }

        // MADDU, M2ADDU and SHA with guard bits: here a register counts what leaves HI.
        let add = |p: u8, q: u8| {
            [
                three(Op::MFHI, x, 0, 0),
                three(Op::MADDU, 0, p, q),
                three(Op::MFHI, y, 0, 0),
                three(Op::SLTU, z, y, x),
                three(Op::ADDU, w, w, z),
            ]
        };
        let shift = [
            three(Op::MFHI, x, 0, 0),
            three(Op::MTLO, 0, x, 0),
            three(Op::MTHI, 0, w, 0),
            three(Op::ADDU, w, 0, 0),
        ];
        let maddu = |p: u8, q: u8| three(Op::MADDU, 0, p, q);
        let sha = three(Op::SHA, 0, 0, 0);
        let our = [
            maddu(s, t),
            maddu(u, v),
            three(Op::M2ADDU, 0, s, v),
            maddu(t, u),
            sha,
            maddu(s, u),
            three(Op::M2ADDU, 0, t, t),
            sha,
        ];
        let mut their = vec![three(Op::ADDU, w, 0, 0)];
        for (p, q) in [(s, t), (u, v), (s, v), (s, v), (t, u)] {
            their.extend(add(p, q));
        }
        their.extend(shift);
        for (p, q) in [(s, u), (t, t), (t, t)] {
            their.extend(add(p, q));
        }
        their.extend(shift);
        their.extend(restore(base, &[w, x, y, z], false));
        compare(&mut unicorn, &core, [&our, &their], base, true, &mut random);
    }
}

/// What the table says an instruction reads and writes is what its meaning reads and writes.
#[test]
fn data_flow_is_what_the_meaning_does() {
    let rows = table::<Concrete>();
    let mut random = tier::random(3);
    for form in forms().iter().filter(|f| f.timing != Timing::Trap) {
        for _ in 0..tier::times(200) {
            let insn = instruction(form, 26, &mut random);
            let (reads, writes) = (insn.reads(), insn.writes());
            let mut registers = [0; 32].map(|_: u32| word(&mut random));
            prepare(&insn, 0, &mut registers, &mut random);
            let mut accumulator = [word(&mut random), word(&mut random)];
            let run = |registers: &[u32; 32], accumulator: [u32; 2]| {
                let mut d = Concrete::new(1024);
                for (i, byte) in d.memory.iter_mut().enumerate() {
                    *byte = (i * 37 + 11) as u8;
                }
                let mut m = Mips::new(d, true, false);
                for (r, value) in registers.iter().enumerate().skip(1) {
                    m.r[r] = m.d_known(*value);
                }
                let [lo, hi] = accumulator.map(|k| m.d_known(k));
                m.set_hi(hi).unwrap();
                m.set_lo(lo).unwrap();
                let flow: Flow = (rows[insn.op as usize].meaning)(&mut m, &insn.ops).unwrap();
                let mut state: Vec<u64> = m.r.iter().map(|r| r.0).collect();
                state.push(m.hi().unwrap().0 | m.guard().0 << 32);
                state.push(m.lo().unwrap().0);
                (flow, state, m.d.memory)
            };
            let (flow, before, store) = run(&registers, accumulator);
            // Change what it does not read.
            let mut expected = before.clone();
            for r in 1..32 {
                if reads >> r & 1 == 0 {
                    registers[r] ^= 0x5a5a_a5a5;
                    if writes >> r & 1 == 0 {
                        expected[r] ^= 0x5a5a_a5a5;
                    }
                }
            }
            for (i, place) in [LO, HI].into_iter().enumerate() {
                if reads & place == 0 {
                    accumulator[i] ^= 0x5a5a_a5a5;
                    if writes & place == 0 {
                        expected[33 - i] ^= 0x5a5a_a5a5;
                    }
                }
            }
            let (flow_after, after, store_after) = run(&registers, accumulator);
            assert_eq!(
                (flow, &expected, store),
                (flow_after, &after, store_after),
                "{}",
                insn.text()
            );
        }
    }
}

#[test]
fn what_cannot_run_says_so() {
    let core = core(Features::NONE, false);
    let fault = |insns: &[Insn], registers: &[(usize, u64)]| {
        let code = MipsIsa::encode(&core, insns).unwrap();
        let mut m = Mips::new(Concrete::new(64), false, false);
        for (r, value) in registers {
            m.r[*r] = lozenge::domain::concrete::Bits(*value);
        }
        let run = Decoded::new(&code, &core).run(&mut m, code.len(), 100);
        run.unwrap_err().1.to_string()
    };
    for form in forms().iter().filter(|f| f.timing == Timing::Trap) {
        let text = fault(&[form.with(&[])], &[]);
        assert!(text.starts_with("a ") || text.starts_with("SYNC"), "{text}");
    }
    let add = three(Op::ADD, 2, 3, 4);
    assert!(fault(&[add], &[(3, 0x7fff_ffff), (4, 1)]).contains("overflow"));
    assert!(fault(&[three(Op::DIVU, 0, 3, 4)], &[]).contains("division by 0"));
    let spoiled = [three(Op::MUL, 2, 3, 4), three(Op::MFLO, 2, 0, 0)];
    assert!(fault(&spoiled, &[]).contains("unpredictable"));
    let branch = three(Op::BEQ, 0, 0, 0);
    assert!(fault(&[branch, branch], &[]).contains("delay slot"));
    assert!(fault(&[memory(Op::LW, 2, 3, 2)], &[]).contains("not aligned"));
    // An extension instruction is none on a core without it.
    let wide = core.clone().with(Feature::WideAcc);
    let code = MipsIsa::encode(&wide, &[three(Op::SHA, 0, 0, 0)]).unwrap();
    assert_eq!(MipsIsa::decode(&core, &code), Err(0));
    assert_eq!(MipsIsa::decode(&wide, &code).unwrap().len(), 1);
    let mut m = Mips::new(Concrete::new(4), false, false);
    let stopped = Decoded::new(&code, &core).run(&mut m, 4, 100).unwrap_err();
    assert_eq!(stopped.1, Fault::Unsupported("not an instruction".into()));
}

/// A word for a machine on numbers.
trait Known {
    fn d_known(&mut self, value: u32) -> lozenge::domain::concrete::Bits<32>;
}

impl Known for Mips<Concrete> {
    fn d_known(&mut self, value: u32) -> lozenge::domain::concrete::Bits<32> {
        lozenge::domain::concrete::Bits(u64::from(value))
    }
}
