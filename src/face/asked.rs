//! What is asked for, and the kernel that is made of it.

use std::collections::BTreeMap;

use make::facts::Style;
use make::request::{Demands, Request, Room};
use spec::modulus::{Modular, Modulus, NAMES, Reduce};
use spec::nearest::nearest;
use spec::{Op, Size};

use crate::face::error::{Error, What};
use crate::face::kernel::Kernel;
use crate::face::options::{AnyModulus, Options};
use crate::kernel;
use crate::target::Target;

/// What a request has gathered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub op: Op,
    pub size: Size,
    pub modulus: Option<AnyModulus>,
    pub reduce: Reduce,
    pub shift: u32,
    pub method: Option<String>,
    pub params: BTreeMap<String, usize>,
    pub style: Option<Style>,
    pub variable_time: bool,
    pub options: Options,
}

/// A modulus that may be a text.
pub(super) fn modulus(given: &AnyModulus) -> Result<Modulus, Error> {
    let names = || NAMES.iter().map(|(name, _)| *name);
    given.0.clone().map_err(|name| Error::Unknown {
        what: What::Modulus,
        nearest: nearest(&name.to_lowercase(), names()).map(String::from),
        name,
        of: None,
        known: names().collect(),
    })
}

/// The modulus and how far is reduced, if there is one.
pub(super) fn modular(
    given: Option<&AnyModulus>,
    reduce: Reduce,
    shift: u32,
) -> Result<Option<Modular>, Error> {
    let modular = |given| {
        Ok(Modular {
            modulus: modulus(given)?,
            reduce,
            shift,
        })
    };
    given.map(modular).transpose()
}

impl Asked {
    /// The request that the maker of kernels reads, for a part with this room.
    pub fn request(&self, room: Option<Room>) -> Result<Request, Error> {
        let options = &self.options;
        Ok(Request {
            op: self.op,
            size: self.size,
            modular: modular(self.modulus.as_ref(), self.reduce, self.shift)?,
            method: self.method.clone(),
            params: self.params.clone(),
            max_regs: options.max_regs,
            style: self.style,
            budget: options.budget,
            room,
            demands: Demands {
                variable_time: self.variable_time,
                aliases: options.aliases.clone(),
            },
            drop: options.drop,
            search: options.search,
        })
    }

    /// The cheapest kernel, whatever its verdicts are.
    pub fn judge(&self, target: &Target, room: Option<Room>) -> Result<Kernel, Error> {
        let made = kernel::generate(&self.request(room)?, &target.to_core())?;
        Ok(Kernel::of(made, target.clone(), self.options.clone()))
    }
}
