//! Faults in proved kernels, of which a machine's table is all that is known.
//!
//! A mutant that is proved must be right on many operands, and give registers back. What a machine says is [`Table`].

use std::collections::BTreeMap;

use lozenge::call::Operands;
use lozenge::domain::concrete::Concrete;
use lozenge::facts::Style;
use lozenge::fault::Fault;
use lozenge::function::Function;
use lozenge::isa::arm::cores::Core as ArmCore;
use lozenge::isa::arm::machine::Arm;
use lozenge::isa::arm::{self, ArmIsa};
use lozenge::isa::avr::{self, AvrIsa};
use lozenge::isa::mips::{self, MipsIsa};
use lozenge::isa::msp430::{self, Msp430Isa};
use lozenge::isa::riscv::{self, RiscvIsa};
use lozenge::isa::{Isa, numbers};
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::program::{Claim, Program};
use lozenge::prove;
use lozenge::spec::{Alias, Spec};
use lozenge::vectors::{self, Random};
use num_bigint::BigUint;

use crate::kit::{any, ask, tier, work};

/// Operands of every mutant that is proved.
const OPERANDS: usize = 600;
/// The most instructions of a run: a loop may come to no end.
const PATIENCE: u64 = 200_000;

/// The rows of a machine, as far as faults go.
pub trait Table: Lower {
    /// The bytes of an instruction that does nothing.
    const NOP: &'static [u8];

    /// The bits of each row, first to last: 0, 1, or the letter of an operand.
    fn patterns() -> Vec<&'static str>;

    /// An instruction's bytes in the order of a pattern's bits, and the other way round.
    fn turned(code: &[u8]) -> Vec<u8> {
        code.iter().rev().copied().collect()
    }

    /// Does code that is right give registers back that a run on numbers does not look at?
    fn keeps(_: &Self::Core, _: &Spec, _: &[u8]) -> bool {
        true
    }
}

impl Table for AvrIsa {
    const NOP: &'static [u8] = &[0, 0];

    fn patterns() -> Vec<&'static str> {
        avr::code::forms().iter().map(|form| form.pattern).collect()
    }

    /// Words stand one after the other, each low byte first.
    fn turned(code: &[u8]) -> Vec<u8> {
        code.chunks(2)
            .flat_map(|w| w.iter().rev())
            .copied()
            .collect()
    }
}

impl Table for ArmIsa {
    const NOP: &'static [u8] = &[0, 0, 0xa0, 0xe1];

    fn patterns() -> Vec<&'static str> {
        arm::code::forms().iter().map(|form| form.pattern).collect()
    }

    /// r4 to r11 and the stack pointer, which a caller keeps something in.
    fn keeps(core: &ArmCore, spec: &Spec, code: &[u8]) -> bool {
        let places = [0x1000, 0x2000, 0x3000, 0x4000];
        let places = &places[..1 + spec.sources().len()];
        let function = Function::kernel(code);
        let mut m: Arm<Concrete> = numbers::enter(core, &function, 0, places, 0);
        for i in places.len()..13 {
            m.r[i].0 = 0x1234_5600 + i as u64;
        }
        let sp = m.r[13];
        let done = arm::run::Decoded::new(code, core).run(&mut m, usize::MAX, PATIENCE);
        let kept = (4..12).all(|i| m.r[i].0 == 0x1234_5600 + i as u64);
        done.is_ok() && kept && m.r[13] == sp
    }
}

impl Table for MipsIsa {
    const NOP: &'static [u8] = &[0; 4];

    fn patterns() -> Vec<&'static str> {
        mips::code::forms()
            .iter()
            .map(|form| form.pattern)
            .collect()
    }
}

impl Table for RiscvIsa {
    const NOP: &'static [u8] = &[0x13, 0, 0, 0];

    fn patterns() -> Vec<&'static str> {
        let forms = riscv::code::forms().iter();
        forms.map(|form| form.pattern).collect()
    }
}

impl Table for Msp430Isa {
    const NOP: &'static [u8] = &[0x03, 0x43];

    /// With the code units that modes of the operands may have.
    fn patterns() -> Vec<&'static str> {
        let behind = |pattern: &str, letters: &str| -> &'static str {
            let units = letters.chars().map(|letter| letter.to_string().repeat(16));
            let all = pattern.to_string() + &units.collect::<String>();
            Box::leak(all.into_boxed_str())
        };
        let forms = msp430::code::forms().iter();
        let all = forms.flat_map(|form| {
            let letters: &[&str] = match (form.has('a'), form.has('b')) {
                (true, true) => &["", "x", "y", "xy"],
                (true, false) => &["", "x"],
                (false, _) => &[""],
            };
            letters
                .iter()
                .map(move |letters| behind(form.pattern, letters))
        });
        all.collect()
    }

    /// Units stand one after the other, each low byte first.
    fn turned(code: &[u8]) -> Vec<u8> {
        AvrIsa::turned(code)
    }
}

/// A row: the bits that are its own, and where those of each operand lie, the highest first.
struct Row {
    length: usize,
    own: Vec<(usize, bool)>,
    operands: BTreeMap<char, Vec<usize>>,
}

/// Bits, the highest first.
type Bits = Vec<bool>;

impl Row {
    fn of(pattern: &str) -> Self {
        let (mut own, mut operands) = (Vec::new(), BTreeMap::<char, Vec<usize>>::new());
        let bits: Vec<char> = pattern.chars().filter(|c| *c != ' ').collect();
        for (at, c) in bits.iter().enumerate() {
            match c {
                '0' | '1' => own.push((at, *c == '1')),
                letter => operands.entry(*letter).or_default().push(at),
            }
        }
        Self {
            length: bits.len(),
            own,
            operands,
        }
    }

    fn fits(&self, bits: &Bits) -> bool {
        bits.len() == self.length && self.own.iter().all(|(at, one)| bits[*at] == *one)
    }

    /// Has it the same operands, of as many bits?
    fn is_like(&self, other: &Self) -> bool {
        let shape = |row: &Self| -> Vec<(char, usize)> {
            row.operands.iter().map(|(c, at)| (*c, at.len())).collect()
        };
        self.length == other.length && shape(self) == shape(other)
    }

    /// The instruction of `other` with the operands that `bits` has here.
    fn exchanged(&self, bits: &Bits, other: &Self) -> Bits {
        let mut made = vec![false; other.length];
        other.own.iter().for_each(|(at, one)| made[*at] = *one);
        for (letter, places) in &self.operands {
            for (from, to) in places.iter().zip(&other.operands[letter]) {
                made[*to] = bits[*from];
            }
        }
        made
    }
}

/// The table, and what it makes of instructions.
struct Rows<'a, I: Lower> {
    core: &'a I::Core,
    rows: Vec<Row>,
}

/// What is done to a program.
pub const KINDS: [&str; 9] = [
    "drop", "nop", "row", "field", "bit", "exchange", "twice", "replace", "turn",
];

impl<I: Table> Rows<'_, I> {
    fn bits(&self, insn: &I::Insn) -> Option<Bits> {
        let code = I::encode(self.core, &[*insn]).ok()?;
        let bytes = I::turned(&code).into_iter();
        Some(
            bytes
                .flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1 == 1))
                .collect(),
        )
    }

    /// The one instruction of these bytes.
    fn read(&self, code: &[u8]) -> Option<I::Insn> {
        match I::decode(self.core, code).as_deref() {
            Ok([(_, insn)]) => Some(*insn),
            _ => None,
        }
    }

    fn insn(&self, bits: &Bits) -> Option<I::Insn> {
        let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        self.read(&I::turned(&bits.chunks(8).map(byte).collect::<Vec<_>>()))
    }

    /// Another row with the same operands.
    fn row(&self, insn: &I::Insn, random: &mut Random) -> Option<I::Insn> {
        let bits = self.bits(insn)?;
        let own = self.rows.iter().find(|row| row.fits(&bits))?;
        let others = self
            .rows
            .iter()
            .filter(|row| row.is_like(own) && !row.fits(&bits));
        let others: Vec<&Row> = others.collect();
        let other = others.get(random.below(others.len().max(1)))?;
        self.insn(&own.exchanged(&bits, other))
    }

    /// An operand that is one more, one less, or any other.
    fn field(&self, insn: &I::Insn, random: &mut Random) -> Option<I::Insn> {
        let mut bits = self.bits(insn)?;
        let own = self.rows.iter().find(|row| row.fits(&bits))?;
        let fields: Vec<_> = own.operands.values().collect();
        let places = fields.get(random.below(fields.len().max(1)))?;
        let number = places
            .iter()
            .fold(0u64, |n, at| n << 1 | u64::from(bits[*at]));
        let number = match random.below(3) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            _ => random.draw(),
        };
        for (i, at) in places.iter().rev().enumerate() {
            bits[*at] = number >> i & 1 == 1;
        }
        self.insn(&bits)
    }

    /// One bit of it.
    fn bit(&self, insn: &I::Insn, random: &mut Random) -> Option<I::Insn> {
        let mut code = I::encode(self.core, &[*insn]).ok()?;
        let bit = random.below(8 * code.len());
        code[bit / 8] ^= 1 << (bit % 8);
        self.read(&code)
    }

    /// One fault at instruction `at`; none if it changes nothing, or there is no such instruction.
    fn fault(
        &self,
        program: &Program<I::Insn>,
        kind: &str,
        at: usize,
        random: &mut Random,
    ) -> Option<(Program<I::Insn>, Vec<u8>)> {
        let mut out = program.clone();
        let insns = &mut out.insns;
        match kind {
            "drop" => {
                out.remove(at);
            }
            "nop" => insns[at] = self.read(I::NOP)?,
            "row" => insns[at] = self.row(&insns[at], random)?,
            "field" => insns[at] = self.field(&insns[at], random)?,
            "bit" => insns[at] = self.bit(&insns[at], random)?,
            "exchange" if at + 1 < insns.len() => insns.swap(at, at + 1),
            "twice" if at + 1 < insns.len() => insns[at] = insns[at + 1],
            "replace" => insns[at] = insns[random.below(insns.len())],
            "turn" => {
                let end = (at + 3 + random.below(5)).min(insns.len());
                insns[at..end].rotate_left(1);
            }
            _ => return None,
        }
        let code = I::encode(self.core, &out.insns).ok()?;
        (out.insns != program.insns && I::decode(self.core, &code).is_ok()).then_some((out, code))
    }
}

/// What became of the mutants.
#[derive(Default, Debug)]
pub struct Found {
    /// Of each kind: how many there were, and how many are not proved.
    kinds: BTreeMap<&'static str, [usize; 2]>,
    /// Of those that are not proved: come to no end, and are right on the operands that were tried.
    endless: usize,
    open: usize,
    /// Proved, and right on all operands.
    harmless: Vec<String>,
}

impl Found {
    pub fn add(&mut self, other: Self) {
        for (kind, [tried, rejected]) in other.kinds {
            let sums = self.kinds.entry(kind).or_default();
            sums[0] += tried;
            sums[1] += rejected;
        }
        self.endless += other.endless;
        self.open += other.open;
        self.harmless.extend(other.harmless);
    }

    /// All, and those that are not proved.
    pub fn sums(&self) -> [usize; 2] {
        [0, 1].map(|i| self.kinds.values().map(|sums| sums[i]).sum())
    }

    /// Prints everything.
    ///
    /// # Panics
    /// When there are fewer than `least`, a kind is missing, or of all less than `share` of ten are rejected: of the few
    /// of the fast tier one of ten less.
    pub fn hold(&self, least: usize, share: usize) {
        let [tried, rejected] = self.sums();
        for (kind, [tried, rejected]) in &self.kinds {
            println!("{kind:<10} {rejected:>4} of {tried} rejected");
        }
        println!(
            "{rejected} of {tried} faults rejected: {} come to no end, {} are right on one operand; {} proved and right:",
            self.endless,
            self.open,
            self.harmless.len()
        );
        self.harmless.iter().for_each(|text| println!("  {text}"));
        assert!(tried >= tier::least(least), "{tried} faults");
        let share = tier::of([share - 1, share, share]);
        assert!(10 * rejected > share * tried, "only {rejected} of {tried}");
        assert_eq!(self.kinds.len(), KINDS.len(), "{:?}", self.kinds.keys());
    }
}

/// A run on numbers.
#[derive(PartialEq, Eq, Debug)]
enum Outcome {
    Right,
    Wrong(String),
    Endless,
}

/// A proved kernel.
pub struct Attacked<'a, I: Lower> {
    pub name: String,
    pub spec: &'a Spec,
    pub core: &'a I::Core,
    pub program: &'a Program<I::Insn>,
}

/// A kernel to attack: its core, what it computes, its style, its method and the parameters of that.
///
/// The method may have a plan: `karatsuba plan=k-m`.
pub type Case<I> = (
    <I as Isa>::Core,
    Spec,
    Style,
    &'static str,
    Vec<(&'static str, usize)>,
);

/// Tries `count` faults in each kernel, of those that the tier takes.
///
/// # Panics
/// As [`Attacked::attack`] does.
pub fn attack<I: Table>(cases: Vec<Case<I>>, count: usize, own: u64) -> Found
where
    I::Core: Sync,
{
    let numbered = cases.into_iter().enumerate();
    let found = work::each(&tier::some(numbered, own), |(at, case)| {
        let (core, spec, style, method, params) = case;
        let mut given: Params = params.iter().copied().collect();
        let name = match method.split_once(" plan=") {
            Some((name, plan)) => {
                given.plan = Some(ask::plan(plan).clone());
                name
            }
            None => method,
        };
        let known = method::find(name).expect("a method");
        let name = format!(
            "{method} {params:?} {} on {}",
            spec.symbol(),
            I::core_name(core)
        );
        let schedule = (known.schedule)(spec, &I::facts(core).styled(*style), &given);
        let schedule = schedule.unwrap_or_else(|e| panic!("{name}: {e}"));
        schedule.check().expect("a valid schedule");
        // Some methods are loops whatever is asked for.
        let is_asked = *style == Style::Unrolled || schedule.style() == *style;
        assert!(is_asked, "{name}: {:?}", schedule.style());
        let made = I::lower(&schedule, core).expect("it lowers").pop();
        let attacked = Attacked::<I> {
            name,
            spec,
            core,
            program: &made.expect("a program"),
        };
        attacked.attack(
            tier::of_each(count),
            &mut tier::random(own << 16 | *at as u64),
        )
    });
    let mut all = Found::default();
    found.into_iter().for_each(|found| all.add(found));
    all
}

impl<I: Table> Attacked<'_, I> {
    fn proved(&self, code: &[u8], claims: &[Claim]) -> bool {
        let mut function = prove::kernel(&any(self.core), code, claims).returning(self.spec);
        function.limit = PATIENCE;
        prove::prove_function(self.spec, &any(self.core), &function, Alias::Distinct).holds()
    }

    /// The code, decoded once: what a run on operands comes to.
    fn runs(&self, code: &[u8]) -> impl Fn(&[BigUint]) -> Outcome {
        let call = I::calls(self.core, Function::kernel(code).returning(self.spec));
        move |sources| match call(&Operands::of(self.spec, sources, Alias::Distinct), PATIENCE) {
            Ok((got, _)) if self.spec.accepts(sources, &got) => Outcome::Right,
            Ok((got, _)) => Outcome::Wrong(format!("{sources:x?} give {got:x}")),
            Err((_, Fault::StepLimit(_) | Fault::Endless(_))) => Outcome::Endless,
            Err((at, fault)) => Outcome::Wrong(format!("{sources:x?} stop at {at:#x}: {fault}")),
        }
    }

    /// Tries `count` faults, of all kinds.
    ///
    /// # Panics
    /// When the kernel is not proved, or a mutant is that is wrong.
    pub fn attack(&self, count: usize, random: &mut Random) -> Found {
        let (name, insns) = (&self.name, &self.program.insns);
        let original = I::encode(self.core, insns).expect("it encodes");
        assert!(self.proved(&original, &self.program.claims), "{name}");
        let rows = I::patterns().into_iter().map(Row::of).collect();
        let rows = Rows::<I> {
            core: self.core,
            rows,
        };
        let operands = vectors::of(self.spec, OPERANDS, 5);
        let mut found = Found::default();
        while found.sums()[0] < count {
            let (kind, at) = (KINDS[random.below(KINDS.len())], random.below(insns.len()));
            let Some((mutant, code)) = rows.fault(self.program, kind, at, random) else {
                continue;
            };
            let sums = found.kinds.entry(kind).or_default();
            sums[0] += 1;
            let run = self.runs(&code);
            let first = run(&operands[0]);
            // What does not return has no proof, either, and takes long to say so.
            if first == Outcome::Endless {
                sums[1] += 1;
                found.endless += 1;
                continue;
            }
            if !self.proved(&code, &mutant.claims) {
                sums[1] += 1;
                found.open += usize::from(first == Outcome::Right);
                continue;
            }
            let is = mutant.insns.get(at).map_or(String::new(), I::text);
            let text = format!("{name}: {kind} at {at}: {} -> {is}", I::text(&insns[at]));
            for sources in &operands {
                assert_eq!(run(sources), Outcome::Right, "PROVED BUT WRONG: {text}");
            }
            assert!(
                I::keeps(self.core, self.spec, &code),
                "PROVED BUT WRONG: {text}"
            );
            found.harmless.push(text);
        }
        found
    }
}
