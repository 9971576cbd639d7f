//! The files of a pack.

use spec::vectors;

use crate::emit::banner::LICENCE;
use crate::face::{Error, Kernel};
use crate::pack::micro_ecc::Library;
use crate::pack::{header, manifest, readme, selftest};
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
    /// The library that calls them.
    pub library: Option<&'a Library>,
}

impl Made<'_> {
    /// Bytes of code of all kernels.
    pub fn bytes(&self) -> usize {
        self.kernels.iter().map(|kernel| kernel.code().len()).sum()
    }

    /// Bytes of stack of the kernel that takes most.
    pub fn stack(&self) -> usize {
        let stacks = self.kernels.iter().map(Kernel::stack);
        stacks.max().unwrap_or(0)
    }

    /// The comment at the top of a C file.
    pub fn banner(&self, what: &str) -> String {
        format!(
            "/* {what}\n * Made by lozenge {}: {}\n * SPDX-License-Identifier: {LICENCE}\n */\n\n",
            self.version, self.command
        )
    }

    /// All files, name and contents.
    ///
    /// # Errors
    /// When one cannot be written (a defect of this tool).
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let mut list = Vec::new();
        for kernel in self.kernels {
            let of_kernel = kernel.files()?.list.into_iter();
            // One header and one manifest stand for theirs.
            let own = |name: &str| !name.ends_with(".h") && !name.ends_with(".json");
            list.extend(of_kernel.filter(|(name, _)| own(name)));
        }
        let texts = [
            (format!("{}.h", self.file), header::header(self)),
            (
                manifest::NAME.into(),
                manifest::manifest(self).map_err(Error::Defect)?,
            ),
            ("selftest.c".into(), selftest::selftest(self)),
            ("README.md".into(), readme::readme(self)),
        ];
        list.extend(texts.map(|(name, text)| (name, text.into_bytes())));
        if let Some(library) = self.library {
            let (name, text) = library.file(self);
            list.push((name, text.into_bytes()));
        }
        Ok(list)
    }

    /// Operands for a kernel's self-test: structured ones and random ones.
    pub(super) fn vectors(kernel: &Kernel) -> Vec<Vec<num_bigint::BigUint>> {
        /// How many there are beside the corners, and how many are taken of all.
        const RANDOM: usize = 12;
        const TAKEN: usize = 4;
        let spec = kernel.spec();
        let list = vectors::of(spec, RANDOM, u64::from(spec.size.a));
        let step = (list.len() / TAKEN).max(1);
        list.into_iter().step_by(step).take(TAKEN).collect()
    }
}
