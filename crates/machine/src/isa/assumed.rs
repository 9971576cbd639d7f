//! What a function may assume when it is entered and must give back when it returns: one row for each register,
//! flag and I/O register. Abstract runs are entered with what the rows of their machine say and are held to it
//! at the end; SOUNDNESS.md shows the same rows.

use std::ops::RangeInclusive;

use crate::domain::place::Base;

/// What a place holds at entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// Any word: the same until the function writes another.
    Anything,
    /// Any word, another one whenever it is read: an interrupt writes it.
    Changing,
    Zero,
    /// The address where this stack begins.
    Stack(Base),
    /// Where the function returns to.
    ReturnAddress,
    /// The address of the function, if its file says where that is.
    OwnAddress,
}

/// What a place must hold when the function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// Anything.
    Free,
    /// What it held at entry.
    Kept,
    Zero,
    /// The address where this stack begins, so many bytes on: the return address is taken off.
    Above(Base, u8),
    /// The function may not write it at all.
    Untouched,
}

/// What a row speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Words of the machine, in its own order ([`crate::isa::machine::Machine::words`]): registers by their numbers first.
    Words(RangeInclusive<u8>),
    /// Flags, in its own order.
    Flags(RangeInclusive<u8>),
    /// Something that no access is followed to.
    Elsewhere,
}

/// An assumption and what is owed for it.
#[derive(Clone, Debug)]
pub struct Assumption {
    pub place: Subject,
    /// As a table calls it; by the names of its registers if empty.
    pub what: &'static str,
    /// On which parts; on all of them if empty.
    pub parts: &'static str,
    pub holds: Holds,
    /// Who promises that it holds this.
    pub promised: &'static str,
    pub back: Back,
}

impl Assumption {
    /// A row on registers.
    pub fn registers(
        registers: RangeInclusive<u8>,
        holds: Holds,
        promised: &'static str,
        back: Back,
    ) -> Self {
        Self {
            place: Subject::Words(registers),
            what: "",
            parts: "",
            holds,
            promised,
            back,
        }
    }

    /// What it speaks of, in words; `name` says those of registers.
    fn text(&self, name: &impl Fn(u8) -> String) -> String {
        match &self.place {
            Subject::Words(all) if self.what.is_empty() => match all.end() - all.start() {
                0 => name(*all.start()),
                1 => format!("{}, {}", name(*all.start()), name(*all.end())),
                _ => format!("{} to {}", name(*all.start()), name(*all.end())),
            },
            Subject::Words(_) | Subject::Flags(_) | Subject::Elsewhere => self.what.into(),
        }
    }

    /// Is it about register `r`?
    pub fn speaks_of(&self, r: u8) -> bool {
        match &self.place {
            Subject::Words(range) => range.contains(&r),
            Subject::Flags(_) | Subject::Elsewhere => false,
        }
    }
}

impl Holds {
    fn text(self) -> &'static str {
        match self {
            Holds::Anything => "anything",
            Holds::Changing => "anything, at each reading",
            Holds::Zero => "0",
            Holds::Stack(Base::DATA_STACK) => {
                "the address of the last byte in use on the data stack"
            }
            Holds::Stack(_) => "the end of the stack",
            Holds::ReturnAddress => "the return address",
            Holds::OwnAddress => "the function's address",
        }
    }
}

impl Back {
    fn text(self) -> String {
        match self {
            Back::Free => "no".into(),
            Back::Kept => "yes, as at entry".into(),
            Back::Zero => "yes, 0".into(),
            Back::Above(_, 0) => "yes, as at entry".into(),
            Back::Above(_, bytes) => format!("yes, {bytes} bytes on: without the return address"),
            Back::Untouched => "may not be written".into(),
        }
    }
}

/// `rows` as a table in Markdown; `name` says that of a register.
pub fn markdown(rows: &[Assumption], name: impl Fn(u8) -> String) -> String {
    let mut text = String::from(
        "| what | where | holds at entry | says who | given back |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let parts = if row.parts.is_empty() {
            "everywhere"
        } else {
            row.parts
        };
        text += &format!(
            "| {} | {parts} | {} | {} | {} |\n",
            row.text(&name),
            row.holds.text(),
            row.promised,
            row.back.text()
        );
    }
    text
}
