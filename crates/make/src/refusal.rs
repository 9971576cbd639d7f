//! Why a target has no function for a schedule.

use thiserror::Error;

/// Why a schedule cannot be lowered to a machine.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum LowerError {
    #[error("the schedule needs more registers than there are")]
    Registers,
    #[error("it needs {need} bytes of stack, a kernel may use {limit}")]
    Stack { need: usize, limit: usize },
    #[error("this schedule mixes rows and columns")]
    Mixed,
    #[error("a stage cannot have two stages of its own")]
    Nested,
    #[error("MUL is not an instruction of {0}")]
    NoMultiplier(&'static str),
    #[error(
        "{0} has no multiplier, and products by additions are not made for it: there are modadd, modsub, modneg and modhalf"
    )]
    NoProducts(&'static str),
    #[error(
        "{0} has no multiplier: by additions there are mul and sqr (--method shift-and-add), modadd, modsub, modneg and modhalf"
    )]
    ByAdditions(&'static str),
    #[error("this machine multiplies")]
    Tiles,
    #[error("it needs three pointers, and Y is the stack pointer of data")]
    ThreePointers,
    #[error(
        "bands in loops are made of words of 8 bits: of 32 bits columns have a sixteenth of the products to load"
    )]
    Loops,
    #[error("no functions are made for {0} yet")]
    NotYet(&'static str),
    #[error("there are no drivers with {0}")]
    Driver(&'static str),
    #[error("{0} bytes of numbers are more than there is memory for")]
    Area(usize),
    #[error("two nested loops are not made for this machine yet")]
    Scans,
    #[error(
        "in rows of a product and of its quotients words come one at a time: by count 27 cycles for two products, \
         where columns of blocks of four words take 14.4"
    )]
    RowsOfQuotients,
    #[error(
        "in rows of a product and of its quotients ten registers stay, and words come one at a time: by estimate \
         33 cycles for two products, where columns take 26"
    )]
    WideRows,
    #[error(
        "blocks in loops are made of words of 8 bits: a word of 32 bits is four by four of these"
    )]
    Blocks,
    #[error("a pass of the inner loop takes a block of 1, 4, 9 or 16 products here")]
    Block(usize),
    #[error(
        "{n} words cannot be cut into blocks of {d} by {d}: the largest side that fits is {largest}"
    )]
    Side { d: usize, n: usize, largest: usize },
    #[error("a result below 2 m is not proved of products made by additions")]
    LazyAdditions,
    #[error("a column has more than {0} blocks")]
    Column(usize),
    #[error("{0} has no loads with displacement")]
    Displacements(&'static str),
    #[error(
        "the outer one of these loops is not written out, which would save the cycles that count its passes (4 of a \
         column on an AVR)"
    )]
    Looped,
    #[error(
        "each band has {0} columns fewer than the one before, so a pass must take a divisor of {0} columns"
    )]
    Passes(usize),
    #[error("a pass of the inner loop takes 1, 2, 4 or 8 products, or another power of 2, here")]
    PowerOfTwo(usize),
    #[error("the bands have too few columns for a loop")]
    FewColumns,
    #[error("operands are halved up to {0} words")]
    Halves(usize),
    #[error("other products are called here")]
    Lowest(&'static str),
    #[error("a word lies further from its pointer than a load or store reaches: 2047 bytes")]
    Displacement,
    #[error("a call does not reach over so much code")]
    Reach,
    #[error("a pointer would have to move while a carry is on its way")]
    Addressing,
}

/// What was made; if nothing was, the last reason why.
///
/// # Errors
/// That reason.
pub fn those_made<T>(list: Vec<Result<T, LowerError>>) -> Result<Vec<T>, LowerError> {
    let mut made = Vec::new();
    let mut reason = None;
    for one in list {
        match one {
            Ok(one) => made.push(one),
            Err(error) => reason = Some(error),
        }
    }
    match reason {
        Some(error) if made.is_empty() => Err(error),
        _ => Ok(made),
    }
}
