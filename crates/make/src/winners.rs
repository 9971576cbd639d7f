//! Winners on record: for common operations, sizes and moduli, the plan that was the cheapest of all methods, parameters
//! and choices; of those in loops, too, for parts that have no room for all products one by one.
//! `cargo xtask ledger winners` searches and writes them to `crates/make/winners/`, a file for cores whose
//! instructions take the same time; a test searches again and compares.
//!
//! The first line of a file names the cores and their calling convention, `# atmega128 atmega2560: avr-gcc`. Any other
//! is `operation,size,modulus,style,plan`, as reports name them.

use std::collections::BTreeMap;
use std::sync::Arc;

use spec::Spec;
use spec::modulus::Modular;

use crate::facts::Style;
use crate::plans;
use crate::plans::Plan;

/// The files.
pub static FILES: [&str; 6] = [
    include_str!("../winners/atmega128.csv"),
    include_str!("../winners/atmega4809.csv"),
    include_str!("../winners/atxmega.csv"),
    include_str!("../winners/arm7tdmi.csv"),
    include_str!("../winners/mips-4km.csv"),
    include_str!("../winners/rv32im.csv"),
];

/// How a plan begins among parameters.
const GIVEN: &str = "plan=";

/// A method and its parameters, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub method: String,
    pub params: BTreeMap<String, usize>,
    /// The plan of its products.
    pub plan: Option<Arc<Plan>>,
}

impl Named {
    /// As [`Named::parse`] reads it.
    pub fn text(&self) -> String {
        let numbers = self.params.iter().map(|(name, n)| format!(" {name}={n}"));
        let plan = self
            .plan
            .iter()
            .map(|plan| format!(" {GIVEN}{}", plan.name));
        self.method.clone() + &numbers.chain(plan).collect::<String>()
    }

    /// `operand-caching e=10`, `karatsuba levels=2 plan=k160-a`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let method = words.next()?.to_string();
        let parameter = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_string(), value.parse().ok()?))
        };
        let (plans, numbers): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with(GIVEN));
        let plan = plans.first().map(|word| plans::find(&word[GIVEN.len()..]));
        Some(Self {
            method,
            params: numbers.into_iter().map(parameter).collect::<Option<_>>()?,
            plan: plan
                .map(|known| known.cloned().ok_or(()))
                .transpose()
                .ok()?,
        })
    }
}

/// A plan on record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Winner {
    pub style: Style,
    pub named: Named,
}

impl Winner {
    /// As [`Winner::parse`] reads it.
    pub fn text(&self) -> String {
        format!("{},{}", self.style.name(), self.named.text())
    }

    /// `unrolled,operand-caching e=10`.
    pub fn parse(text: &str) -> Option<Self> {
        let (style, named) = text.split_once(',')?;
        Some(Self {
            style: style.parse().ok()?,
            named: Named::parse(named)?,
        })
    }
}

/// What names a line: `montmul,256,p256 full`.
pub fn key(spec: &Spec) -> String {
    let modular = |m: &Modular| match m.shift {
        0 => format!("{} {}", m.modulus, m.reduce.name()),
        shift => format!("{} {} shift {shift}", m.modulus, m.reduce.name()),
    };
    let modular = spec.modular.as_ref().map_or(String::new(), modular);
    format!("{},{},{modular}", spec.op.name(), spec.size)
}

/// The first line of a file for these cores: `# atmega128 atmega2560: avr-gcc`.
pub fn head(cores: &[&str], abi: &str) -> String {
    format!("# {}: {abi}", cores.join(" "))
}

/// Is the file for this core?
pub fn is_for(file: &str, core: &str, abi: &str) -> bool {
    let head = file.lines().next().and_then(|line| line.strip_prefix("# "));
    let named = head.and_then(|head| head.split_once(": "));
    named.is_some_and(|(cores, of)| of == abi && cores.split(' ').any(|name| name == core))
}

/// The plans on record for `spec` on the core of this name, in this calling convention: one that is written out, one in
/// loops, or only one of them. The one that is written out comes first.
pub fn of(core: &str, abi: &str, spec: &Spec) -> Vec<Winner> {
    let key = key(spec);
    let files = FILES.iter().filter(|file| is_for(file, core, abi));
    let lines = files.flat_map(|file| file.lines());
    let mut list: Vec<_> = lines
        .filter_map(|line| Winner::parse(line.strip_prefix(&key)?.strip_prefix(',')?))
        .collect();
    list.sort_by_key(|winner| winner.style);
    list
}
