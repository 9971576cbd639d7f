//! Names of cores, parts and instruction set extensions, resolved.

use thiserror::Error;

use machine::format::ObjectFormat;
use machine::isa::Isa;
use machine::isa::arm;
use machine::isa::arm::ArmIsa;
use machine::isa::avr;
use machine::isa::avr::AvrIsa;
use machine::isa::avr::abi::{Abi, IAR};
use machine::isa::avr::cores::Set;
use machine::isa::avr::parts::{PARTS, Part};
use machine::isa::mips;
use machine::isa::mips::MipsIsa;
use make::lower::Lower;
use make::request::Room;
use spec::nearest::did_you_mean;

/// What a kernel is made for.
#[derive(Clone, Debug)]
pub enum Target {
    Avr {
        core: &'static avr::cores::Core,
        part: Option<&'static Part>,
        abi: &'static Abi,
    },
    Arm(&'static arm::cores::Core),
    Mips(Box<mips::cores::Core>),
}

/// Work that is the same on every instruction set.
pub trait OnIsa {
    type Output;
    /// Does it for a core whose objects look like `format`.
    fn call<I: Lower>(self, core: &I::Core, format: &ObjectFormat) -> Self::Output;
}

/// A core as `list` shows it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CoreEntry {
    pub name: &'static str,
    pub word_bits: u32,
    /// Words for `--isa-ext`.
    pub extensions: String,
    pub summary: &'static str,
    pub source: String,
}

/// Names on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    pub mcu: Option<&'a str>,
    pub core: Option<&'a str>,
    /// Instruction set extensions.
    pub extensions: &'a [String],
    pub big_endian: bool,
    /// The calling convention, if not the usual one.
    pub abi: Option<&'a str>,
}

/// A name that is no target, or a target that has no kernels.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum TargetError {
    #[error("unknown part {0}{1}; `lozenge list mcus` names them all")]
    UnknownMcu(String, String),
    #[error("{0} is a core, not a part: try --core {0}")]
    PartIsCore(&'static str),
    #[error("{0} is a part, not a core: try --mcu {0}")]
    CoreIsPart(&'static str),
    #[error(
        "{part} has a {machine}, and there are no kernels for that yet: the nearest is {nearest}"
    )]
    NotYet {
        part: String,
        machine: &'static str,
        nearest: &'static str,
    },
    #[error("unknown core {0}{1}; `lozenge list cores` names them all")]
    UnknownCore(String, String),
    #[error("the core of {0} is {1}, not {2}: give one of --mcu and --core")]
    Conflict(String, String, String),
    #[error("--mcu or --core says what the kernel is for: try --mcu atmega328p")]
    Missing,
    #[error("{core} has no extension {name}{hint}; it takes {known}")]
    UnknownExtension {
        core: String,
        name: String,
        hint: String,
        known: String,
    },
    #[error("{0} is little-endian: leave out --big-endian")]
    NoBigEndian(String),
    #[error("there is no calling convention {name} for {core}{hint}")]
    NoAbi {
        name: String,
        core: String,
        hint: &'static str,
    },
}

/// Parts that people ask for, and no kernels are made for.
struct Unmade {
    /// How their names begin.
    begins: &'static str,
    machine: &'static str,
    nearest: &'static str,
}

const fn unmade(begins: &'static str, machine: &'static str, nearest: &'static str) -> Unmade {
    Unmade {
        begins,
        machine,
        nearest,
    }
}

const THUMB: &str = "Cortex-M, which has Thumb only";
const OLD_ARM: &str = "--core arm7tdmi, ARM code that does not run there";
const SAME_MIPS: &str = "--core mips-4km, MIPS32 code whose cycles there nobody has counted";
const NONE_NEAR: &str = "none; `lozenge list cores` says what there is";

static STRANGERS: [Unmade; 17] = [
    unmade("stm32", THUMB, OLD_ARM),
    unmade("cortex", THUMB, OLD_ARM),
    unmade("nrf5", THUMB, OLD_ARM),
    unmade("rp2", THUMB, OLD_ARM),
    unmade("samd", THUMB, OLD_ARM),
    unmade("atsam", THUMB, OLD_ARM),
    unmade("efm32", THUMB, OLD_ARM),
    unmade("lpc1", THUMB, OLD_ARM),
    unmade("lpc2", "core of the ARM7 family", "--core arm7tdmi"),
    unmade("at91sam7", "core of the ARM7 family", "--core arm7tdmi"),
    unmade("pic32", "MIPS32 core", SAME_MIPS),
    unmade("msp430", "MSP430 core", NONE_NEAR),
    unmade("esp32", "Xtensa or RISC-V core", NONE_NEAR),
    unmade("esp8266", "Xtensa core", NONE_NEAR),
    unmade("gd32vf", "RISC-V core", NONE_NEAR),
    unmade("ch32v", "RISC-V core", NONE_NEAR),
    unmade("riscv", "RISC-V core", NONE_NEAR),
];

/// Every core of every instruction set.
pub fn cores() -> Vec<CoreEntry> {
    let avr = avr::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 8,
        extensions: String::new(),
        summary: c.summary,
        source: c.source.into(),
    });
    let arm = arm::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 32,
        extensions: String::new(),
        summary: c.summary,
        source: c.source.into(),
    });
    let mips = mips::cores::CORES.iter().map(|c| CoreEntry {
        name: c.name,
        word_bits: 32,
        extensions: extension_names(),
        summary: c.summary,
        source: c.multiply.source.into(),
    });
    avr.chain(arm).chain(mips).collect()
}

fn extension_names() -> String {
    let names = mips::cores::Features::EACH.map(|(_, name)| name);
    names.join(", ")
}

impl Target {
    /// The target that the names on the command line say.
    ///
    /// # Errors
    /// When a name is unknown, two disagree, or none is given.
    pub fn resolve(names: &Names<'_>) -> Result<Self, TargetError> {
        let core = names.core.map(Self::of_core).transpose()?;
        let part = names.mcu.map(Self::part).transpose()?;
        let target = match (part, core) {
            (Some(part), Some(core)) if core.core_name() != part.core.name => {
                return Err(TargetError::Conflict(
                    part.name.into(),
                    part.core.name.into(),
                    core.core_name(),
                ));
            }
            (Some(part), _) => Target::Avr {
                core: part.core,
                part: Some(part),
                abi: part.core.abi,
            },
            (None, Some(core)) => core,
            (None, None) => return Err(TargetError::Missing),
        };
        target.called(names.abi)?.configured(names)
    }

    /// The same, called in another way.
    fn called(mut self, name: Option<&str>) -> Result<Self, TargetError> {
        let usual = "gcc";
        let Some(name) = name.filter(|name| *name != usual) else {
            return Ok(self);
        };
        let refused = |core: String, hint| TargetError::NoAbi {
            name: name.into(),
            core,
            hint,
        };
        match &mut self {
            Target::Avr { core, abi, .. } if name == IAR.name && core.set != Set::Avrrc => {
                *abi = &IAR;
                Ok(self)
            }
            Target::Avr { core, .. } if core.set != Set::Avrrc => {
                Err(refused(core.name.into(), ": try gcc or iar"))
            }
            _ => Err(refused(self.core_name(), ": leave out --abi")),
        }
    }

    fn part(name: &str) -> Result<&'static Part, TargetError> {
        let lower = name.to_lowercase();
        PARTS.iter().find(|p| p.name == lower).ok_or_else(|| {
            if let Some(core) = cores().iter().find(|core| core.name == lower) {
                return TargetError::PartIsCore(core.name);
            }
            let stranger = STRANGERS.iter().find(|s| lower.starts_with(s.begins));
            if let Some(Unmade {
                machine, nearest, ..
            }) = stranger
            {
                return TargetError::NotYet {
                    part: name.into(),
                    machine,
                    nearest,
                };
            }
            let hint = did_you_mean(&lower, PARTS.iter().map(|p| p.name));
            TargetError::UnknownMcu(name.into(), hint)
        })
    }

    fn of_core(name: &str) -> Result<Self, TargetError> {
        let avr = avr::cores::CORES.iter().copied().find(|c| c.name == name);
        let arm = arm::cores::CORES.iter().copied().find(|c| c.name == name);
        let mips = mips::cores::Core::named(name);
        let found = avr
            .map(|core| Target::Avr {
                core,
                part: None,
                abi: core.abi,
            })
            .or(arm.map(Target::Arm))
            .or(mips.map(Box::new).map(Target::Mips));
        found.ok_or_else(|| {
            if let Some(part) = PARTS.iter().find(|p| p.name == name.to_lowercase()) {
                return TargetError::CoreIsPart(part.name);
            }
            let known = cores();
            let hint = did_you_mean(name, known.iter().map(|c| c.name));
            TargetError::UnknownCore(name.into(), hint)
        })
    }

    /// The same with extensions and byte order.
    fn configured(self, names: &Names<'_>) -> Result<Self, TargetError> {
        let Target::Mips(core) = self else {
            if let Some(name) = names.extensions.first() {
                return Err(TargetError::UnknownExtension {
                    core: self.core_name(),
                    name: name.clone(),
                    hint: String::new(),
                    known: "none".into(),
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
                hint: did_you_mean(name, each.iter().map(|(_, word)| *word)),
                known: extension_names(),
            })?;
            core = core.with(*feature);
        }
        if names.big_endian {
            core = core.big_endian();
        }
        Ok(Target::Mips(Box::new(core)))
    }

    /// Does `work` for this target's instruction set and core.
    pub fn on<W: OnIsa>(&self, work: W) -> W::Output {
        match self {
            Target::Avr { core, part, abi } => {
                let mut format = AvrIsa::object_format(core);
                if let Some(part) = part {
                    format.flags = part.arch;
                }
                work.call::<AvrIsa>(&core.called(abi).in_part(*part), &format)
            }
            Target::Arm(core) => work.call::<ArmIsa>(core, &ArmIsa::object_format(core)),
            Target::Mips(core) => work.call::<MipsIsa>(core, &MipsIsa::object_format(core)),
        }
    }

    /// The core's name, with extensions and byte order.
    pub fn core_name(&self) -> String {
        match self {
            Target::Avr { core, .. } => core.name.into(),
            Target::Arm(core) => core.name.into(),
            Target::Mips(core) => core.full_name(),
        }
    }

    /// The part's name.
    pub fn mcu(&self) -> Option<&'static str> {
        match self {
            Target::Avr { part, .. } => part.map(|p| p.name),
            Target::Arm(_) | Target::Mips(_) => None,
        }
    }

    /// Does it call as no GNU compiler does?
    pub fn is_iar(&self) -> bool {
        matches!(self, Target::Avr { abi, .. } if abi.name == IAR.name)
    }

    /// As on the command line.
    pub fn arguments(&self) -> String {
        let abi = match self {
            Target::Avr { abi, .. } if self.is_iar() => format!(" --abi {}", abi.name),
            _ => String::new(),
        };
        let core = match (self, self.mcu()) {
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
        match self {
            Target::Avr {
                part: Some(part), ..
            } => Some(Room {
                part: part.name,
                flash: part.flash,
                ram: part.ram,
            }),
            Target::Avr { part: None, .. } | Target::Arm(_) | Target::Mips(_) => None,
        }
    }

    /// What does not fit the part: `flash` bytes of code, `ram` bytes of operands and stack.
    pub fn warnings(&self, flash: usize, ram: usize) -> Vec<String> {
        let Target::Avr {
            part: Some(part), ..
        } = self
        else {
            return vec![];
        };
        let mut list = Vec::new();
        if flash > part.flash {
            list.push(format!(
                "{flash} bytes of code do not fit the {} bytes of flash of {}",
                part.flash, part.name
            ));
        }
        if ram > part.ram {
            list.push(format!(
                "operands, result and stack, {ram} bytes, do not fit the {} bytes of RAM of {}",
                part.ram, part.name
            ));
        }
        list
    }
}
