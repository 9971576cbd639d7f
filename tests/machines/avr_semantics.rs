//! Every row of the instruction table against simavr's core: registers, flags, stack
//! pointer, program counter, cycles and memory after one instruction, from many states.
//!
//! The manual is DS40002198, *AVR Instruction Set Manual*.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Command;
use std::rc::Rc;

use lozenge::domain::concrete::{Bits, Concrete};
use lozenge::fault::Fault;
use lozenge::isa::Class;
use lozenge::isa::avr::code::{Form, Insn, forms};
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA2560, ATTINY85, Core};
use lozenge::isa::avr::instructions::{Op, Timing};
use lozenge::isa::avr::machine::Avr;
use lozenge::isa::avr::run::Decoded;
use lozenge::vectors::Random;

use crate::kit::oracle::{self, SIMAVR};
use crate::kit::tier;

/// How a row is judged where simavr 1.6 cannot simply run it.
enum Judge {
    /// simavr runs this instruction instead, which the manual gives the same meaning.
    As(&'static [u8]),
    /// Ours must refuse to run it and change nothing.
    Refuses,
    /// Only on the core with EIND.
    With22BitPc,
}

/// Every row that is not simply compared, and why.
#[rustfmt::skip]
const NOT_DIRECT: &[(Op, Judge, &str)] = &[
    (Op::ELPM, Judge::As(&[0x06, 0x90]), "simavr does not decode it; the manual: r0 implied, else as ELPM r0, Z"),
    (Op::SPM, Judge::Refuses, "rewrites the program; ours must refuse it"),
    (Op::SLEEP, Judge::Refuses, "waits for an interrupt; ours must refuse it, as nobody knows how long"),
    (Op::BREAK, Judge::Refuses, "stops for a debugger; ours must refuse it"),
    (Op::EIJMP, Judge::With22BitPc, "the manual: only with a 22-bit program counter; atmega2560"),
    (Op::EICALL, Judge::With22BitPc, "the manual: only with a 22-bit program counter; atmega2560"),
];

/// Operands left out, as the manual calls their result undefined: a pointer that moves and
/// is also the register loaded or stored.
fn undefined(insn: &Insn) -> bool {
    let form = insn.form();
    let other = insn.ops.d | insn.ops.r; // such rows have one of the two
    moving_pointer(form).is_some_and(|p| other == p || other == p + 1)
}

fn pointer(form: &Form) -> Option<u8> {
    let letter = form.syntax.chars().find(|c| "XYZ".contains(*c))?;
    Some(match letter {
        'X' => 26,
        'Y' => 28,
        _ => 30,
    })
}

fn moving_pointer(form: &Form) -> Option<u8> {
    let moves = form.syntax.contains(['+', '-']) && !form.syntax.contains("+q");
    pointer(form).filter(|_| moves)
}

/// The manual's result where simavr 1.6 is wrong, and what is wrong.
///
/// A skip adds a word and a cycle per word skipped; ADIW and SBIW are one word. simavr
/// looks at the skipped word through a mask without bit 9 and takes `1001 011x xxxx 11xx`
/// (ADIW, SBIW) for `1001 010k kkkk 11xk` (JMP, CALL); fixed after 1.6
/// (github.com/buserror/simavr/pull/361).
///
/// ST X, Rr is `(X) <- Rr`, X unchanged. simavr writes X back after the store, which
/// undoes a store to X's own bytes in the register file.
fn manual(insn: &Insn, next: u16, before: &State, got: After) -> Option<(After, Wrong)> {
    let (form, mut right) = (insn.form(), got);
    let skipped =
        matches!(form.timing, Timing::Skip | Timing::SkipIo) && got.state.pc > before.pc + 2;
    if skipped && next & 0xfe0c == 0x960c {
        right.state.pc = before.pc + 4;
        right.cycles = 2;
        return Some((
            right,
            "simavr skips two words over ADIW, SBIW, K % 16 >= 12",
        ));
    }
    let x = u16::from_le_bytes([before.r[26], before.r[27]]);
    if insn.op == Op::STX && (26..28).contains(&x) {
        right.state.r = before.r;
        right.state.r[usize::from(x)] = before.r[usize::from(insn.ops.r)];
        return Some((right, "simavr undoes ST X, Rr when X points at X"));
    }
    None
}

/// simavr's state of a core that runs.
const RUNNING: u8 = 2;

type Wrong = &'static str;

const DATA: usize = 0x10000;
/// Data memory that states touch, compared after each; the rest is compared per batch.
const WINDOWS: [std::ops::Range<usize>; 2] = [0x20..0x1100, 0xff00..DATA];
/// RAMPZ, EIND, SPL, SPH, SREG in data space: part of the state.
const SPECIAL: std::ops::Range<usize> = 0x5b..0x60;
const EDGES: [u8; 8] = [0x00, 0x01, 0x0f, 0x10, 0x7f, 0x80, 0xfe, 0xff];

/// Instructions of a row placed in flash, each followed by another; the second half with `Rd` other than `Rr`.
const PLACES: usize = 14 * 1024;
/// Far enough from address 0 for any relative jump.
const FIRST: usize = 2304;
const RANDOM_STATES: usize = 12 * 1024;

#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct State {
    r: [u8; 32],
    sreg: u8,
    rampz: u8,
    eind: u8,
    sp: u16,
    /// In bytes.
    pc: u32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct After {
    state: State,
    cycles: u64,
}

impl State {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.r);
        out.extend([self.sreg, self.rampz, self.eind, 0]);
        out.extend(u32::from(self.sp).to_le_bytes());
        out.extend(self.pc.to_le_bytes());
    }

    fn read(record: &[u8]) -> Self {
        let word = |i: usize| u16::from_le_bytes([record[i], record[i + 1]]);
        Self {
            r: record[..32].try_into().expect("32 registers"),
            sreg: record[32],
            rampz: record[33],
            eind: record[34],
            sp: word(36),
            pc: u32::from(word(40)) | u32::from(word(42)) << 16,
        }
    }

    fn enter(&self, m: &mut Avr<Concrete>) {
        for (a, byte) in [(0x3b, self.rampz), (0x3c, self.eind), (0x3f, self.sreg)] {
            m.r[0] = Bits(byte.into());
            m.store_io(a, 0).expect("I/O registers can be written");
        }
        m.r = self.r.map(|x| Bits(x.into()));
        m.sp = self.sp.to_le_bytes().map(|x| Bits(x.into()));
        m.pc = self.pc as usize;
    }

    fn leave(m: &mut Avr<Concrete>) -> Self {
        let mut io = |a| m.load_io(a).expect("I/O registers can be read").0 as u8;
        let (rampz, eind, sreg) = (io(0x3b), io(0x3c), io(0x3f));
        Self {
            r: m.r.map(|x| x.0 as u8),
            sreg,
            rampz,
            eind,
            sp: u16::from_le_bytes(m.sp.map(|x| x.0 as u8)),
            pc: m.pc as u32,
        }
    }
}

fn fill(rng: &mut Random, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&rng.draw().to_le_bytes()[..part.len()]);
    }
}

/// An address inside the windows: SRAM, its page boundaries, I/O, the register file, the top.
fn address(rng: &mut Random) -> u16 {
    (match rng.below(16) {
        0 | 1 => rng.below(0x20),
        2 | 3 => 0x20 + rng.below(0xe0),
        4 => 0xff00 + rng.below(0x100),
        5 => 0xffff,
        6 | 7 => 0x100 * (1 + rng.below(16)) - rng.below(2),
        _ => 0x100 + rng.below(0x1000),
    }) as u16
}

fn operands(rng: &mut Random, form: &Form, j: usize) -> Insn {
    loop {
        let mut values = Vec::new();
        for (letter, low, high, step) in form.ranges() {
            let count = ((high - low) / step + 1) as usize;
            let value = match letter {
                'K' if count == 256 => (j % 256) as i64,
                'k' if matches!(form.timing, Timing::LoadDirect | Timing::StoreDirect) => {
                    i64::from(address(rng))
                }
                'k' if rng.below(8) == 0 => [low, high, 0, high / 2][rng.below(4)],
                _ => low + step * rng.below(count) as i64,
            };
            values.push((letter, value));
        }
        let insn = form.with(&values);
        let same = form.syntax == "Rd, Rr" && insn.ops.d == insn.ops.r;
        if !undefined(&insn) && (j < PLACES / 2 || !same) {
            return insn;
        }
    }
}

/// A state for `insn`; number `i` of all pairs of operand bytes when `exhaustive`.
fn state(rng: &mut Random, insn: &Insn, core: &Core, i: usize, exhaustive: bool) -> State {
    let (form, ops) = (insn.form(), insn.ops);
    let (d, r) = (usize::from(ops.d), usize::from(ops.r));
    let mut s = State {
        sreg: (i / (RANDOM_STATES / 256)) as u8,
        rampz: rng.draw() as u8,
        eind: rng.draw() as u8,
        sp: rng.draw() as u16,
        ..State::default()
    };
    fill(rng, &mut s.r);
    if exhaustive {
        s.r[d] = (i >> 8) as u8;
        s.sreg = rng.draw() as u8 & 0xfe | (i >> 16) as u8 & 1;
        match form.timing {
            Timing::WordImmediate => s.r[d + 1] = i as u8,
            _ if form.syntax == "Rd, Rr" => s.r[r] = i as u8,
            _ if form.syntax == "Rd, K" => {} // the K of place `i` is `i % 256`
            _ => s.sreg = i as u8,
        }
        return s;
    }
    for place in [d, (d + 1) % 32, r, (r + 1) % 32] {
        if rng.below(2) == 0 {
            s.r[place] = EDGES[rng.below(EDGES.len())];
        }
    }
    if rng.below(8) == 0 {
        s.r[d] = s.r[r];
    }
    if form.timing == Timing::LoadProgram {
        s.rampz = rng.below(flash_size(core) >> 16) as u8;
        if rng.below(8) == 0 {
            s.r[30] = 0xff;
            s.r[31] = [0xff, 0x00][rng.below(2)];
        }
    } else if let Some(p) = pointer(form) {
        let own = u16::from(p)..u16::from(p) + 2;
        // A pointer that moves while it points at itself: the manual does not say in which order.
        let at = loop {
            let at = address(rng);
            if moving_pointer(form).is_none() || !own.contains(&at) {
                break at;
            }
        };
        let offset = if form.syntax.contains('-') { -1 } else { ops.k };
        let value = at.wrapping_sub(offset as u16).to_le_bytes();
        s.r[usize::from(p)..][..2].copy_from_slice(&value);
    }
    if form.class == Class::Frame {
        s.sp = match rng.below(16) {
            0 => 4 + rng.below(20),
            1 | 2 => 0x100 * (2 + rng.below(14)) - 3 + rng.below(6),
            3 => 0xfffc + rng.below(8),
            _ => 0x110 + rng.below(0xfe0),
        } as u16;
    }
    s
}

fn flash_size(core: &Core) -> usize {
    if core.pc_bytes == 3 { 0x40000 } else { 0x20000 }
}

/// How many states try all pairs of operand bytes, with both carries or all SREGs.
fn exhaustive_states(form: &Form, core: &Core) -> usize {
    match (form.timing, form.syntax) {
        _ if core != &ATMEGA128 => 0,
        (Timing::Alu | Timing::Multiply | Timing::Skip, "Rd, Rr" | "Rd, K") => 1 << 17,
        (Timing::Alu, "Rd" | "Rd, b") | (Timing::WordImmediate, _) => 1 << 16,
        _ => 0,
    }
}

#[derive(Default)]
struct Count {
    states: usize,
    cycles: BTreeSet<u64>,
    explained: BTreeMap<Wrong, usize>,
}

/// Puts `PLACES` instructions of `form` into flash: their word addresses, and the instructions.
fn place(rng: &mut Random, form: &Form, flash: &mut [u8]) -> Vec<(usize, Insn)> {
    let stride = flash.len() / 2 / (1 << 14);
    (0..PLACES)
        .map(|j| {
            let insn = operands(rng, form, j);
            let mut code = Vec::new();
            insn.encode(false, &mut code)
                .expect("operands in their ranges");
            let next = &forms()[rng.below(forms().len())];
            let any = rng.draw() as usize;
            let next = operands(rng, next, any);
            next.encode(false, &mut code)
                .expect("operands in their ranges");
            let at = FIRST + stride * j;
            flash[2 * at..][..code.len()].copy_from_slice(&code);
            (at, insn)
        })
        .collect()
}

fn check(core: &'static Core, form: &Form, count: &mut Count) {
    let judge = NOT_DIRECT.iter().find(|row| row.0 == form.op).map(|r| &r.1);
    if matches!(judge, Some(Judge::With22BitPc)) && core.pc_bytes == 2 {
        return;
    }
    let mut rng = tier::random(0x9e37_79b9 + 2 * form.op as u64 + core.pc_bytes as u64 % 2);
    let mut flash = vec![0; flash_size(core)];
    fill(&mut rng, &mut flash);
    let places = place(&mut rng, form, &mut flash);
    let code = Decoded::<Concrete>::new(&flash, core);
    if let Some(Judge::As(other)) = judge {
        for (at, _) in &places {
            flash[2 * at..][..other.len()].copy_from_slice(other);
        }
    }
    let mut memory = vec![0; DATA];
    fill(&mut rng, &mut memory);

    let mut states = Vec::new();
    let random = (0..tier::of([1, 1, 10])).flat_map(|_| 0..RANDOM_STATES);
    let pairs = RANDOM_STATES..RANDOM_STATES + exhaustive_states(form, core);
    for i in tier::some(random.chain(pairs), form.op as u64) {
        let (n, j) = match i.checked_sub(RANDOM_STATES) {
            Some(n) => (n, PLACES / 2 + n % (PLACES / 2)),
            None => (i, i),
        };
        let (at, insn) = &places[j];
        let mut s = state(&mut rng, insn, core, n, i >= RANDOM_STATES);
        s.pc = 2 * *at as u32;
        states.push((s, insn));
    }
    count.states += states.len();

    let mut m = Avr::new(Concrete::new(DATA), core.pc_bytes, Rc::from(&flash[..]));
    m.d.memory.copy_from_slice(&memory);
    if matches!(judge, Some(Judge::Refuses)) {
        for (s, insn) in &states {
            s.enter(&mut m);
            let refused = matches!(
                code.step(&mut m),
                Err((_, Fault::Unpredictable(_) | Fault::Unsupported(_)))
            );
            let same = State::leave(&mut m) == *s;
            assert!(refused && same, "{} is not refused", insn.text());
        }
        assert!(m.d.memory == memory, "{} changed memory", form.name);
        return;
    }

    let mut input = Vec::new();
    input.extend((flash.len() as u32).to_le_bytes());
    input.extend((states.len() as u32).to_le_bytes());
    input.extend_from_slice(&flash);
    input.extend_from_slice(&memory);
    states.iter().for_each(|(s, _)| s.write(&mut input));
    let mut simavr = Command::new(oracle::built("simavr_step", SIMAVR));
    let output = oracle::answer(simavr.arg(core.name), &input);
    let (records, last) = output.split_at(64 * states.len());
    assert_eq!(last.len(), DATA, "{}: the oracle stopped early", form.name);

    for ((s, insn), record) in states.iter().zip(records.chunks(64)) {
        let mut theirs = After {
            state: State::read(record),
            cycles: u64::from(record[44]) | u64::from(record[45]) << 8,
        };
        assert!(record[46] == RUNNING, "{}: simavr crashed", insn.text());
        let changed = usize::from(record[47]);
        assert!(changed <= 4, "{}: {changed} bytes changed", insn.text());
        for change in record[48..].chunks(4).take(changed) {
            memory[usize::from(change[0]) | usize::from(change[1]) << 8] = change[2];
        }
        let pc = s.pc as usize;
        let next = u16::from_le_bytes([flash[pc + 2], flash[pc + 3]]);
        if let Some((right, why)) = manual(insn, next, s, theirs)
            && right != theirs
        {
            theirs = right;
            *count.explained.entry(why).or_default() += 1;
        }
        s.enter(&mut m);
        let cycles = code.step(&mut m).map_err(|stopped| stopped.1);
        let context = || {
            format!(
                "{} before {next:04x}, {}, from {s:x?}",
                insn.text(),
                core.name
            )
        };
        let cycles = cycles.unwrap_or_else(|fault| panic!("{}: {fault}", context()));
        assert_eq!(cycles.min, cycles.max);
        let cycles = cycles.max;
        let ours = After {
            state: State::leave(&mut m),
            cycles,
        };
        count.cycles.insert(cycles);
        assert_eq!(ours, theirs, "ours left, simavr right: {}", context());
        for window in WINDOWS {
            let same = m.d.memory[window.clone()] == memory[window.clone()];
            assert!(same, "memory differs in {window:x?}: {}", context());
        }
    }
    for at in (0x20..DATA).filter(|at| !SPECIAL.contains(at)) {
        assert_eq!(m.d.memory[at], last[at], "{}: memory at {at:#x}", form.name);
    }
}

#[test]
fn every_row_agrees_with_simavr() {
    let mut total = Count::default();
    for form in forms() {
        // Judged by GNU as and by the manual's timing table: no emulator has the reduced core.
        if matches!(form.op, Op::LDS_RC | Op::STS_RC) {
            continue;
        }
        let mut count = Count::default();
        for core in [&ATMEGA128, &ATMEGA2560, &ATTINY85] {
            if !core.set.has(form.op) {
                continue;
            }
            check(core, form, &mut count);
        }
        assert!(
            count.states >= tier::times(10_000),
            "{} is not tested",
            form.name
        );
        let cycles: &[u64] = match form.timing {
            Timing::Skip | Timing::SkipIo => &[1, 2, 3],
            Timing::Branch => &[1, 2],
            _ => &[],
        };
        let met = cycles.iter().all(|n| count.cycles.contains(n));
        assert!(met, "{}: only {:?} cycles met", form.name, count.cycles);
        total.states += count.states;
        for (why, n) in count.explained {
            *total.explained.entry(why).or_default() += n;
        }
    }
    let (rows, states) = (forms().len(), total.states);
    let explained: usize = total.explained.values().sum();
    let mut summary = format!(
        "avr_semantics: {rows} instructions, {states} states, {explained} disagreements explained\n"
    );
    for (why, n) in &total.explained {
        summary += &format!("  {n} times {why}\n");
    }
    for (op, _, why) in NOT_DIRECT {
        summary += &format!("  {op:?}: {why}\n");
    }
    // Past the capture of test output.
    let written = std::io::stderr().write_all(summary.as_bytes());
    written.expect("standard error can be written");
}
