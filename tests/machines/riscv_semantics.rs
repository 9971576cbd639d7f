//! Every row of the RV32 table and every form of 16 bits against unicorn (QEMU), on random and edge states.
//!
//! Both run the same loop over many states: load all registers; execute the instruction; store all registers. Then all
//! memory must be the same.

use lozenge::domain::concrete::Concrete;
use lozenge::fault::Fault;
use lozenge::isa::Isa;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::code::{Form, Insn, forms};
use lozenge::isa::riscv::cores::Core;
use lozenge::isa::riscv::instructions::{Op, Ops, Timing, table};
use lozenge::isa::riscv::machine::Riscv;
use lozenge::isa::riscv::run::Decoded;
use lozenge::isa::words::Words;
use lozenge::vectors::Random;

use crate::kit::oracle::{self, Dialogue};
use crate::kit::tier;
use crate::kit::words::word;

/// Where states lie, and the places in one: registers in, next state, data, marks, registers out.
const STATES: usize = 0x8000;
const NEXT: i32 = 128;
const DATA: i32 = 144;
const MARK: i32 = 176;
const OUT: i32 = 192;
const SIZE: i32 = 320;
/// Bytes before the instruction under test.
const BODY: i32 = 4 * 31;
/// States for each choice of operands, and choices for each row.
const COUNT: usize = 500;
const CHOICES: usize = 20;

fn load(r: u8, base: u8, at: i32) -> Insn {
    Insn::immediate(Op::LW, r, base, at)
}

fn store(r: u8, base: u8, at: i32) -> Insn {
    Insn::store(Op::SW, r, base, at)
}

/// The loop around `body`, with its pointer in `base`.
fn around(body: &[Insn], base: u8) -> Vec<Insn> {
    let all = || (1..32u8).filter(|r| *r != base);
    let mut code = vec![Insn::immediate(Op::LUI, base, 0, STATES as i32)];
    code.extend(all().map(|r| load(r, base, 4 * i32::from(r))));
    assert_eq!(4 * code.len() as i32, BODY);
    code.extend(body);
    code.extend(all().map(|r| store(r, base, OUT + 4 * i32::from(r))));
    code.push(load(base, base, NEXT));
    let bytes: usize = code.iter().map(Insn::bytes).sum();
    code.push(Insn::store(Op::BNE, 0, base, 4 - bytes as i32));
    code
}

/// What a state must have so that `insn` can run.
fn prepare(insn: &Insn, at: u32, registers: &mut [u32; 32], random: &mut Random) {
    let Ops { s, k, .. } = insn.ops;
    let align = match (insn.full().op, insn.form().timing) {
        (Op::JALR, _) => {
            // To the second mark; the lowest bit of the sum does not count.
            let to = BODY + insn.bytes() as i32 + 4 + random.below(2) as i32;
            registers[usize::from(s)] = (to - k) as u32;
            return;
        }
        (Op::LW | Op::SW, _) => 4,
        (Op::LH | Op::LHU | Op::SH, _) => 2,
        (_, Timing::LoadNarrow | Timing::Store) => 1,
        _ => return,
    };
    let offset = random.below(32 / align) * align;
    registers[usize::from(s)] = (at + DATA as u32 + offset as u32).wrapping_sub(k as u32);
}

/// [`COUNT`] states, one after the other.
fn states(insn: &Insn, random: &mut Random) -> Vec<u8> {
    let mut words: Vec<u32> = Vec::new();
    for i in 0..COUNT {
        let at = (STATES + i * SIZE as usize) as u32;
        let mut registers = [0; 32].map(|_: u32| word(random));
        prepare(insn, at, &mut registers, random);
        let start = words.len();
        words.extend(registers);
        words.push(if i + 1 < COUNT { at + SIZE as u32 } else { 0 });
        words.resize(start + SIZE as usize / 4, 0);
        for j in 0..8 {
            words[start + DATA as usize / 4 + j] = random.draw() as u32;
        }
        words[start + MARK as usize / 4..][..2].fill(1);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The data after our machine ran `code`.
fn ours(core: &Core, code: &[u8], data: &[u8]) -> Vec<u8> {
    let mut d = Concrete::new(STATES + data.len());
    d.memory[STATES..].copy_from_slice(data);
    let mut m = Riscv::new(d, core.features);
    let run = Decoded::new(code, core).run(&mut m, code.len(), u64::MAX);
    run.unwrap_or_else(|(pc, fault)| panic!("{fault} at {pc:#x}"));
    m.d.memory[STATES..].to_vec()
}

fn compare(unicorn: &mut Dialogue, insn: Insn, base: u8, random: &mut Random) {
    let core = Core::named("rv32imc").unwrap();
    let mut body = vec![insn];
    if insn.form().timing == Timing::JumpRegister || insn.branch().is_some() {
        body.extend([store(0, base, MARK), store(0, base, MARK + 4)]);
    }
    let data = states(&insn, random);
    let code = RiscvIsa::encode(core, &around(&body, base)).unwrap();
    let here = ours(core, &code, &data);
    let there = oracle::on_riscv(unicorn, &code, STATES, &data);
    assert_ne!(there, data, "unicorn ran nothing");
    if let Some(at) = (0..here.len()).find(|i| here[*i] != there[*i]) {
        let (state, place) = (at / SIZE as usize, at % SIZE as usize);
        let read = |data: &[u8], place: usize| {
            let at = state * SIZE as usize + place / 4 * 4;
            u32::from_le_bytes(data[at..at + 4].try_into().unwrap())
        };
        let Ops { s, t, d, .. } = insn.ops;
        let from = [s, t, d].map(|r| read(&data, 4 * usize::from(r)));
        panic!(
            "{}: s, t, d = {from:x?}: we have {:#x}, unicorn {:#x} at {place} of the state",
            insn.text(),
            read(&here, place),
            read(&there, place),
        );
    }
}

/// An instruction of the form that the loop can run: it leaves the pointer alone.
fn instruction(form: &Form, base: u8, random: &mut Random) -> Insn {
    let addressed = matches!(
        form.timing,
        Timing::Load | Timing::LoadNarrow | Timing::Store | Timing::JumpRegister
    );
    loop {
        let number = |(letter, least, most, step): (char, i64, i64, i64)| {
            let number = match letter {
                // To the second mark.
                'b' | 'j' => form.bytes as i64 + 4,
                _ => least + step * random.below(((most - least) / step + 1) as usize) as i64,
            };
            (letter, number)
        };
        let numbers: Vec<_> = form.ranges().into_iter().map(number).collect();
        let insn = form.with(&numbers);
        let touched = insn.reads() | insn.writes();
        let free = touched >> base & 1 == 0;
        if free && insn.code().is_ok() && (!addressed || insn.ops.s != 0) {
            return insn;
        }
    }
}

#[test]
fn rows_agree_with_unicorn() {
    let mut unicorn = Dialogue::with(oracle::in_python("riscv_unicorn.py"));
    let mut random = tier::random(1);
    let mut rows = 0;
    for form in forms().iter().filter(|f| f.timing != Timing::Trap) {
        for choice in 0..tier::times(CHOICES) {
            let base = [26, 7][choice % 2];
            let insn = instruction(form, base, &mut random);
            compare(&mut unicorn, insn, base, &mut random);
        }
        rows += 1;
    }
    println!("{rows} rows, {} states each", tier::times(CHOICES) * COUNT);
    assert_eq!(rows, 45 + 26, "rows of the tables that run");
}

/// What the table says an instruction reads and writes is what its meaning reads and writes.
#[test]
fn data_flow_is_what_the_meaning_does() {
    let rows = table::<Concrete>();
    let core = Core::named("rv32imc").unwrap();
    let mut random = tier::random(3);
    for form in forms().iter().filter(|f| f.timing != Timing::Trap) {
        for _ in 0..tier::times(200) {
            let insn = instruction(form, 26, &mut random);
            let (reads, writes) = (insn.reads(), insn.writes());
            let mut registers = [0; 32].map(|_: u32| word(&mut random));
            prepare(&insn, 0, &mut registers, &mut random);
            let run = |registers: &[u32; 32]| {
                let mut d = Concrete::new(1024);
                for (i, byte) in d.memory.iter_mut().enumerate() {
                    *byte = (i * 37 + 11) as u8;
                }
                let mut m = Riscv::new(d, core.features);
                for (r, value) in registers.iter().enumerate().skip(1) {
                    m.r[r] = m.word(*value as i32);
                }
                m.behind = insn.bytes();
                let meaning = rows[form.of as usize].meaning;
                let flow = meaning(&mut m, &insn.ops).unwrap();
                (flow, m.r.map(|r| r.0), m.d.memory)
            };
            let (flow, mut expected, store) = run(&registers);
            // Change what it does not read.
            for r in (1..32).filter(|r| reads >> r & 1 == 0) {
                registers[r] ^= 0x5a5a_a5a5;
                if writes >> r & 1 == 0 {
                    expected[r] ^= 0x5a5a_a5a5;
                }
            }
            let after = run(&registers);
            assert_eq!((flow, expected, store), after, "{}", insn.text());
        }
    }
}

/// What the code of `insns` does, run to its end with x5 to x7 as given.
fn run(core: &str, insns: &[Insn], registers: [u32; 3]) -> Result<[u32; 3], Fault> {
    let core = Core::named(core).unwrap();
    let code = RiscvIsa::encode(core, insns).unwrap();
    let mut m = Riscv::new(Concrete::new(0x1000), core.features);
    for (i, word) in registers.iter().enumerate() {
        m.r[5 + i] = m.word(*word as i32);
    }
    let ran = Decoded::new(&code, core).run(&mut m, code.len(), 100);
    ran.map_err(|(_, fault)| fault)?;
    Ok([5, 6, 7].map(|r| m.r(r).0 as u32))
}

#[test]
fn what_has_no_one_meaning_is_refused() {
    let misaligned = [Insn::immediate(Op::LW, 6, 5, 2)];
    assert!(matches!(
        run("rv32im", &misaligned, [0x100, 0, 0]),
        Err(Fault::Exception(_))
    ));
    let half = [Insn::immediate(Op::LH, 6, 5, 1)];
    assert!(matches!(
        run("rv32im", &half, [0x100, 0, 0]),
        Err(Fault::Exception(_))
    ));
    // A jump to half a word is one only where there are instructions of 16 bits.
    let skip = [
        Insn::immediate(Op::JAL, 0, 0, 6),
        Insn::three(Op::ADD, 6, 5, 5),
    ];
    assert!(matches!(
        run("rv32im", &skip, [1, 2, 3]),
        Err(Fault::Exception(_))
    ));
    for trap in [Op::ECALL, Op::EBREAK, Op::FENCE, Op::FENCEI, Op::CSRRW] {
        let code = [Insn::three(trap, 0, 0, 0)];
        assert!(
            matches!(run("rv32im", &code, [0; 3]), Err(Fault::Unsupported(_))),
            "{trap:?}"
        );
    }
    // x0 is 0, whatever is written to it.
    let zero = [Insn::three(Op::ADD, 0, 5, 5), Insn::three(Op::ADD, 6, 0, 7)];
    assert_eq!(run("rv32im", &zero, [9, 1, 4]), Ok([9, 4, 4]));
}

#[test]
fn cores_have_no_more_than_they_say() {
    let product = Insn::three(Op::MUL, 5, 6, 7);
    let high = Insn::three(Op::ADD, 5, 16, 7);
    let short = Insn::three(Op::ADD, 5, 5, 7).shortest_on(Core::named("rv32imc").unwrap().features);
    assert!(short.form().is_short());
    for (core, insn) in [("rv32i", product), ("rv32ec", high), ("rv32im", short)] {
        let core = Core::named(core).unwrap();
        assert!(RiscvIsa::encode(core, &[insn]).is_err());
        let all = Core::named("rv32imc").unwrap();
        let code = RiscvIsa::encode(all, &[insn]).unwrap();
        assert_eq!(RiscvIsa::decode(core, &code), Err(0));
        assert_eq!(RiscvIsa::decode(all, &code), Ok(vec![(0, insn)]));
    }
}
