//! Calls that stand for all inputs: a machine as a caller may leave it, and what it must hold when the function returns.

use crate::domain::Abstract;
use crate::domain::abstract_memory::Region;
use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::function::{ArgumentPlace, Function, abstract_word, keep_returned};
use crate::isa::Called;
use crate::isa::assumed::{self, Back, Holds};
use crate::isa::convention::{Callable, Convention, Link, Stack, arguments};
use crate::isa::cost::{Depth, Stopped};
use crate::isa::machine::{BitOf, WordOf};
use crate::isa::run::Decoded;

/// A machine whose runs may stand for all inputs.
pub trait ForAll<const W: u32>: Callable<W, Domain: Abstract> {
    /// A machine before `function`, its code and constants in place.
    fn before(domain: Self::Domain, core: &Self::Core, function: &Function) -> Self;
    /// Holds the run to what must hold after every instruction of a function in this convention.
    fn hold(&mut self, convention: &Convention);
    /// The lowest places that the pointers of the convention's stacks pointed to, from where they pointed at entry.
    fn lowest(&self) -> Vec<i64>;
    fn into_domain(self) -> Self::Domain;
}

/// What the machine held when the function was entered.
pub struct Entry<M: Callable<W>, const W: u32> {
    words: Vec<WordOf<M, W>>,
    flags: Vec<BitOf<M, W>>,
    convention: Convention,
}

/// A word that holds what a row says: part `part` of an address, or all of a register.
fn held<M: ForAll<W>, const W: u32>(
    m: &mut M,
    holds: Holds,
    id: u8,
    part: u32,
    own: Option<&WordOf<M, W>>,
) -> WordOf<M, W> {
    let unknown = |m: &mut M| {
        let name = format!("{} at entry", M::word_name(id));
        m.domain().unknown(name)
    };
    match (holds, own) {
        (Holds::OwnAddress, Some(address)) => address.clone(),
        (Holds::Anything | Holds::Changing | Holds::OwnAddress, _) => unknown(m),
        (Holds::Zero, _) => m.domain().known(0),
        (Holds::Stack(base), _) => m.domain().pointer(base, 0, part),
        (Holds::ReturnAddress, _) => m.domain().pointer(Base::RETURN, 0, part),
    }
}

fn set_word<M: Callable<W>, const W: u32>(m: &mut M, id: usize, word: WordOf<M, W>) {
    if let Some(place) = m.words().into_iter().nth(id) {
        *place = word;
    }
}

/// Fills words and flags with what the rows of the convention say.
fn fill<M: ForAll<W>, const W: u32>(m: &mut M, convention: &Convention, function: &Function) {
    let own = m.own_address(function);
    for row in &convention.rows {
        match &row.place {
            assumed::Subject::Words(range) => {
                for (id, part) in range.clone().zip(0..) {
                    let word = held(m, row.holds, id, part, own.as_ref());
                    set_word(m, id.into(), word);
                }
            }
            assumed::Subject::Flags(range) => {
                for id in range.clone() {
                    let name = format!("{} at entry", M::flag_name(id));
                    let bit = m.domain().unknown_bit(name);
                    if let Some(flag) = m.flags().into_iter().nth(id.into()) {
                        *flag = bit;
                    }
                }
            }
            // No access to it is followed.
            assumed::Subject::Elsewhere => {}
        }
    }
    m.filled();
}

/// The stack as a region of memory, with arguments up to `top` bytes above its pointer.
fn region(stack: &Stack, top: i64) -> Region {
    let end = stack.reserved.max(top);
    Region {
        name: stack.name.into(),
        start: stack.first - stack.limit,
        end,
        writable_end: if stack.owned { end } else { stack.first },
        align: stack.align,
    }
}

/// A machine about to run `function`, called with pointers to the start of `bases`.
pub fn enter<M: ForAll<W>, const W: u32>(
    domain: M::Domain,
    core: &M::Core,
    function: &Function,
    bases: &[Base],
) -> (M, Entry<M, W>) {
    let mut m = M::before(domain, core, function);
    let convention = m.convention(core);
    fill(&mut m, &convention, function);
    let bytes = W as usize / 8;
    let (mut top, mut on_stack) = (0, Vec::new());
    for (place, argument) in arguments(&m, core, function) {
        for part in 0..argument.bytes.div_ceil(bytes) {
            let word = abstract_word::<_, W>(m.domain(), &argument, bases, part as u32);
            match place {
                ArgumentPlace::Register(low) => set_word(&mut m, usize::from(low) + part, word),
                ArgumentPlace::Stack(above) => {
                    let at = above + (bytes * part) as i64;
                    top = top.max(at + bytes as i64);
                    on_stack.push((at, word));
                }
            }
        }
    }
    for (stack, i) in convention.stacks.iter().zip(0..) {
        let top = if i == 0 { top } else { 0 };
        m.domain().declare(stack.base, region(stack, top));
    }
    if let Some(stack) = convention.stacks.first() {
        let base = stack.base;
        for (offset, word) in on_stack {
            m.domain().init(Address { base, offset }, &word);
        }
    }
    if let Link::Stack { places, .. } = convention.link {
        for (offset, i) in places.iter().zip(0..) {
            let part = m.domain().pointer::<W>(Base::RETURN, 0, i);
            let (base, offset) = (Base::STACK, *offset);
            m.domain().init(Address { base, offset }, &part);
        }
    }
    let words = m.words().into_iter().map(|word| word.clone()).collect();
    let flags = m.flags().into_iter().map(|flag| flag.clone()).collect();
    m.hold(&convention);
    let entry = Entry {
        words,
        flags,
        convention,
    };
    (m, entry)
}

/// Is a word what a row says, now and at entry?
fn is_back<D: Abstract, const W: u32>(
    d: &mut D,
    holds: Holds,
    back: Back,
    [now, was]: [&D::Word<W>; 2],
    part: u32,
) -> bool {
    match back {
        Back::Free => true,
        // What changes by itself is watched while the function runs.
        Back::Untouched if holds == Holds::Changing => true,
        Back::Kept | Back::Untouched => d.same(now, was),
        Back::Zero => {
            let zero = d.known::<W>(0);
            d.same(now, &zero)
        }
        Back::Above(base, bytes) => {
            let want = d.pointer::<W>(base, bytes.into(), part);
            d.same(now, &want)
        }
    }
}

/// What is said of a place that does not hold it.
fn broken(name: &str, back: Back) -> String {
    match back {
        Back::Zero => format!("{name} is not 0 at return"),
        Back::Above(Base::STACK, _) => "the stack pointer is not where it was".into(),
        Back::Free | Back::Kept | Back::Untouched | Back::Above(..) => {
            format!("{name} is not restored")
        }
    }
}

/// What the function did not give back as it should; empty if it kept the convention but for registers in `scratch`.
pub fn violations<M: ForAll<W>, const W: u32>(
    m: &mut M,
    entry: &Entry<M, W>,
    scratch: &[u8],
) -> Vec<String> {
    let words: Vec<_> = m.words().into_iter().map(|word| word.clone()).collect();
    let flags: Vec<_> = m.flags().into_iter().map(|flag| flag.clone()).collect();
    let mut list: Vec<String> = Vec::new();
    let d = m.domain();
    for row in &entry.convention.rows {
        let back = row.back;
        let said = match &row.place {
            assumed::Subject::Words(range) => {
                let is_excused = |id: &u8| back == Back::Kept && scratch.contains(id);
                let ids = range.clone().zip(0..).filter(|(id, _)| !is_excused(id));
                let lost = ids.filter(|(id, part)| {
                    let at = usize::from(*id);
                    let pair = words.get(at).zip(entry.words.get(at));
                    pair.is_none_or(|(now, was)| {
                        !is_back::<_, W>(d, row.holds, back, [now, was], *part)
                    })
                });
                let names = lost.map(|(id, _)| broken(&M::word_name(id), back));
                names.collect::<Vec<_>>()
            }
            assumed::Subject::Flags(range) => {
                let off = d.flag(false);
                let lost = range.clone().filter(|id| {
                    let at = usize::from(*id);
                    let pair = flags.get(at).zip(entry.flags.get(at));
                    pair.is_none_or(|(now, was)| match back {
                        Back::Free => false,
                        Back::Kept => !d.same_bit(now, was),
                        Back::Zero => !d.same_bit(now, &off),
                        Back::Above(..) | Back::Untouched => true,
                    })
                });
                lost.map(|id| broken(&M::flag_name(id), back)).collect()
            }
            // Any access to it was a fault.
            assumed::Subject::Elsewhere => Vec::new(),
        };
        list.extend(said);
    }
    // The parts of one pointer are one thing.
    list.dedup();
    list
}

/// Calls `function` in an abstract domain, with pointers to the given bases.
///
/// # Errors
/// A fault and where.
pub fn call<M: ForAll<W>, const W: u32>(
    domain: M::Domain,
    core: &M::Core,
    function: &Function,
    bases: &[Base],
    limit: u64,
) -> Result<Called<M::Domain>, Stopped> {
    let (mut m, entry) = enter::<M, W>(domain, core, function, bases);
    let mut ran = Decoded::of(function, core).run(&mut m, usize::MAX, limit)?;
    ran.cost.stack = Depth::descended(&m.lowest());
    let violations = violations(&mut m, &entry, &function.scratch);
    let words = m.words().into_iter().map(|word| word.clone());
    let returned = M::returned(core, function);
    let words: Vec<_> = words.skip(returned.start).take(returned.len()).collect();
    keep_returned::<_, W>(m.domain(), &words);
    Ok(Called {
        domain: m.into_domain(),
        cost: ran.cost,
        violations,
        slow_operand: ran.slow_operand,
    })
}
