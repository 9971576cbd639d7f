//! Finding the function by its symbol, and resolving references to symbols.

use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionIndex, SymbolFlags, elf,
};

use crate::load::error::LoadError;
use crate::load::layout;

/// Is it in a section of instructions?
fn is_code(file: &object::File<'_>, symbol: &object::Symbol<'_, '_>) -> bool {
    let section = symbol.section_index();
    let section = section.and_then(|i| file.section_by_index(i).ok());
    section.is_some_and(|s| layout::is_code(&s))
}

/// The section and the address of the function `name`, which may be an address (`0x1234`) itself: in an
/// object, so many bytes from the start of its first section of code, or `SECTION+0x1234`.
pub(super) fn find(
    file: &object::File<'_>,
    name: &str,
) -> Result<(Option<SectionIndex>, u64), LoadError> {
    let named = file
        .symbols()
        .filter(|s| s.is_definition() && s.name() == Ok(name) && is_code(file, s));
    let named: Vec<_> = named.collect();
    // A linker takes a global one, and of these one that is not weak.
    let global = named.iter().filter(|s| !s.is_local());
    let global = global.min_by_key(|s| s.is_weak());
    match (global, named.as_slice()) {
        (Some(symbol), _) => return function(file, symbol, name),
        (None, [symbol]) => return function(file, symbol, name),
        (None, []) => {}
        (None, several) => return Err(ambiguous(file, several, name)),
    }
    let hexadecimal = |text: &str| {
        let digits = text.strip_prefix("0x");
        digits.and_then(|hex| u64::from_str_radix(hex, 16).ok())
    };
    let mut code = file.sections().filter(layout::is_code);
    let holds = |s: &object::Section<'_, '_>, at: u64| {
        at.checked_sub(s.address())
            .is_some_and(|offset| offset < s.size())
    };
    if let Some((section, offset)) = name.rsplit_once('+')
        && let Some(offset) = hexadecimal(offset)
        && let Some(section) = code.find(|s| s.name() == Ok(section) && offset < s.size())
    {
        return Ok((Some(section.index()), section.address() + offset));
    }
    let mut code = file.sections().filter(layout::is_code);
    let address = hexadecimal(name);
    if let Some((at, section)) = address.and_then(|at| Some((at, code.find(|s| holds(s, at))?))) {
        return Ok((Some(section.index()), at));
    }
    let is_intermediate =
        |s: object::Section<'_, '_>| s.name().is_ok_and(|n| n.starts_with(".gnu.lto_"));
    if functions(file).next().is_none() && file.sections().any(is_intermediate) {
        return Err(LoadError::Intermediate);
    }
    // Itanium C++ ABI, section 5.1.2: a name, its length before it, between `_Z` and the types.
    let mangled = format!("_Z{}{name}", name.len());
    let hint = match functions(file).find(|f| f.starts_with(&mangled)) {
        Some(mangled) => format!(", but {mangled}, its name in C++"),
        None => did_you_mean(name, functions(file)),
    };
    let hint = match (hint.as_str(), address) {
        ("", None) => " and no name of any other: try its address, as --symbol 0x1234".into(),
        (_, Some(_)) => ": no code lies there".into(),
        _ => hint,
    };
    let name = name.into();
    Err(LoadError::Symbol { name, hint })
}

/// The place of a function, if it is in an instruction set that is followed.
fn function(
    file: &object::File<'_>,
    symbol: &object::Symbol<'_, '_>,
    name: &str,
) -> Result<(Option<SectionIndex>, u64), LoadError> {
    // System V ABI, MIPS supplement as extended by GNU: STO_MIPS16 and STO_MICROMIPS of st_other.
    if let (Architecture::Mips, SymbolFlags::Elf { st_other, .. }) =
        (file.architecture(), symbol.flags())
        && st_other.0 & 0x80 != 0
    {
        return Err(LoadError::Mips16(name.into()));
    }
    Ok((symbol.section_index(), symbol.address()))
}

/// Several local functions have the same name: where each of them lies.
fn ambiguous(file: &object::File<'_>, several: &[object::Symbol<'_, '_>], name: &str) -> LoadError {
    let relocatable = file.kind() == ObjectKind::Relocatable;
    let place = |s: &object::Symbol<'_, '_>| {
        let section = s
            .section_index()
            .and_then(|i| file.section_by_index(i).ok());
        match section.filter(|_| relocatable) {
            Some(section) => format!("{}+{:#x}", section.name().unwrap_or_default(), s.address()),
            None => format!("{:#x}", s.address()),
        }
    };
    LoadError::Ambiguous {
        name: name.into(),
        count: several.len(),
        places: several.iter().map(place).collect::<Vec<_>>(),
    }
}

/// Names of the functions of `file`.
pub(super) fn functions<'a>(file: &'a object::File<'a>) -> impl Iterator<Item = &'a str> {
    let sized = file.symbols().filter(|s| s.size() > 0 && is_code(file, s));
    sized.filter_map(|s| s.name().ok())
}

/// The nearest of `known` to `name`, as ` (did you mean ...?)`.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min();
    nearest.map_or(String::new(), |(_, k)| format!(" (did you mean {k}?)"))
}

/// Why nobody knows what a linker makes of a reference to `symbol`, if that is so.
pub(super) fn unresolved(symbol: &object::Symbol<'_, '_>) -> Option<&'static str> {
    let indirect = match symbol.flags() {
        SymbolFlags::Elf { st_info, .. } => st_info.st_type() == elf::STT_GNU_IFUNC,
        _ => false,
    };
    if symbol.is_undefined() {
        Some("which is not in this file")
    } else if symbol.is_common() {
        Some("a common symbol, which a linker places")
    } else if symbol.is_weak() {
        Some("which is weak: a linker may take another")
    } else if indirect {
        Some("which a function chooses at run time")
    } else {
        None
    }
}
