//! What a function may assume when it is entered and must give back when it returns: one row for each register,
//! flag and I/O register. Abstract runs are entered with what the rows of their machine say and are held to it
//! at the end; SOUNDNESS.md shows the same rows.

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

/// An assumption and what is owed for it.
#[derive(Clone, Debug)]
pub struct Row<P> {
    pub place: P,
    /// On which parts; on all of them if empty.
    pub parts: &'static str,
    pub holds: Holds,
    /// Who promises that it holds this.
    pub promised: &'static str,
    pub back: Back,
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

/// `rows` as a table in Markdown.
pub fn markdown<P>(rows: &[Row<P>], name: impl Fn(&P) -> String) -> String {
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
            name(&row.place),
            row.holds.text(),
            row.promised,
            row.back.text()
        );
    }
    text
}
