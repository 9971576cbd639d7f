//! How a run for all inputs begins: operands anywhere, sources unknown.

use machine::domain::abstract_memory::Region;
use machine::domain::{Abstract, Address, Base};
use machine::fault::Fault;
use machine::function::Function;
use machine::of_width;
use spec::{Alias, Spec};

/// The most instructions an abstract run may take.
pub const STEP_LIMIT: u64 = 10_000_000;

/// Bases of the result, the sources and the areas of `function`, as the call passes them.
pub fn bases(spec: &Spec, alias: Alias, function: &Function) -> Vec<Base> {
    let places = alias.of(spec).into_iter();
    let operands = places.map(|place| Base(Base::FIRST_OPERAND + place as u16));
    let areas = (Base::FIRST_AREA..).take(function.areas.len()).map(Base);
    operands.chain(areas).collect()
}

/// Names the operands, fills the sources with unknown words, and returns the places of these.
///
/// # Errors
/// Words of a width that no machine has.
pub fn declare<D: Abstract>(
    d: &mut D,
    spec: &Spec,
    function: &Function,
    word_bits: u32,
    bases: &[Base],
) -> Result<Vec<Vec<Address>>, Fault> {
    let sources = spec.sources();
    let lengths = function.source_bytes(spec);
    let names = || sources.iter().map(|source| source.name);
    let named = || bases[1..].iter().zip(names()).zip(&lengths);
    // Of two sources at one place the longer one fills it; the shorter one is its low part.
    let mut longest: Vec<(Base, &str, usize)> = Vec::new();
    for ((base, name), length) in named() {
        match longest.iter_mut().find(|(at, ..)| at == base) {
            Some((_, _, most)) => *most = *length.max(most),
            None => longest.push((*base, name, *length)),
        }
    }
    // An array lies at a multiple of its words (the C type); operands perhaps at one of more bytes.
    let own = u64::from(word_bits / 8);
    let align = function.align.max(own);
    for (base, name, length) in &longest {
        d.declare(*base, Region::operand(name, *length, false, align));
    }
    let result = spec.result_bytes();
    d.declare(bases[0], Region::operand("r", result, true, align));
    let areas = &bases[1 + sources.len()..];
    for (base, area) in areas.iter().zip(&function.areas) {
        let own = area.align.unwrap_or(own);
        d.declare(*base, Region::operand("scratch", area.bytes, true, own));
    }
    for (base, name, length) in longest {
        for (i, at) in words(base, length, word_bits).into_iter().enumerate() {
            let name = format!("{name}[{i}]");
            of_width!(word_bits, |W| unknown::<D, W>(d, at, name))?;
        }
    }
    let places = |((base, _), length): ((&Base, &str), &usize)| words(*base, *length, word_bits);
    let mut places: Vec<Vec<Address>> = named().map(places).collect();
    if let (true, Some(modulus)) = (function.inverse_is_passed(), places.last_mut()) {
        let inverse = words(Base::INVERSE, own as usize, word_bits);
        d.declare(
            Base::INVERSE,
            Region::operand("m'", own as usize, false, own),
        );
        for at in &inverse {
            of_width!(word_bits, |W| unknown::<D, W>(d, *at, "m'".into()))?;
        }
        let behind = ((spec.size.a / word_bits) as usize).min(modulus.len());
        modulus.splice(behind..behind, inverse);
    }
    Ok(places)
}

fn unknown<D: Abstract, const W: u32>(d: &mut D, at: Address, name: String) {
    let word = d.unknown::<W>(name);
    d.init(at, &word);
}

/// Places of the words of an operand of `bytes` bytes.
pub fn words(base: Base, bytes: usize, word_bits: u32) -> Vec<Address> {
    let step = word_bits as usize / 8;
    let place = |i: usize| Address {
        base,
        offset: i as i64,
    };
    (0..bytes).step_by(step).map(place).collect()
}
