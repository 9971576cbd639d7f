//! What is asked for: an operation, a size, and which methods, parameters and styles come into question.

use std::collections::BTreeMap;

use crate::candidate::Budget;
use crate::facts::Style;
use crate::kernel::Error;
use crate::method::{self, METHODS, Method, Params};
use crate::spec::modulus::Modular;
use crate::spec::{Op, Size, Spec, SpecError};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub op: Op,
    pub size: Size,
    /// What a modular operation works modulo.
    pub modular: Option<Modular>,
    /// A method's name; the cheapest if none.
    pub method: Option<String>,
    pub params: BTreeMap<String, usize>,
    /// The most free registers to use, of those the target's facts count.
    pub max_regs: Option<usize>,
    /// How much is written out; if it does not say, all, but for methods that are loops.
    pub style: Option<Style>,
    /// The most it may take.
    pub budget: Budget,
    /// Leave out the instruction of this index, to watch the proof fail.
    pub drop: Option<usize>,
}

impl Request {
    /// What is computed, in words of `word_bits` bits.
    ///
    /// # Errors
    /// When sizes or modulus do not fit.
    pub fn spec(&self, word_bits: u32) -> Result<Spec, SpecError> {
        Spec::with(self.op, self.size, self.modular.clone(), word_bits)
    }
}

/// The nearest of `known` to `name`, as ` (did you mean ...?)`.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min();
    match nearest {
        Some((distance, k)) if distance <= 3.max(name.len() / 3) => {
            format!(" (did you mean {k}?)")
        }
        _ => String::new(),
    }
}

/// The methods that come into question.
pub(crate) fn methods(request: &Request) -> Result<Vec<&'static Method>, Error> {
    let Some(name) = &request.method else {
        if !request.params.is_empty() {
            return Err(Error::ParameterWithoutMethod);
        }
        let able = METHODS.iter().copied().filter(|m| m.computes(request.op));
        let able: Vec<_> = able.collect();
        return match able.is_empty() {
            true => Err(Error::NoMethod(request.op.name())),
            false => Ok(able),
        };
    };
    let method = method::find_for(name, request.op).ok_or_else(|| Error::UnknownMethod {
        name: name.clone(),
        hint: did_you_mean(name, METHODS.iter().map(|m| m.name)),
    })?;
    if !method.computes(request.op) {
        return Err(Error::WrongOperation(method.name, request.op.name()));
    }
    Ok(vec![method])
}

/// Parameters given by name.
pub(crate) fn parameters(
    method: &'static Method,
    given: &BTreeMap<String, usize>,
) -> Result<Params, Error> {
    given
        .iter()
        .map(|(name, value)| {
            let known = method.parameters.iter().find(|p| p.name == name);
            let parameter = known.ok_or_else(|| Error::UnknownParameter {
                method: method.name,
                name: name.clone(),
                known: match method.parameters {
                    [] => "none".into(),
                    list => list.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
                },
            })?;
            Ok((parameter.name, *value))
        })
        .collect()
}

/// The styles to try: the one asked for; within a budget all of them.
pub(crate) fn styles(request: &Request) -> impl Iterator<Item = Option<Style>> {
    let small = [Some(Style::Looped), Some(Style::Rolled)];
    let small = small
        .into_iter()
        .filter(|_| request.style.is_none() && request.budget.is_set());
    std::iter::once(request.style).chain(small)
}
