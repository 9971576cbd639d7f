//! Calls on numbers. The machine gets memory, arguments and a return address. Registers and memory of which the calling
//! convention promises nothing get arbitrary values.

use std::ops::Range;

use num_bigint::BigUint;
use spec::vectors::Random;

use crate::call::{Operands, order_words};
use crate::domain::concrete::{Access, Bits, Concrete, mask};
use crate::function::{ArgumentPlace, Function, Passed, concrete_number, with_returned};
use crate::isa::assumed::{self, Back, Holds};
use crate::isa::convention::{Callable, Link, arguments};
use crate::isa::cost::{Cost, Depth, Stopped};
use crate::isa::run::{Decoded, Ran};

/// A machine that runs on numbers.
pub trait OnNumbers<const W: u32>: Callable<W, Domain = Concrete> {
    /// A machine with its memory at `start`, the code and constants of `function` in place.
    fn with_memory(core: &Self::Core, function: &Function, start: usize) -> Self;
    /// Where the memory of a run starts, and the first address of an operand.
    fn memory(function: &Function) -> (usize, usize);
}

/// What a row says of a word or flag that a caller may leave anything in.
fn is_rubbish(holds: Holds, back: Back) -> bool {
    match holds {
        Holds::Anything => back != Back::Untouched,
        Holds::Changing => true,
        Holds::OwnAddress => true,
        Holds::Zero | Holds::Stack(_) | Holds::ReturnAddress => false,
    }
}

/// What is in words and flags that nobody sets at entry; as it is if `noise` is 0.
fn spoil<M: OnNumbers<W>, const W: u32>(m: &mut M, core: &M::Core, noise: u64) {
    if noise == 0 {
        return;
    }
    let mut random = Random::new(noise);
    for row in m.convention(core).rows {
        if !is_rubbish(row.holds, row.back) {
            continue;
        }
        match row.place {
            assumed::Subject::Words(range) => {
                let first = usize::from(*range.start());
                for word in m.words().into_iter().skip(first).take(range.len()) {
                    *word = Bits(random.draw() & mask(W));
                }
            }
            assumed::Subject::Flags(range) if row.back == Back::Free => {
                let first = usize::from(*range.start());
                for flag in m.flags().into_iter().skip(first).take(range.len()) {
                    *flag = random.draw() & 1 == 1;
                }
            }
            assumed::Subject::Flags(_) | assumed::Subject::Elsewhere => {}
        }
    }
}

/// Puts `number` into words from `first` on, least significant first.
fn put<M: OnNumbers<W>, const W: u32>(m: &mut M, first: usize, words: usize, number: u64) {
    for (word, part) in m.words().into_iter().skip(first).take(words).zip(0u32..) {
        let number = number.checked_shr(W * part).unwrap_or(0);
        *word = Bits(number & mask(W));
    }
}

/// Puts `number` into so many words of memory.
fn push<M: OnNumbers<W>, const W: u32>(m: &mut M, at: usize, words: usize, number: u64) {
    let bytes = W as usize / 8;
    let mut list: Vec<u8> = number.to_le_bytes().to_vec();
    list.resize(words * bytes, 0);
    let d = m.domain();
    order_words(&mut list, d.big_endian, bytes);
    if let Some(room) = d.memory.get_mut(at..at + list.len()) {
        room.copy_from_slice(&list);
    }
}

/// Calls `function`, with the memory as it is: what a caller sets, pointers to `addresses`, and the way back.
pub fn enter_again<M: OnNumbers<W>, const W: u32>(
    m: &mut M,
    core: &M::Core,
    function: &Function,
    addresses: &[usize],
) {
    let convention = m.convention(core);
    let start = m.domain().start;
    let top = |base| {
        let stack = convention.stacks.iter().find(|s| s.base == base);
        stack.map_or(0, |s| (start + s.top) as u64)
    };
    for row in &convention.rows {
        let assumed::Subject::Words(range) = &row.place else {
            continue;
        };
        let number = match row.holds {
            Holds::Anything | Holds::Changing => None,
            Holds::Zero => Some(0),
            Holds::Stack(base) => Some(top(base)),
            Holds::ReturnAddress => Some(convention.caller as u64),
            Holds::OwnAddress => function.called_by_address.then_some(function.entry),
        };
        if let Some(number) = number {
            put(m, usize::from(*range.start()), range.len(), number);
        }
    }
    let stack = convention.stacks.first().map_or(0, |s| s.top);
    for (place, argument) in arguments(m, core, function) {
        let number = concrete_number(&argument, addresses);
        let words = argument.bytes.div_ceil(W as usize / 8);
        match place {
            ArgumentPlace::Register(low) => put(m, low.into(), words, number),
            ArgumentPlace::Stack(above) => push::<M, W>(m, stack + above as usize, words, number),
        }
    }
    if let (Link::Stack { places, pushed }, Some(stack)) =
        (convention.link, convention.stacks.last())
    {
        for (above, i) in places.iter().zip(0..) {
            let at = (stack.top as i64 + above) as usize;
            push::<M, W>(m, at, 1, pushed >> (W * i) & mask(W));
        }
    }
    let d = m.domain();
    d.stacks.clear();
    for stack in &convention.stacks {
        d.watch(
            stack.limit,
            start + (stack.top as i64 + stack.first) as usize,
        );
    }
}

/// Puts sources that are handed over as words where their arguments are.
fn hand_over<M: OnNumbers<W>, const W: u32>(
    m: &mut M,
    core: &M::Core,
    function: &Function,
    operands: &Operands<'_>,
) {
    let stack = m.convention(core).stacks.first().map_or(0, |s| s.top);
    for (place, argument) in arguments(m, core, function) {
        let source = match argument.passed {
            Passed::Word(i) => i
                .checked_sub(1)
                .and_then(|i| operands.sources.get(i))
                .cloned(),
            Passed::Inverse => operands.inverse(),
            Passed::Pointer(_) | Passed::Number(_) | Passed::Unknown => continue,
        };
        let number = source.and_then(|value| u64::try_from(value).ok());
        match (place, number) {
            (ArgumentPlace::Register(low), Some(k)) => put(m, low.into(), 1, k),
            (ArgumentPlace::Stack(above), Some(k)) => {
                push::<M, W>(m, stack + above as usize, 1, k);
            }
            (_, None) => {}
        }
    }
}

/// A machine about to run `function` on numbers, its memory at `start`, with pointers to `addresses`; nobody's words
/// come from `noise`.
pub fn enter<M: OnNumbers<W>, const W: u32>(
    core: &M::Core,
    function: &Function,
    start: usize,
    addresses: &[usize],
    noise: u64,
) -> M {
    let mut m = M::with_memory(core, function, start);
    spoil(&mut m, core, noise);
    enter_again(&mut m, core, function, addresses);
    m
}

/// A machine about to run `function` on `operands`, and where these lie.
fn begin<M: OnNumbers<W>, const W: u32>(
    core: &M::Core,
    function: &Function,
    operands: &Operands<'_>,
) -> (M, Vec<usize>) {
    let (start, mut first) = M::memory(function);
    if 8 * M::POINTER_BYTES > W as usize {
        // Carries into the upper words of pointers are met, too.
        first = operands.placed_by_noise(first, function);
    }
    let word_bits = function.word_bits(W);
    let addresses = operands.addresses(first, function, word_bits);
    let mut m: M = enter(core, function, start, &addresses, operands.noise);
    operands.spoil(m.domain(), &addresses, function);
    operands.put(m.domain(), &addresses, function, word_bits as usize / 8);
    hand_over(&mut m, core, function, operands);
    (m, addresses)
}

/// What a run on numbers begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// Registers and what the machine has beside, by name; `SP+1` is the word above `SP`.
    pub words: Vec<(String, u64)>,
    pub flags: Vec<(String, bool)>,
    /// Names, addresses and bytes of result, sources and areas, and of the stacks from where their pointers point.
    pub memory: Vec<(&'static str, usize, Vec<u8>)>,
}

/// What the machine and its memory hold when `function` is entered.
pub fn entered<M: OnNumbers<W>, const W: u32>(
    core: &M::Core,
    function: &Function,
    operands: &Operands<'_>,
) -> Held {
    /// Bytes of a stack with arguments and a return address.
    const ABOVE: usize = 0x40;
    let (mut m, addresses) = begin::<M, W>(core, function, operands);
    let (mut words, mut last, mut above) = (Vec::new(), String::new(), 0);
    for (word, i) in m.words().into_iter().zip(0..) {
        let name = M::word_name(i);
        above = if name == last { above + 1 } else { 0 };
        let shown = match above {
            0 => name.clone(),
            above => format!("{name}+{above}"),
        };
        words.push((shown, word.0));
        last = name;
    }
    let flags = m.flags().into_iter().zip(0..);
    let flags = flags.map(|(flag, i)| (M::flag_name(i), *flag)).collect();
    let mut places = operands.places(&addresses, function);
    let d = m.domain();
    let stacks = d.stacks.iter().map(|stack| stack.top());
    places.extend(stacks.map(|top| ("stack", top..top + ABOVE)));
    let bytes = |(name, place): (&'static str, Range<usize>)| {
        let [from, to] = [place.start, place.end].map(|at| (at - d.start).min(d.memory.len()));
        (name, place.start, d.memory[from..to].to_vec())
    };
    let memory = places.into_iter().map(bytes).collect();
    Held {
        words,
        flags,
        memory,
    }
}

/// Calls `function` with a pointer to `area`, numbers in little-endian bytes; `watch` is told of instructions and cycles
/// so far, from time to time.
///
/// # Errors
/// A fault and where.
pub fn execute<M: OnNumbers<W>, const W: u32>(
    core: &M::Core,
    function: &Function,
    area: &mut [u8],
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Cost, Stopped> {
    let (start, first) = M::memory(function);
    let mut m = enter::<M, W>(core, function, start, &[first], 0);
    let (big_endian, word) = (m.domain().big_endian, W as usize / 8);
    let room = first - start..first - start + area.len();
    order_words(area, big_endian, word);
    m.domain().memory[room.clone()].copy_from_slice(area);
    let caller = m.convention(core).caller;
    let ran = Decoded::of(function, core).watched(&mut m, caller, u64::MAX, watch)?;
    area.copy_from_slice(&m.domain().memory[room]);
    order_words(area, big_endian, word);
    Ok(measured(&ran, m.domain()))
}

/// What a run cost, with the stack that it wrote.
fn measured(ran: &Ran, d: &Concrete) -> Cost {
    Cost {
        stack: Depth::written(d),
        ..ran.cost
    }
}

/// What an instruction did in a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed {
    /// Its byte address.
    pub at: usize,
    /// Cycles until the next one issues, at most.
    pub cycles: u64,
    /// What it read or wrote of operands, result and areas.
    pub accesses: Vec<Access>,
}

/// Calls `function` on numbers: its instructions in the order in which they are executed.
///
/// # Errors
/// A fault and where.
pub fn steps<M: OnNumbers<W>, const W: u32>(
    core: &M::Core,
    function: &Function,
    operands: &Operands<'_>,
    limit: u64,
) -> Result<Vec<Executed>, Stopped> {
    let function = Function {
        fenced: true,
        ..function.clone()
    };
    let code = Decoded::of(&function, core);
    let (mut m, _) = begin::<M, W>(core, &function, operands);
    m.domain().accesses = Some(Vec::new());
    let caller = m.convention(core).caller;
    let (mut list, mut before) = (Vec::new(), 0);
    code.stepped(&mut m, caller, limit, &mut |m, at, cycles| {
        let named = m.domain().accesses.replace(Vec::new()).unwrap_or_default();
        list.push(Executed {
            at,
            cycles: cycles - before,
            accesses: named.into_iter().filter(|a| !a.name.is_empty()).collect(),
        });
        before = cycles;
    })?;
    Ok(list)
}

/// A function that is called on numbers, at most so many instructions: result and cost, or a fault and where.
pub type Calls<'a> = Box<dyn Fn(&Operands<'_>, u64) -> Result<(BigUint, Cost), Stopped> + 'a>;

/// `function`, decoded once, to be called on numbers.
pub fn calls<'a, M: OnNumbers<W> + 'a, const W: u32>(
    core: &'a M::Core,
    function: Function,
) -> Calls<'a> {
    let code = Decoded::of(&function, core);
    Box::new(move |operands, limit| call::<M, W>(&code, core, &function, operands, limit))
}

fn call<M: OnNumbers<W>, const W: u32>(
    code: &Decoded<'_, M, W>,
    core: &M::Core,
    function: &Function,
    operands: &Operands<'_>,
    limit: u64,
) -> Result<(BigUint, Cost), Stopped> {
    let (mut m, addresses) = begin::<M, W>(core, function, operands);
    let word = function.word_bits(W) as usize / 8;
    let caller = m.convention(core).caller;
    let ran = code.run(&mut m, caller, limit)?;
    let result = operands.result(m.domain(), &addresses, word);
    let bits = 8 * operands.spec.result_bytes();
    let words = m.words().into_iter().map(|word| *word);
    let returned = M::returned(core, function);
    let words: Vec<_> = words.skip(returned.start).take(returned.len()).collect();
    let cost = measured(&ran, m.domain());
    Ok((with_returned::<W>(result, bits, &words), cost))
}
