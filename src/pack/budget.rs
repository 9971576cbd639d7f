//! Flash, shared among kernels: for each one size of those it can be made in, so that all fit and the calls take the fewest
//! cycles. That is the knapsack problem with one choice of each class, solved by dynamic programming over bytes.

use make::facts::Style;

use crate::face::{Error, Request};
use crate::target::Target;

/// A kernel in one of its sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sized {
    /// Cycles of a call.
    pub cycles: u64,
    /// Bytes of code.
    pub bytes: usize,
}

/// The sizes that a kernel can be made in, each smaller and slower than the one before: written out, in loops, and in the
/// smallest loops there are.
///
/// # Errors
/// Why there is no such kernel at all.
pub fn sizes(request: &Request, target: &Target) -> Result<Vec<Sized>, Error> {
    /// Sizes of loops that are tried beside the fastest, and how much of the last one the next may take.
    const SIZES: usize = 3;
    const SHARE: [usize; 2] = [3, 4];
    let sized = |request: &Request| {
        let counted = request.count(target)?;
        Ok::<_, Error>(Sized {
            cycles: counted.cost.call.max,
            bytes: counted.code.len(),
        })
    };
    let mut list = vec![sized(request)?];
    let mut add = |request: Request| {
        let smaller = sized(&request).ok();
        let smaller = smaller.filter(|s| list.last().is_some_and(|last| s.bytes < last.bytes));
        list.extend(smaller);
        smaller
    };
    add(request.clone().style(Style::Looped));
    let rolled = request.clone().style(Style::Rolled);
    let mut last = add(rolled.clone());
    for _ in 1..SIZES {
        last = last.and_then(|s| add(rolled.clone().max_flash(s.bytes * SHARE[0] / SHARE[1])));
    }
    Ok(list)
}

/// The size of each kernel, by its index, within `budget` bytes; each kernel is called so often.
///
/// # Errors
/// The fewest bytes that all of them take, if that is more.
pub fn share(kernels: &[(u64, Vec<Sized>)], budget: usize) -> Result<Vec<usize>, usize> {
    // Bytes are even on AVR and multiples of 2 elsewhere.
    let units = budget / 2;
    // The fewest cycles of the kernels so far in so many units, and the size of the last of them.
    let mut tables: Vec<Vec<Option<(u64, usize)>>> = Vec::new();
    let mut before: Vec<Option<u64>> = vec![Some(0); units + 1];
    for (calls, sizes) in kernels {
        let best = |room: usize| {
            let each = sizes.iter().enumerate().filter_map(|(i, size)| {
                let rest = before[room.checked_sub(size.bytes.div_ceil(2))?]?;
                Some((rest + calls * size.cycles, i))
            });
            each.min()
        };
        let table: Vec<_> = (0..=units).map(best).collect();
        before = table.iter().map(|cell| cell.map(|(sum, _)| sum)).collect();
        tables.push(table);
    }
    let mut room = units;
    let mut chosen = vec![0; kernels.len()];
    for (at, table) in tables.iter().enumerate().rev() {
        let Some((_, size)) = table[room] else {
            let least = |(_, sizes): &(u64, Vec<Sized>)| sizes.iter().map(|s| s.bytes).min();
            return Err(kernels.iter().filter_map(least).sum());
        };
        chosen[at] = size;
        room -= kernels[at].1[size].bytes.div_ceil(2);
    }
    Ok(chosen)
}
