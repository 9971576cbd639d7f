//! The four verdicts on a function.

use judge::prove::Verdict;
use judge::timing::Leak;

use crate::report::Report;

/// What is known of time on the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time<'a> {
    /// Neither time nor an address depends on operands.
    Constant,
    /// An instruction tells something of the operands, or it is not shown that it does not.
    Open(&'a Leak),
    /// Nothing is known.
    Unknown,
}

/// The four verdicts on a function, and what was demanded of it.
#[derive(Clone, Copy, Debug)]
pub struct Verdicts<'a>(pub(super) &'a Report);

impl<'a> Verdicts<'a> {
    /// Does the result satisfy the equation, for all operands?
    pub fn correct(self) -> &'a Verdict {
        &self.0.verdict.correct
    }

    /// Does it read its operands and write its result and its own stack frame, and nothing else?
    pub fn memory(self) -> &'a Verdict {
        &self.0.verdict.memory
    }

    /// Does it keep the calling convention?
    pub fn abi(self) -> &'a Verdict {
        &self.0.verdict.abi
    }

    /// Is its time the same for all operands, on the target?
    pub fn time(self) -> Time<'a> {
        let report = self.0;
        match (report.time(&report.core), report.leaks.get(&report.core)) {
            ("proved", _) => Time::Constant,
            (_, Some(leak)) => Time::Open(leak),
            (_, None) => Time::Unknown,
        }
    }

    /// Is all proved that was demanded: equation, memory and calling convention, overlaps that were asked for, and
    /// constant time, unless the request accepts a variable one?
    pub fn all_proved(self) -> bool {
        self.0.is_proved()
    }

    /// What is not proved though it was demanded, in words.
    pub fn open(self) -> Vec<String> {
        self.0.open()
    }
}
