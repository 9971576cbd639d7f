//! A pack whose kernels are made.

use num_bigint::BigUint;
use spec::{Alias, vectors};

use crate::emit::banner::LICENCE;
use crate::face::Kernel;
use crate::pack::whole::Whole;
use crate::target::Target;

/// A pack whose kernels are made.
pub struct Made<'a> {
    /// Its name: `p256`.
    pub name: &'a str,
    /// The name of its header: letters, digits and `_`.
    pub file: &'a str,
    /// What it is for.
    pub title: &'a str,
    /// The command that gives the same files.
    pub command: &'a str,
    /// Of the tool.
    pub version: &'a str,
    /// What it is for.
    pub target: &'a Target,
    /// Its kernels, proved.
    pub kernels: &'a [Kernel],
    /// What calls them, if the pack is a whole computation.
    pub whole: Option<&'a Whole>,
}

impl Made<'_> {
    /// Bytes of code of all kernels, and of what calls them.
    pub fn bytes(&self) -> usize {
        let kernels = self.kernels.iter().map(|kernel| kernel.code().len());
        kernels.sum::<usize>() + self.whole.map_or(0, |whole| whole.report.flash.driver)
    }

    /// Bytes of stack of the kernel that takes most.
    pub fn stack(&self) -> usize {
        let stacks = self.kernels.iter().map(Kernel::stack);
        stacks.max().unwrap_or(0)
    }

    /// May the kernel's result lie where any of its factors does?
    pub(super) fn in_place(kernel: &Kernel) -> bool {
        let aliases = match kernel.spec().op.factors() {
            1 => &[Alias::RIsA][..],
            _ => &[Alias::RIsA, Alias::RIsB],
        };
        let report = kernel.report();
        aliases
            .iter()
            .all(|alias| report.may_coincide(alias.text()))
    }

    /// The comment at the top of a C file.
    pub fn banner(&self, what: &str) -> String {
        format!(
            "/* {what}\n * Made by lozenge {}: {}\n * SPDX-License-Identifier: {LICENCE}\n */\n\n",
            self.version, self.command
        )
    }

    /// Operands for a kernel's self-test: structured ones and random ones.
    pub(super) fn vectors(kernel: &Kernel) -> Vec<Vec<BigUint>> {
        /// How many there are beside the corners, and how many are taken of all.
        const RANDOM: usize = 12;
        const TAKEN: usize = 4;
        let spec = kernel.spec();
        let list = vectors::of(spec, RANDOM, u64::from(spec.size.a));
        let step = (list.len() / TAKEN).max(1);
        list.into_iter().step_by(step).take(TAKEN).collect()
    }
}
