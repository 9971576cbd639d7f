//! What a function does, line by line: address, bytes, cycles, what each instruction does to operands and columns, and
//! the registers that are live. From one run on numbers; nothing is proved here.

use std::collections::BTreeMap;

use machine::codec::Places;
use machine::function::Function;
use machine::isa::core::{Core, Insn};
use machine::isa::{Class, Executed, Stopped};
use make::candidate::corner;
use serde::Serialize;
use spec::Spec;

/// A line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    /// Byte address, from the start of the code.
    pub address: usize,
    /// Its bytes.
    pub code: Vec<u8>,
    /// How often it is executed.
    pub times: u64,
    /// Its cycles, over all these times: until the next instruction issues.
    pub cycles: u64,
    /// As GNU as reads it.
    pub text: String,
    /// What the method says of it and of what follows.
    pub notes: Vec<String>,
    /// What it does to operands and columns, the first time.
    pub does: String,
    /// Registers whose values are read behind it.
    pub live: Vec<String>,
}

/// A function, line by line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Listing {
    /// In the order of addresses.
    pub lines: Vec<Line>,
    /// The most registers that are live behind an instruction.
    pub most_live: usize,
}

/// Of which run the cycles are.
const RUN: &str = "Cycles are those of one run, with all bits of the operands 1, or as many as the contract allows.";

/// What is known of a register.
#[derive(Clone, Debug)]
enum Holds {
    /// A word of an operand.
    Word(&'static str, usize),
    /// A part of a product of two of them.
    Product(String),
}

/// Notes of a program, by instruction.
pub type Notes<'a> = &'a [(usize, String)];

impl Listing {
    /// Of `function`, whose instructions have these notes; the code of a whole file is listed where it is executed.
    ///
    /// # Errors
    /// A fault and where.
    pub fn of(
        core: &Core,
        spec: &Spec,
        function: &Function,
        notes: Option<Notes<'_>>,
    ) -> Result<Self, Stopped> {
        let steps = core.steps(spec, function, &corner(spec))?;
        let insns: BTreeMap<usize, Insn> = match notes {
            Some(_) => core
                .decode(&function.code)
                .unwrap_or_default()
                .into_iter()
                .collect(),
            None => executed(core, function, &steps),
        };
        let mut lines: BTreeMap<usize, Line> = BTreeMap::new();
        let mut notes = notes.unwrap_or_default().iter().peekable();
        for (i, (at, insn)) in insns.iter().enumerate() {
            let mut here = Vec::new();
            while let Some((_, note)) = notes.next_if(|(at, _)| *at <= i) {
                here.push(note.clone());
            }
            let line = Line {
                address: *at,
                code: core.encode(&[*insn]).unwrap_or_default(),
                times: 0,
                cycles: 0,
                text: insn.text().replace('\t', " "),
                notes: here,
                does: String::new(),
                live: Vec::new(),
            };
            lines.insert(*at, line);
        }
        let word = function.word_bits(core.word_bits()) as usize / 8;
        let mut registers: BTreeMap<u8, Holds> = BTreeMap::new();
        for step in &steps {
            let (Some(line), Some(insn)) = (lines.get_mut(&step.at), insns.get(&step.at)) else {
                continue;
            };
            let does = does(insn, step, word, &mut registers);
            if line.times == 0 {
                line.does = does;
            }
            line.times += 1;
            line.cycles += step.cycles;
        }
        for (at, places) in live(&insns) {
            let live = registers_of(places).filter(|r| *r < core.register_count());
            if let Some(line) = lines.get_mut(&at) {
                line.live = live.map(|r| core.register_name(r)).collect();
            }
        }
        let most_live = lines.values().map(|line| line.live.len()).max();
        Ok(Self {
            lines: lines.into_values().collect(),
            most_live: most_live.unwrap_or(0),
        })
    }

    /// As text, with the names of live registers, or how many.
    pub fn text(&self, names: bool) -> String {
        let mut text = format!(
            "{RUN}\n{:>7} {:<12}{:>7} {:>5}  {:<30}{}\n",
            "address", "bytes", "cycles", "live", "instruction", "what it does"
        );
        for line in &self.lines {
            for note in &line.notes {
                text += &format!("{:>36}; {note}\n", "");
            }
            let code: String = line.code.iter().map(|byte| format!("{byte:02x}")).collect();
            let cycles = match line.times {
                0 => "-".to_string(),
                _ => line.cycles.to_string(),
            };
            let times = match line.times {
                0 | 1 => String::new(),
                times => format!(" ({times} times)"),
            };
            let live = match names {
                true => format!("  [{}]", line.live.join(" ")),
                false => String::new(),
            };
            let row = format!(
                "{:>7x} {code:<12}{cycles:>7} {:>5}  {:<30}{}{times}{live}",
                line.address,
                line.live.len(),
                line.text,
                line.does
            );
            text += row.trim_end();
            text.push('\n');
        }
        text
    }
}

/// The instructions that were executed, by address.
fn executed(core: &Core, function: &Function, steps: &[Executed]) -> BTreeMap<usize, Insn> {
    let start = function.start() as usize;
    let decode = |at: usize| {
        // The longest instructions have 4 bytes.
        let bytes = function.code.get(at - start..)?;
        let decoded = [4, 2]
            .into_iter()
            .filter_map(|n| core.decode(bytes.get(..n)?).ok());
        decoded.flatten().map(|(_, insn)| insn).next()
    };
    let found = steps.iter();
    found
        .filter_map(|step| Some((step.at, decode(step.at)?)))
        .collect()
}

/// The registers of a set.
fn registers_of(places: Places) -> impl Iterator<Item = u8> {
    (0..64u8).filter(move |r| places >> r & 1 == 1)
}

/// What an instruction does, and what registers hold behind it.
fn does(insn: &Insn, step: &Executed, word: usize, registers: &mut BTreeMap<u8, Holds>) -> String {
    let [reads, writes] = insn.registers();
    let read: Vec<Holds> = registers_of(reads)
        .filter_map(|r| registers.get(&r).cloned())
        .collect();
    registers_of(writes).for_each(|r| {
        registers.remove(&r);
    });
    let accessed = |writes: bool| -> Vec<_> {
        let list = step.accesses.iter().filter(|a| a.writes == writes);
        list.map(|access| (access.name, access.at / word)).collect()
    };
    let (loads, stores) = (accessed(false), accessed(true));
    if !stores.is_empty() {
        return format!("{} =", listed(&stores));
    }
    if !loads.is_empty() {
        // A pointer that moves is read, too.
        for (r, (name, index)) in registers_of(writes & !reads).zip(&loads) {
            registers.insert(r, Holds::Word(name, *index));
        }
        return format!("= {}", listed(&loads));
    }
    let (does, holds) = computes(insn.class(), &read);
    if let Some(holds) = holds {
        for r in registers_of(writes) {
            registers.insert(r, holds.clone());
        }
    }
    does
}

/// What an instruction between registers does, from what its registers hold, and what it leaves.
fn computes(class: Class, read: &[Holds]) -> (String, Option<Holds>) {
    let mut words: Vec<_> = read
        .iter()
        .filter_map(|holds| match holds {
            Holds::Word(name, index) => Some((*name, *index)),
            Holds::Product(_) => None,
        })
        .collect();
    words.sort_unstable();
    match (class, words.as_slice()) {
        (Class::Mul, [one, rest @ ..]) => {
            let other = rest.first().unwrap_or(one);
            let product = format!("{}[{}] {}[{}]", one.0, one.1, other.0, other.1);
            let does = format!("{product}, column {}", one.1 + other.1);
            (does, Some(Holds::Product(product)))
        }
        (Class::Move, []) => match read.first() {
            Some(Holds::Product(product)) => {
                let holds = Holds::Product(product.clone());
                (format!("of {product}"), Some(holds))
            }
            _ => (String::new(), None),
        },
        (Class::Move, [(name, index), ..]) => {
            (format!("{name}[{index}]"), Some(Holds::Word(name, *index)))
        }
        (Class::Add, _) => {
            let product = read.iter().find_map(|holds| match holds {
                Holds::Product(product) => Some(format!("+ {product}")),
                Holds::Word(..) => None,
            });
            (product.unwrap_or_default(), None)
        }
        _ => (String::new(), None),
    }
}

/// `a[3] a[4]`.
fn listed(words: &[(&str, usize)]) -> String {
    let words = words.iter().map(|(name, index)| format!("{name}[{index}]"));
    words.collect::<Vec<_>>().join(" ")
}

/// What is read behind each instruction before it is written: the least sets that satisfy
/// `live before = reads + (live behind - writes)`, over both ways of a branch.
fn live(insns: &BTreeMap<usize, Insn>) -> BTreeMap<usize, Places> {
    let next: BTreeMap<usize, usize> = insns
        .keys()
        .copied()
        .zip(insns.keys().skip(1).copied())
        .collect();
    let mut behind: BTreeMap<usize, Places> = insns.keys().map(|at| (*at, 0)).collect();
    let before = |behind: &BTreeMap<usize, Places>, at: usize| {
        let Some(insn) = insns.get(&at) else { return 0 };
        let [reads, writes] = insn.registers();
        reads | behind.get(&at).map_or(0, |live| live & !writes)
    };
    loop {
        let mut changed = false;
        for (at, insn) in insns.iter().rev() {
            let branch = insn.branch().map(|by| at.wrapping_add_signed(by as isize));
            let ways = next.get(at).copied().into_iter().chain(branch);
            let live = ways.fold(0, |all, way| all | before(&behind, way));
            changed |= behind.insert(*at, live) != Some(live);
        }
        if !changed {
            return behind;
        }
    }
}
