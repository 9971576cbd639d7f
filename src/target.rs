//! Names of cores, parts and instruction set extensions, resolved.

use machine::format::Assembler;
use machine::isa::avr::abi::{Abi, IAR};
use machine::isa::avr::cores::Set;
use machine::isa::avr::parts::{PARTS, Part};
use machine::isa::core::Core;
use machine::isa::msp430::convention as msp430_calls;
use machine::isa::msp430::multiplier::Irq;
use machine::isa::{arm, avr, mips, msp430, riscv};
use make::request::Room;
use spec::nearest::{nearest, question};
use thiserror::Error;

pub use crate::cores::{CoreEntry, cores};
pub use crate::strangers::Near;
use crate::strangers::{STRANGERS, Unmade};

/// What a kernel is made for.
///
/// Targets of several machines may stand in one list.
#[derive(Clone, Debug)]
pub enum Target {
    /// An 8-bit AVR.
    Avr {
        /// What executes.
        core: &'static avr::cores::Core,
        /// The chip, if one is named.
        part: Option<&'static Part>,
        /// The calling convention.
        abi: &'static Abi,
    },
    /// An ARM core in ARM state.
    Arm(&'static arm::cores::Core),
    /// A MIPS32 core with its extensions and byte order.
    Mips(Box<mips::cores::Core>),
    /// An RV32 core.
    Riscv {
        /// What executes.
        core: &'static riscv::cores::Core,
        /// The chip, if one is named.
        part: Option<&'static riscv::cores::Part>,
    },
    /// An MSP430 or MSP430X.
    Msp430 {
        /// What executes.
        core: &'static msp430::cores::Core,
        /// The chip, if one is named.
        part: Option<&'static msp430::cores::Part>,
        /// What interrupt handlers do with the multiplier.
        irq: Irq,
        /// The calling convention.
        abi: &'static msp430_calls::Abi,
    },
}

/// Names on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// A part.
    pub mcu: Option<&'a str>,
    /// A core.
    pub core: Option<&'a str>,
    /// Instruction set extensions.
    pub extensions: &'a [String],
    /// Most significant byte first?
    pub big_endian: bool,
    /// The calling convention, if not the usual one.
    pub abi: Option<&'a str>,
    /// What interrupt handlers do with a multiplier behind addresses: nothing, if not said.
    pub irq: Option<&'a str>,
}

/// A name that is no target, or a target that has no kernels.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum TargetError {
    /// A name that no part has.
    #[error("unknown part {name}{}", question(*.nearest))]
    UnknownMcu {
        /// What was asked for.
        name: String,
        /// The part that may be meant.
        nearest: Option<&'static str>,
    },
    /// The name of a core where that of a part stands.
    #[error("{0} is a core, not a part")]
    PartIsCore(&'static str),
    /// The name of a part where that of a core stands.
    #[error("{0} is a part, not a core")]
    CoreIsPart(&'static str),
    /// A part that people ask for, of a machine that there are no kernels for.
    #[error("{part} has a {machine}, and there are no kernels for that yet")]
    NotYet {
        /// What was asked for.
        part: String,
        /// What it has.
        machine: &'static str,
        /// What comes nearest.
        nearest: Near,
    },
    /// A name that no core has.
    #[error("unknown core {name}{}", question(*.nearest))]
    UnknownCore {
        /// What was asked for.
        name: String,
        /// The core that may be meant.
        nearest: Option<&'static str>,
    },
    /// A part, its core, and another core that was named beside it.
    #[error("the core of {0} is {1}, not {2}")]
    Conflict(String, String, String),
    /// Neither a part nor a core was named.
    #[error("a part or a core says what the kernel is for")]
    Missing,
    /// A name that no extension of the core has.
    #[error("{core} has no extension {name}{}", question(*.nearest))]
    UnknownExtension {
        /// The core that was asked for.
        core: String,
        /// What it has not.
        name: String,
        /// The extension that may be meant.
        nearest: Option<&'static str>,
        /// All that the core has.
        known: Vec<&'static str>,
    },
    /// The core, which has one order of bytes.
    #[error("{0} is little-endian")]
    NoBigEndian(String),
    /// An assembler that there are no files for.
    #[error("there is no {} assembler for {core}", dialect.name())]
    NoDialect {
        /// The assembler.
        dialect: Assembler,
        /// The core.
        core: String,
        /// Those that there are.
        known: &'static [Assembler],
    },
    /// A calling convention that kernels for a core do not have.
    #[error("there is no calling convention {name} for {core}")]
    NoAbi {
        /// What was asked for.
        name: String,
        /// The core.
        core: String,
        /// Those that there are; none beside the usual one if it is empty.
        known: &'static [&'static str],
    },
    /// What handlers may do with the multiplier of another core.
    #[error("there is no interrupt policy {name} for {core}")]
    NoIrq {
        /// What was asked for.
        name: String,
        /// The core.
        core: String,
        /// Those that there are; none if it is empty.
        known: Vec<&'static str>,
    },
}

impl Target {
    /// A part by its name: `atmega328p`.
    ///
    /// # Errors
    /// When no part has that name: the nearest, or what it is instead.
    pub fn mcu(name: &str) -> Result<Self, TargetError> {
        Self::part(name)
    }

    /// A core by its name, in its usual configuration: `arm7tdmi`.
    ///
    /// # Errors
    /// When no core has that name: the nearest, or what it is instead.
    pub fn core(name: &str) -> Result<Self, TargetError> {
        Self::of_core(name)
    }

    /// The same with an extension of the instruction set: `wide-acc`.
    ///
    /// # Errors
    /// When the core has no such extension.
    pub fn with(self, extension: &str) -> Result<Self, TargetError> {
        self.configured(&Names {
            extensions: &[extension.to_string()],
            ..Names::default()
        })
    }

    /// The same with the most significant byte first.
    ///
    /// # Errors
    /// When the core has one order of bytes.
    pub fn big_endian(self) -> Result<Self, TargetError> {
        self.configured(&Names {
            big_endian: true,
            ..Names::default()
        })
    }

    /// The same, called as another compiler calls: `gcc`, which is usual, `iar` on AVR, and on MSP430 `mspgcc`, `iar` or
    /// `large`, which is the EABI's large model.
    ///
    /// # Errors
    /// When there are no kernels in that convention.
    pub fn abi(mut self, name: &str) -> Result<Self, TargetError> {
        match &mut self {
            Target::Avr { core, abi, .. } => *abi = core.abi,
            Target::Msp430 { core, abi, .. } => *abi = core.abi,
            Target::Arm(_) | Target::Mips(_) | Target::Riscv { .. } => {}
        }
        self.called(Some(name))
    }

    /// Every core in its usual configuration, and every part.
    pub fn all() -> Vec<Self> {
        let cores = cores();
        let cores = cores.iter().map(|core| Self::core(core.name));
        let parts = part_names().map(Self::mcu);
        cores.chain(parts).flatten().collect()
    }

    /// The target that the names on the command line say.
    ///
    /// # Errors
    /// When a name is unknown, two disagree, or none is given.
    pub fn resolve(names: &Names<'_>) -> Result<Self, TargetError> {
        let core = names.core.map(Self::of_core).transpose()?;
        let part = names.mcu.map(Self::part).transpose()?;
        let target = match (part, core) {
            (Some(part), Some(core)) if core.core_name() != part.core_name() => {
                return Err(TargetError::Conflict(
                    part.part_name().unwrap_or_default().into(),
                    part.core_name(),
                    core.core_name(),
                ));
            }
            (Some(part), _) => part,
            (None, Some(core)) => core,
            (None, None) => return Err(TargetError::Missing),
        };
        let target = target.called(names.abi)?.configured(names)?;
        target.interrupted(names.irq)
    }

    /// The same where interrupt handlers do this with the multiplier: `none`, `mask-all`, `mask-per-column` or
    /// `save-restore`.
    ///
    /// # Errors
    /// When the core has no multiplier of that kind behind addresses.
    pub fn irq(self, name: &str) -> Result<Self, TargetError> {
        self.interrupted(Some(name))
    }

    fn interrupted(mut self, name: Option<&str>) -> Result<Self, TargetError> {
        let Some(name) = name else {
            return Ok(self);
        };
        let known = match &self {
            Target::Msp430 { core, .. } => core.policies(),
            Target::Avr { .. } | Target::Arm(_) | Target::Mips(_) | Target::Riscv { .. } => {
                Vec::new()
            }
        };
        let found = known.iter().find(|(_, word)| *word == name);
        match (&mut self, found) {
            (Target::Msp430 { irq, .. }, Some((policy, _))) => {
                *irq = *policy;
                Ok(self)
            }
            _ => Err(TargetError::NoIrq {
                name: name.into(),
                core: self.core_name(),
                known: known.iter().map(|(_, word)| *word).collect(),
            }),
        }
    }

    /// The same, called in another way.
    fn called(mut self, name: Option<&str>) -> Result<Self, TargetError> {
        let usual = "gcc";
        let Some(name) = name.filter(|name| *name != usual) else {
            return Ok(self);
        };
        let refused = |core: String, known| TargetError::NoAbi {
            name: name.into(),
            core,
            known,
        };
        match &mut self {
            Target::Avr { core, abi, .. } if name == IAR.name && core.set != Set::Avrrc => {
                *abi = &IAR;
                Ok(self)
            }
            Target::Avr { core, .. } if core.set != Set::Avrrc => {
                Err(refused(core.name.into(), &["gcc", "iar"]))
            }
            Target::Msp430 { core, abi, .. } => {
                let extended = core.features.extended;
                let known = msp430_calls::names(extended);
                let found = msp430_calls::named(name, extended);
                *abi = found.ok_or_else(|| refused(core.name.into(), known))?;
                Ok(self)
            }
            _ => Err(refused(self.core_name(), &[])),
        }
    }

    fn part(name: &str) -> Result<Self, TargetError> {
        let lower = name.to_lowercase();
        let avr = PARTS.iter().find(|p| p.name == lower);
        let avr = avr.map(|part| Target::Avr {
            core: part.core,
            part: Some(part),
            abi: part.core.abi,
        });
        let parts = riscv::cores::PARTS.iter();
        let riscv = parts.filter(|p| p.name == lower).find_map(|part| {
            Some(Target::Riscv {
                core: riscv::cores::Core::named(part.core)?,
                part: Some(part),
            })
        });
        let parts = msp430::cores::PARTS.iter();
        let msp430 = parts.filter(|p| p.name == lower).find_map(|part| {
            Some(Target::Msp430 {
                core: msp430::cores::Core::named(part.core)?,
                part: Some(part),
                irq: Irq::None,
                abi: &msp430_calls::GCC,
            })
        });
        avr.or(riscv).or(msp430).ok_or_else(|| {
            if let Some(core) = cores().iter().find(|core| core.name == lower) {
                return TargetError::PartIsCore(core.name);
            }
            let stranger = STRANGERS.iter().find(|s| lower.starts_with(s.begins));
            if let Some(Unmade {
                machine,
                nearest: near,
                ..
            }) = stranger
            {
                return TargetError::NotYet {
                    part: name.into(),
                    machine,
                    nearest: *near,
                };
            }
            TargetError::UnknownMcu {
                name: name.into(),
                nearest: nearest(&lower, part_names()),
            }
        })
    }

    fn of_core(name: &str) -> Result<Self, TargetError> {
        let avr = avr::cores::CORES.iter().copied().find(|c| c.name == name);
        let arm = arm::cores::CORES.iter().copied().find(|c| c.name == name);
        let mips = mips::cores::Core::named(name);
        let riscv = riscv::cores::Core::named(name);
        let msp430 = msp430::cores::Core::named(name);
        let found = avr
            .map(|core| Target::Avr {
                core,
                part: None,
                abi: core.abi,
            })
            .or(arm.map(Target::Arm))
            .or(mips.map(Box::new).map(Target::Mips))
            .or(riscv.map(|core| Target::Riscv { core, part: None }))
            .or(msp430.map(|core| Target::Msp430 {
                core,
                part: None,
                irq: Irq::None,
                abi: &msp430_calls::GCC,
            }));
        found.ok_or_else(|| {
            if let Some(part) = part_names().find(|part| *part == name.to_lowercase()) {
                return TargetError::CoreIsPart(part);
            }
            TargetError::UnknownCore {
                name: name.into(),
                nearest: nearest(name, cores().iter().map(|c| c.name)),
            }
        })
    }

    /// The same with extensions and byte order.
    fn configured(self, names: &Names<'_>) -> Result<Self, TargetError> {
        let Target::Mips(core) = self else {
            if let Some(name) = names.extensions.first() {
                return Err(TargetError::UnknownExtension {
                    core: self.core_name(),
                    name: name.clone(),
                    nearest: None,
                    known: Vec::new(),
                });
            }
            if names.big_endian {
                return Err(TargetError::NoBigEndian(self.core_name()));
            }
            return Ok(self);
        };
        let mut core = *core;
        for name in names.extensions {
            let each = mips::cores::Features::EACH;
            let found = each.iter().find(|(_, word)| word == name);
            let (feature, _) = found.ok_or_else(|| TargetError::UnknownExtension {
                core: core.name.into(),
                name: name.clone(),
                nearest: nearest(name, each.iter().map(|(_, word)| *word)),
                known: each.map(|(_, word)| word).to_vec(),
            })?;
            core = core.with(*feature);
        }
        if names.big_endian {
            core = core.big_endian();
        }
        Ok(Target::Mips(Box::new(core)))
    }

    /// The core, in its part, called as it is called.
    pub fn to_core(&self) -> Core {
        match self {
            Target::Avr { core, part, abi } => core.called(abi).in_part(*part).into(),
            Target::Arm(core) => arm::cores::Core::clone(core).into(),
            Target::Mips(core) => mips::cores::Core::clone(core).into(),
            Target::Riscv { core, .. } => riscv::cores::Core::clone(core).into(),
            Target::Msp430 {
                core,
                part,
                irq,
                abi,
            } => core.in_part(*part).with_irq(*irq).called(abi).into(),
        }
    }

    /// The core's name, with extensions and byte order.
    pub fn core_name(&self) -> String {
        match self {
            Target::Avr { core, .. } => core.name.into(),
            Target::Arm(core) => core.name.into(),
            Target::Mips(core) => core.full_name(),
            Target::Riscv { core, .. } => core.name.into(),
            Target::Msp430 { core, .. } => core.name.into(),
        }
    }

    /// The part's name.
    pub fn part_name(&self) -> Option<&'static str> {
        match self {
            Target::Avr { part, .. } => part.map(|p| p.name),
            Target::Riscv { part, .. } => part.map(|p| p.name),
            Target::Msp430 { part, .. } => part.map(|p| p.name),
            Target::Arm(_) | Target::Mips(_) => None,
        }
    }

    /// Does it call as no GNU compiler does?
    pub fn is_iar(&self) -> bool {
        match self {
            Target::Avr { abi, .. } => abi.name == IAR.name,
            Target::Msp430 { abi, .. } => abi.name == msp430_calls::IAR.name,
            Target::Arm(_) | Target::Mips(_) | Target::Riscv { .. } => false,
        }
    }

    /// Bits of a machine word.
    pub fn word_bits(&self) -> u32 {
        self.to_core().word_bits()
    }

    /// The assemblers that there are files for.
    pub fn dialects(&self) -> &'static [Assembler] {
        self.to_core().assemblers()
    }

    /// The usual one of these.
    pub fn dialect(&self) -> Assembler {
        match self.is_iar() {
            true => Assembler::Iar,
            false => Assembler::Gnu,
        }
    }

    /// Is there a file for this assembler?
    ///
    /// # Errors
    /// Which there are.
    pub fn has_dialect(&self, dialect: Assembler) -> Result<(), TargetError> {
        match self.dialects().contains(&dialect) {
            true => Ok(()),
            false => Err(TargetError::NoDialect {
                dialect,
                core: self.core_name(),
                known: self.dialects(),
            }),
        }
    }

    /// As on the command line.
    pub fn arguments(&self) -> String {
        let abi = match self {
            Target::Avr { abi, .. } if self.is_iar() => format!(" --abi {}", abi.name),
            Target::Msp430 { irq, abi, .. } => {
                let mut text = String::new();
                if **abi != msp430_calls::GCC {
                    text += &format!(" --abi {}", abi.name);
                }
                if *irq != Irq::None {
                    text += &format!(" --irq {}", irq.name());
                }
                text
            }
            _ => String::new(),
        };
        let core = match (self, self.part_name()) {
            (_, Some(mcu)) => return format!("--mcu {mcu}{abi}"),
            (Target::Mips(core), _) => core,
            _ => return format!("--core {}{abi}", self.core_name()),
        };
        let mut text = format!("--core {}", core.name);
        for (feature, word) in mips::cores::Features::EACH {
            if core.features.has(feature) {
                text += &format!(" --isa-ext {word}");
            }
        }
        if core.big_endian {
            text += " --big-endian";
        }
        text
    }

    /// The part's memory, if there is a part.
    pub fn room(&self) -> Option<Room> {
        let room = |part, flash, ram| Room {
            part,
            flash,
            below: "",
            ram,
        };
        match self {
            Target::Avr { part, .. } => part.map(|p| room(p.name, p.flash, p.ram)),
            Target::Riscv { part, .. } => part.map(|p| room(p.name, p.flash, p.ram)),
            // Large code lies where it likes.
            Target::Msp430 { part, abi, .. } => part.map(|p| {
                let flash = if abi.large { p.flash } else { p.near[0] };
                let below = if flash < p.flash { " below 64 KB" } else { "" };
                Room {
                    below,
                    ..room(p.name, flash, p.near[1])
                }
            }),
            Target::Arm(_) | Target::Mips(_) => None,
        }
    }

    /// What does not fit the part: `flash` bytes of code, `ram` bytes of operands and stack.
    pub fn warnings(&self, flash: usize, ram: usize) -> Vec<String> {
        let Some(room) = self.room() else {
            return vec![];
        };
        let mut list = Vec::new();
        if flash > room.flash {
            list.push(format!(
                "{flash} bytes of code do not fit the {} bytes of flash{} of {}",
                room.flash, room.below, room.part
            ));
        }
        if ram > room.ram {
            list.push(format!(
                "operands, result and stack, {ram} bytes, do not fit the {} bytes of RAM of {}",
                room.ram, room.part
            ));
        }
        list
    }
}

/// The names of all parts.
fn part_names() -> impl Iterator<Item = &'static str> {
    let avr = PARTS.iter().map(|part| part.name);
    let riscv = riscv::cores::PARTS.iter().map(|part| part.name);
    let msp430 = msp430::cores::PARTS.iter().map(|part| part.name);
    avr.chain(riscv).chain(msp430)
}
