//! Calling conventions, as data.
//!
//! EABI: SLAA534, *MSP430 Embedded Application Binary Interface*, section 3; msp430-elf-gcc and TI's cl430 keep it. In its
//! large model (`-mlarge`) code lies anywhere; data is kept below 64 KB here (`-mdata-region=lower`). mspgcc: its manual,
//! chapter *mspgcc's ABI*. IAR: *MSP430 IAR C/C++ Compiler Reference Guide*, chapter *Assembler language interface*,
//! calling convention Version2, with small code and data models.

use crate::isa::msp430::multiplier::Irq;

/// A calling convention.
#[derive(PartialEq, Eq, Debug)]
pub struct Abi {
    /// As on the command line.
    pub name: &'static str,
    /// As reports call it: without a multiplier, and with what interrupt handlers do with one.
    titles: [&'static str; 4],
    /// Registers of arguments, in order.
    pub arguments: [u8; 4],
    /// The last of the registers from R4 on that belong to the caller: R10 or R11.
    last_saved: u8,
    /// Is a function called by CALLA, so that code may lie above 64 KB? Then the caller's registers have 20 bits.
    pub large: bool,
}

macro_rules! titles {
    ($title:literal) => {
        [
            $title,
            concat!($title, "; no interrupt handler may use the multiplier"),
            concat!($title, "; interrupts wait while the multiplier is in use"),
            concat!(
                $title,
                "; interrupt handlers save and restore the multiplier's state"
            ),
        ]
    };
}

/// The EABI in its small model.
pub static GCC: Abi = Abi {
    name: "gcc",
    titles: titles!("msp430 eabi"),
    arguments: [12, 13, 14, 15],
    last_saved: 10,
    large: false,
};

/// The EABI in its large model, with data below 64 KB.
pub static LARGE: Abi = Abi {
    name: "large",
    titles: titles!("msp430 eabi, large model, all data below 64 KB"),
    large: true,
    ..GCC
};

/// The GNU compiler before the EABI.
pub static MSPGCC: Abi = Abi {
    name: "mspgcc",
    titles: titles!("mspgcc"),
    arguments: [15, 14, 13, 12],
    last_saved: 11,
    ..GCC
};

/// IAR's compiler.
pub static IAR: Abi = Abi {
    name: "iar",
    titles: titles!("IAR MSP430, small code and data models"),
    last_saved: 11,
    ..GCC
};

static ALL: [&Abi; 4] = [&GCC, &MSPGCC, &IAR, &LARGE];
static NAMES: [&str; 4] = [GCC.name, MSPGCC.name, IAR.name, LARGE.name];

/// The names of those of an MSP430X, or of an MSP430, which has no large model.
pub fn names(extended: bool) -> &'static [&'static str] {
    match extended {
        true => &NAMES,
        false => &NAMES[..3],
    }
}

/// The one of that name.
pub fn named(name: &str, extended: bool) -> Option<&'static Abi> {
    let known = names(extended).contains(&name);
    ALL.into_iter().find(|abi| known && abi.name == name)
}

impl Abi {
    /// As reports call it, where interrupt handlers do this with the multiplier; none: there is none.
    pub fn title(&self, irq: Option<Irq>) -> &'static str {
        let [without, none, wait, restore] = self.titles;
        match irq {
            None => without,
            Some(Irq::None) => none,
            Some(Irq::MaskAll | Irq::MaskPerColumn) => wait,
            Some(Irq::SaveRestore) => restore,
        }
    }

    /// Must the callee preserve register `r`?
    pub fn preserves(&self, r: u8) -> bool {
        (4..=self.last_saved).contains(&r)
    }

    /// Where the register of an argument is on the way from the EABI's: arguments come from R15 down where it says so.
    pub fn moved(&self, r: u8) -> u8 {
        let usual = GCC.arguments.iter().position(|own| *own == r);
        usual.map_or(r, |i| self.arguments[i])
    }
}
