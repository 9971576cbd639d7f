//! A run on numbers that shows what is wrong, with all that it depends on, so that it can be repeated elsewhere.

use std::collections::BTreeMap;

use machine::call::Operands;
use machine::function::Function;
use machine::isa::core::Core;
use num_bigint::BigUint;
use serde::Serialize;

/// A call on numbers.
pub struct Run<'a> {
    pub core: &'a Core,
    pub function: &'a Function,
    pub operands: &'a Operands<'a>,
}

/// Bytes of memory at entry.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// An operand, `scratch` or `stack`.
    pub name: &'static str,
    pub address: String,
    /// In hexadecimal, the lowest address first.
    pub bytes: String,
}

/// What a call began with and what came of it. Numbers are hexadecimal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Counterexample {
    /// The operands as numbers.
    pub operands: BTreeMap<&'static str, String>,
    /// `r == a`, or that they lie apart.
    pub aliasing: &'static str,
    /// The address of the function.
    pub entry: String,
    pub registers: BTreeMap<String, String>,
    pub flags: BTreeMap<String, bool>,
    pub memory: Vec<Place>,
    /// What is right; a word that is returned stands above the result.
    pub expected: String,
    /// What came of it; nothing if it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// Where it stopped, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

impl Run<'_> {
    /// It gave `got`, which is wrong.
    pub fn wrong(&self, got: &BigUint) -> Counterexample {
        Counterexample {
            got: Some(format!("{got:#x}")),
            ..self.begun()
        }
    }

    /// It stopped.
    pub fn stopped(&self, why: String) -> Counterexample {
        Counterexample {
            stopped: Some(why),
            ..self.begun()
        }
    }

    /// `a=0x1 b=0x2: ` and what is said of them.
    pub fn text(&self, said: &str) -> String {
        told(&self.numbers(), said)
    }

    fn numbers(&self) -> BTreeMap<&'static str, String> {
        let sources = self.operands.spec.sources().into_iter();
        let named = sources.zip(self.operands.sources);
        named.map(|(s, x)| (s.name, format!("{x:#x}"))).collect()
    }

    fn begun(&self) -> Counterexample {
        let Operands { spec, sources, .. } = self.operands;
        let held = self.core.entered(self.function, self.operands);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let place = |(name, address, bytes): &(&'static str, usize, Vec<u8>)| Place {
            name,
            address: format!("{address:#x}"),
            bytes: hex(bytes),
        };
        let registers = held.words.into_iter();
        Counterexample {
            operands: self.numbers(),
            aliasing: self.operands.alias.text(),
            entry: format!("{:#x}", self.function.entry),
            registers: registers
                .map(|(name, k)| (name, format!("{k:#x}")))
                .collect(),
            flags: held.flags.into_iter().collect(),
            memory: held.memory.iter().map(place).collect(),
            expected: format!("{:#x}", spec.value(sources)),
            got: None,
            stopped: None,
        }
    }
}

fn told(operands: &BTreeMap<&'static str, String>, said: &str) -> String {
    let given = operands
        .iter()
        .map(|(name, number)| format!("{name}={number}"));
    format!("{}: {said}", given.collect::<Vec<_>>().join(" "))
}

impl Counterexample {
    /// `a=0x1 b=0x2: expected 0x2, got 0x3`, or why it stopped.
    pub fn text(&self) -> String {
        let said = match (&self.got, &self.stopped) {
            (Some(got), _) => format!("expected {}, got {got}", self.expected),
            (None, stopped) => stopped.clone().unwrap_or_default(),
        };
        told(&self.operands, &said)
    }
}
