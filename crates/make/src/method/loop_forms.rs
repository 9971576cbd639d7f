//! Schedules as loops, where the style asks for loops and the schedule has their form.

use crate::facts::{Facts, Style};
use crate::method::checked_parameters::positive;
use crate::method::signature::{MethodError, Params};
use crate::schedule::{Blocks, Loops, Scans, Schedule, Words};

/// `blocks` of columns in loops, `unroll` columns per pass.
pub fn in_loops(style: Style, blocks: Blocks, unroll: Option<usize>) -> Schedule {
    match Loops::of(style, blocks.clone(), false, unroll) {
        Some(loops) => Schedule::Loops(loops),
        None => Schedule::Blocks(blocks),
    }
}

/// `words` as two nested loops where the style asks for them and they have that form.
pub fn as_scans(
    method: &'static str,
    words: Words,
    facts: &Facts,
    params: &Params,
) -> Result<Schedule, MethodError> {
    let unroll = match params.contains_key("unroll") {
        true => Some(positive(method, "unroll", params)?),
        false => None,
    };
    // What can only be loops is.
    let style = match facts.style {
        Style::Unrolled => Style::Rolled,
        style => style,
    };
    if facts.in_scans()
        && let Some(scans) = Scans::of(style, words.clone(), unroll)
    {
        return Ok(Schedule::Scans(scans));
    }
    Ok(Schedule::Words(words))
}

/// `words` as two nested loops over blocks of `d` by `d` words.
pub fn as_block_scans(
    method: &'static str,
    words: Words,
    d: usize,
) -> Result<Schedule, MethodError> {
    let scans = Scans::of(Style::Rolled, words, None);
    let mut scans = scans.ok_or(MethodError::NoLoops(method))?;
    scans.side = Some(d);
    Ok(Schedule::Scans(scans))
}
