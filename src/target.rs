//! Names of cores and parts, resolved.

use thiserror::Error;

use crate::isa::avr::cores::{self, Core};
use crate::isa::avr::parts::{PARTS, Part};
use crate::kernel::did_you_mean;

/// What a kernel is made for.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    Avr {
        core: &'static Core,
        part: Option<&'static Part>,
    },
}

/// A name that is no target, or a target that has no kernels.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum TargetError {
    #[error("unknown part {0}{1}; `lozenge list mcus` names them all")]
    UnknownMcu(String, String),
    #[error("unknown core {0}{1}; `lozenge list cores` names them all")]
    UnknownCore(String, String),
    #[error("the core of {0} is {1}, not {2}: give one of --mcu and --core")]
    Conflict(String, String, String),
    #[error("--mcu or --core says what the kernel is for: try --mcu atmega328p")]
    Missing,
    #[error("{0} has no MUL instruction, and every method here multiplies with it")]
    NoMultiplier(String),
}

impl Target {
    /// The target of `--mcu` and `--core`.
    ///
    /// # Errors
    /// When a name is unknown, both disagree, or neither is given.
    pub fn resolve(mcu: Option<&str>, core: Option<&str>) -> Result<Self, TargetError> {
        let core = core
            .map(|name| {
                let found = cores::CORES.iter().copied().find(|c| c.name == name);
                found.ok_or_else(|| {
                    let hint = did_you_mean(name, cores::CORES.iter().map(|c| c.name));
                    TargetError::UnknownCore(name.into(), hint)
                })
            })
            .transpose()?;
        let part = mcu
            .map(|name| {
                let lower = name.to_lowercase();
                PARTS.iter().find(|p| p.name == lower).ok_or_else(|| {
                    let hint = did_you_mean(&lower, PARTS.iter().map(|p| p.name));
                    TargetError::UnknownMcu(name.into(), hint)
                })
            })
            .transpose()?;
        match (part, core) {
            (Some(part), _) if !part.has_mul => Err(TargetError::NoMultiplier(part.name.into())),
            (Some(part), Some(core)) if part.core != core => Err(TargetError::Conflict(
                part.name.into(),
                part.core.name.into(),
                core.name.into(),
            )),
            (Some(part), _) => Ok(Target::Avr {
                core: part.core,
                part: Some(part),
            }),
            (None, Some(core)) => Ok(Target::Avr { core, part: None }),
            (None, None) => Err(TargetError::Missing),
        }
    }

    /// The core's name.
    pub fn core_name(&self) -> &'static str {
        match self {
            Target::Avr { core, .. } => core.name,
        }
    }

    /// The part's name.
    pub fn mcu(&self) -> Option<&'static str> {
        match self {
            Target::Avr { part, .. } => part.map(|p| p.name),
        }
    }

    /// As on the command line.
    pub fn arguments(&self) -> String {
        match self.mcu() {
            Some(mcu) => format!("--mcu {mcu}"),
            None => format!("--core {}", self.core_name()),
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
