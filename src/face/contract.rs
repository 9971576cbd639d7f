//! What a caller promises of a function, and what it is said to compute.

use machine::isa::energy::Currents;
use spec::modulus::{Modular, Reduce};
use spec::{Op, Size};

use crate::face::asked::modular;
use crate::face::error::Error;
use crate::face::options::AnyModulus;

/// What a function is said to compute, and how it is called.
#[derive(Clone, Debug)]
pub struct Contract {
    pub(super) op: Op,
    pub(super) size: Size,
    modulus: Option<AnyModulus>,
    reduce: Reduce,
    shift: u32,
    times: u32,
    pub(super) arguments: Option<String>,
    pub(super) scratch: Option<String>,
    pub(super) limb_bits: Option<u32>,
    pub(super) align: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) variable_time: bool,
    pub(super) currents: Option<Currents>,
}

impl Contract {
    /// An operation on operands of `size` bits: arrays of words, called with pointers `r, a, b`.
    pub fn new(op: Op, size: impl Into<Size>) -> Self {
        Self {
            op,
            size: size.into(),
            modulus: None,
            reduce: Reduce::Full,
            shift: 0,
            times: 0,
            arguments: None,
            scratch: None,
            limb_bits: None,
            align: None,
            limit: None,
            variable_time: false,
            currents: None,
        }
    }

    /// Modulo what: `"p256"`, `"2^255-19"`, `"runtime"` or a number.
    pub fn modulus(mut self, modulus: impl Into<AnyModulus>) -> Self {
        self.modulus = Some(modulus.into());
        self
    }

    /// How far results are reduced; below the modulus if this is not called.
    pub fn reduce(mut self, reduce: Reduce) -> Self {
        self.reduce = reduce;
        self
    }

    /// Numbers are kept times `2^shift`.
    pub fn shift(mut self, bits: u32) -> Self {
        self.shift = bits;
        self
    }

    /// What it multiplies by: of [`Op::Modtimes`].
    pub fn times(mut self, number: u32) -> Self {
        self.times = number;
        self
    }

    /// Its arguments in the order of the calling convention, `r,a,b,n@sp+4`; see
    /// [`set_arguments`](crate::audit::set_arguments).
    pub fn arguments(mut self, text: impl Into<String>) -> Self {
        self.arguments = Some(text.into());
        self
    }

    /// Registers that it may destroy besides: `r2,r4-r7`.
    pub fn scratch(mut self, text: impl Into<String>) -> Self {
        self.scratch = Some(text.into());
        self
    }

    /// Operands are arrays of words of so many bits; as the function reads them if this is not called.
    pub fn limb_bits(mut self, bits: u32) -> Self {
        self.limb_bits = Some(bits);
        self
    }

    /// Operands lie at multiples of so many bytes; of those of their words if this is not called.
    pub fn align(mut self, bytes: u64) -> Self {
        self.align = Some(bytes);
        self
    }

    /// A run takes so many instructions at most.
    pub fn limit(mut self, instructions: u64) -> Self {
        self.limit = Some(instructions);
        self
    }

    /// What the core draws, where nothing is published of it or it runs at another voltage.
    pub fn currents(mut self, currents: Currents) -> Self {
        self.currents = Some(currents);
        self
    }

    /// Time and addresses may depend on operands.
    pub fn variable_time(mut self) -> Self {
        self.variable_time = true;
        self
    }

    pub(super) fn modular(&self) -> Result<Option<Modular>, Error> {
        modular(self.modulus.as_ref(), self.reduce, [self.shift, self.times])
    }

    /// Arguments of `lozenge check`, behind those that say what is computed.
    pub(super) fn words(&self) -> Vec<String> {
        let mut list = Vec::new();
        if self.variable_time {
            list.push("--variable-time".to_string());
        }
        let options = [
            ("--args", self.arguments.clone()),
            ("--scratch", self.scratch.clone()),
            ("--limb", self.limb_bits.map(|bits| bits.to_string())),
            ("--align", self.align.map(|bytes| bytes.to_string())),
            ("--steps", self.limit.map(|steps| steps.to_string())),
        ];
        for (option, value) in options {
            let pair = value.map(|value| [option.to_string(), value]);
            list.extend(pair.into_iter().flatten());
        }
        list
    }
}
