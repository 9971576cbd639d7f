//! What packs there are, read from `packs.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use spec::{Alias, Op};

use crate::face::Request;

/// All packs.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Packs {
    group: BTreeMap<String, Group>,
    pack: BTreeMap<String, Pack>,
}

/// Kernels for one modulus, or for numbers.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Group {
    /// Are its kernels made in loops, where there is no budget that says otherwise?
    #[serde(default)]
    small: bool,
    kernels: Vec<Item>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Item {
    name: String,
    op: String,
    #[serde(default)]
    alias: Vec<String>,
    calls: u64,
}

/// A pack.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// What it is for, in one line.
    pub title: String,
    /// Bits of its numbers.
    pub bits: u32,
    prefix: Option<String>,
    #[serde(default)]
    groups: Vec<Part>,
    /// Is it a whole computation, whose kernels follow from it?
    #[serde(default)]
    pub whole: bool,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Part {
    is: String,
    modulus: Option<String>,
    bits: Option<u32>,
    #[serde(default)]
    prefix: String,
}

/// A kernel that a pack wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The function: `p256_mul`.
    pub symbol: String,
    /// What it computes.
    pub op: Op,
    /// Bits of its operands.
    pub bits: u32,
    /// Modulo what, if it is modular.
    pub modulus: Option<String>,
    /// Overlaps that are proved besides.
    pub aliases: Vec<Alias>,
    /// How often it is called.
    pub calls: u64,
    /// Is it made in loops, if there are any, where there is no budget?
    pub small: bool,
}

impl Packs {
    /// The names of all packs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pack.keys().map(String::as_str)
    }

    /// The pack of this name.
    pub fn find(&self, name: &str) -> Option<&Pack> {
        self.pack.get(name)
    }

    /// The kernels of a pack for a machine with words of `word_bits` bits; `bits` in place of the pack's.
    ///
    /// # Errors
    /// A group, operation or overlap that the data names and nobody knows.
    pub fn wanted(
        &self,
        name: &str,
        bits: Option<u32>,
        word_bits: u32,
    ) -> Result<Vec<Wanted>, String> {
        let pack = self.find(name).ok_or_else(|| format!("no pack {name}"))?;
        let prefix = match &pack.prefix {
            Some(prefix) => prefix.clone(),
            None => format!("{}_", name.replace('-', "_")),
        };
        let mut list = Vec::new();
        for part in &pack.groups {
            let group = self.group.get(&part.is);
            let group = group.ok_or_else(|| format!("pack {name}: no group {}", part.is))?;
            for item in &group.kernels {
                let bits = bits.or(part.bits).unwrap_or(pack.bits);
                list.push(Wanted {
                    symbol: format!("{prefix}{}{}", part.prefix, item.name),
                    op: op(&item.op)?,
                    bits: bits.next_multiple_of(word_bits),
                    modulus: part.modulus.clone(),
                    aliases: item
                        .alias
                        .iter()
                        .map(|a| alias(a))
                        .collect::<Result<_, _>>()?,
                    calls: item.calls,
                    small: group.small,
                });
            }
        }
        Ok(list)
    }
}

fn op(name: &str) -> Result<Op, String> {
    let found = Op::ALL.into_iter().find(|op| op.name() == name);
    found.ok_or_else(|| format!("no operation {name}"))
}

fn alias(text: &str) -> Result<Alias, String> {
    let found = Alias::ALL.into_iter().find(|a| a.argument() == text);
    found.ok_or_else(|| format!("no overlap {text}"))
}

impl Wanted {
    /// The request for it: in constant time, unless time may vary.
    pub fn request(&self, variable_time: bool) -> Request {
        let mut request = Request::new(self.op, self.bits).named(&self.symbol);
        if let Some(modulus) = &self.modulus {
            request = request.modulus(modulus.as_str());
        }
        for alias in &self.aliases {
            request = request.alias(*alias);
        }
        match variable_time {
            true => request.variable_time(),
            false => request.constant_time(),
        }
    }
}
