//! What is asked for, and the kernel that is made of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use make::facts::Style;
use make::lower;
use make::method;
use make::plans::Plan;
use make::request::{Demands, Request, Room};
use spec::modulus::{Modular, Modulus, NAMES, Reduce};
use spec::nearest::nearest;
use spec::{MAX_BITS, Op, Size};

use crate::face::error::{Error, What};
use crate::face::kernel::Kernel;
use crate::face::options::{AnyModulus, Options};
use crate::kernel;
use crate::report::OneTime;
use crate::target::Target;

/// What a request has gathered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub op: Op,
    pub size: Size,
    pub modulus: Option<AnyModulus>,
    pub reduce: Reduce,
    pub shift: u32,
    pub times: u32,
    pub method: Option<String>,
    pub params: BTreeMap<String, usize>,
    pub plan: Option<Arc<Plan>>,
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
    [shift, times]: [u32; 2],
) -> Result<Option<Modular>, Error> {
    let modular = |given| {
        Ok(Modular {
            modulus: modulus(given)?,
            reduce,
            shift,
            times,
        })
    };
    given.map(modular).transpose()
}

impl Asked {
    /// The size in whole words, where shorter operands are the same with zeros above them.
    fn whole(&self, word_bits: u32) -> Size {
        let most = self.size.a.max(self.size.b);
        match self.op.takes_shorter() && most <= MAX_BITS {
            true => self.size.rounded_up(word_bits),
            false => self.size,
        }
    }

    /// The request that the maker of kernels for `target` reads, for a part with this room.
    pub fn request(&self, target: &Target, room: Option<Room>) -> Result<Request, Error> {
        let options = &self.options;
        Ok(Request {
            op: self.op,
            size: self.whole(target.word_bits()),
            modular: modular(self.modulus.as_ref(), self.reduce, [self.shift, self.times])?,
            method: self.method.clone(),
            params: self.params.clone(),
            plan: self.plan.clone(),
            max_regs: options.max_regs,
            style: self.style,
            budget: options.budget,
            room,
            demands: Demands {
                variable_time: self.variable_time,
                one_time: false,
                aliases: options.aliases.clone(),
            },
            drop: options.drop,
            search: options.search,
        })
    }

    /// The cheapest kernel, whatever its verdicts are.
    pub fn judge(&self, target: &Target, room: Option<Room>) -> Result<Kernel, Error> {
        let made = self.generated(&self.request(target, room)?, target)?;
        let leaks = made.is_sound() && !made.keeps_its_time() && self.method.is_none();
        match leaks && self.options.constant_time {
            true => self.in_one_time(made, target, room),
            false => Ok(self.kernel(made, target, None)),
        }
    }

    fn generated(
        &self,
        request: &Request,
        target: &Target,
    ) -> Result<kernel::Kernel, kernel::Error> {
        let watcher = &self.options.watcher;
        kernel::generate_watched(request, &target.to_core(), &|step| watcher.tell(step))
    }

    fn kernel(&self, made: kernel::Kernel, target: &Target, one_time: Option<OneTime>) -> Kernel {
        let options = Options {
            one_time,
            shorter: (self.size != made.spec.size).then_some(self.size),
            ..self.options.clone()
        };
        Kernel::of(made, target.clone(), options)
    }

    /// A kernel in one time, as `fastest` leaks; or that one, and why there is no other.
    fn in_one_time(
        &self,
        fastest: kernel::Kernel,
        target: &Target,
        room: Option<Room>,
    ) -> Result<Kernel, Error> {
        let plan = method::text(fastest.method.name, &fastest.params);
        let beside = |refused| Some(OneTime::beside(plan, &fastest.cost, refused));
        let facts = lower::facts(&target.to_core());
        let Some(steady) = self.request(target, room)?.in_one_time(&facts) else {
            let why = format!("no method makes {} in one time", self.op.name());
            let one_time = beside(Some(why));
            return Ok(self.kernel(fastest, target, one_time));
        };
        match self.generated(&steady, target) {
            Ok(made) => {
                let one_time = beside(None);
                Ok(self.kernel(made, target, one_time))
            }
            Err(error) => {
                let one_time = beside(Some(error.to_string()));
                Ok(self.kernel(fastest, target, one_time))
            }
        }
    }
}
