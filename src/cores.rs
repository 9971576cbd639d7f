//! Every core, as `list` shows it.

use machine::isa::{arm, avr, mips, msp430, riscv};

/// A core as `list` shows it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CoreEntry {
    /// As [`crate::Target::core`] takes it.
    pub name: &'static str,
    /// Bits of a machine word.
    pub word_bits: u32,
    /// Words for `--isa-ext`.
    pub extensions: String,
    /// What it is.
    pub summary: &'static str,
    /// Where its cycles are from.
    pub source: String,
    /// Who says what it draws, or that nobody does.
    pub energy: String,
}

/// Of a core whose currents nobody published.
const NO_DATA: &str = "no data";

/// Every core of every instruction set.
pub fn cores() -> Vec<CoreEntry> {
    let avr = avr::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 8,
        extensions: String::new(),
        summary: c.summary,
        source: c.source.into(),
        energy: NO_DATA.into(),
    });
    let arm = arm::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 32,
        extensions: String::new(),
        summary: c.summary,
        source: c.source.into(),
        energy: c
            .currents()
            .map_or(NO_DATA.into(), |currents| currents.source),
    });
    let mips = mips::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 32,
        extensions: extension_names(),
        summary: c.summary,
        source: c.multiply.source.into(),
        energy: NO_DATA.into(),
    });
    let riscv = riscv::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 32,
        extensions: String::new(),
        summary: c.summary,
        source: c.source.into(),
        energy: NO_DATA.into(),
    });
    let msp430 = msp430::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 16,
        extensions: String::new(),
        summary: c.summary,
        source: c.source.into(),
        energy: NO_DATA.into(),
    });
    let all = avr.chain(arm).chain(mips).chain(riscv);
    all.chain(msp430).collect()
}

fn extension_names() -> String {
    let names = mips::cores::Features::EACH.map(|(_, name)| name);
    names.join(", ")
}
