//! A function out of an ELF file: its program laid out in memory, as a linker would.
//!
//! A linked program lies where its sections say. A relocatable object (or a member of a static
//! library) gets addresses here: the section of the function first, and reports count from there, as
//! disassemblies do. A loader makes up no bytes: what the file needs from elsewhere, and what lies between
//! sections, is marked ([`Marks`]), and can neither run nor be read. Nor are its addresses numbers: they
//! are known by the relocations that make them ([`Function::movable`]).

mod error;
mod layout;
mod msp430;
mod relocation;
mod riscv;
mod symbols;

use std::collections::HashMap;
use std::rc::Rc;

use machine::domain::place::Base;
use machine::format::ObjectFormat;
use machine::function::{Function, Marks, Segment};
use machine::program::Claim;
use object::read::archive::ArchiveFile;
use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex,
};

use crate::hints;
pub use crate::load::error::LoadError;
use crate::load::layout::{Placed, is_position_independent};
use crate::load::relocation::{GP_DISP, GlobalOffsets, LOCAL_GP, Reference, Relocations, Target};
use crate::load::symbols::{did_you_mean, find, functions, unresolved};

/// A function, and what the file calls the code around it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The function, with its constants and claims.
    pub function: Function,
    /// Address, bytes and name of every function in program memory.
    pub symbols: Vec<(u64, u64, String)>,
}

/// The function `symbol` of an ELF file or static library, for objects like `format`.
///
/// # Errors
/// Why there is none.
pub fn load(file: &[u8], symbol: &str, format: &ObjectFormat) -> Result<Loaded, LoadError> {
    if !file.starts_with(b"!<arch>") && !file.starts_with(b"!<thin>") {
        return load_object(file, symbol, format);
    }
    let broken = |e: object::Error| LoadError::Format(e.to_string());
    let archive = ArchiveFile::parse(file).map_err(broken)?;
    let (mut members, mut known) = (0, Vec::new());
    for member in archive.members() {
        let data = member.and_then(|m| m.data(file)).map_err(broken)?;
        match load_object(data, symbol, format) {
            Err(LoadError::Format(_)) => {}
            Err(LoadError::Symbol { .. }) => {
                members += 1;
                if let Ok(object) = object::File::parse(data) {
                    known.extend(functions(&object).map(String::from));
                }
            }
            other => return other,
        }
    }
    let hint = did_you_mean(symbol, known.iter().map(String::as_str));
    Err(LoadError::Symbol {
        name: symbol.into(),
        hint: format!(" in its {members} members{hint}"),
    })
}

/// The member `name` of a static library; of several that one which has the function `symbol`.
///
/// # Errors
/// The nearest name if there is none.
pub fn member<'a>(library: &'a [u8], name: &str, symbol: &str) -> Result<&'a [u8], LoadError> {
    let broken = |e: object::Error| LoadError::Format(e.to_string());
    let archive = ArchiveFile::parse(library).map_err(broken)?;
    let (mut known, mut found) = (Vec::new(), Vec::new());
    for member in archive.members() {
        let member = member.map_err(broken)?;
        if member.name() == name.as_bytes() {
            found.push(member.data(library).map_err(broken)?);
        }
        known.push(String::from_utf8_lossy(member.name()).into_owned());
    }
    let has = |data: &&&[u8]| {
        let file = object::File::parse(**data);
        file.is_ok_and(|file| functions(&file).any(|n| n == symbol))
    };
    if let Some(data) = found.iter().find(has).or(found.first()) {
        return Ok(data);
    }
    Err(LoadError::Member {
        name: name.into(),
        hint: did_you_mean(name, known.iter().map(String::as_str)),
    })
}

/// The sections that hold no code, and the table of addresses if there is one.
fn segments(
    sections: Vec<Placed>,
    got: &GlobalOffsets,
    base: Base,
    big_endian: bool,
) -> Vec<Segment> {
    let data = sections.into_iter().filter(|s| !s.code);
    let data = data.map(|s| s.into_segment(base));
    let table = Segment {
        base,
        address: got.address,
        align: 4,
        bytes: Rc::from(got.bytes(big_endian)),
        writable: false,
        marks: Rc::new(got.marks()),
    };
    data.chain((!got.entries.is_empty()).then_some(table))
        .collect()
}

fn load_object(data: &[u8], name: &str, format: &ObjectFormat) -> Result<Loaded, LoadError> {
    let file = object::File::parse(data).map_err(|e| LoadError::Format(e.to_string()))?;
    is_for(&file, format)?;
    let (home, address) = find(&file, name)?;
    let avr = format.architecture == Architecture::Avr;
    let mut sections = layout::sections(&file, home, avr, format.big_endian)?;
    let at = layout::addresses(&sections);
    // Thumb functions have odd addresses (AAELF32, section 5.5.3).
    if format.architecture == Architecture::Arm && address & 1 == 1 {
        return Err(LoadError::Thumb(name.into()));
    }
    let relocatable = file.kind() == ObjectKind::Relocatable;
    let place_in = |section: Option<SectionIndex>, address: u64| {
        let section = section.and_then(|i| at.get(&i).copied());
        let base = if relocatable { section.unwrap_or(0) } else { 0 };
        base.wrapping_add(address)
    };
    let place =
        |symbol: &object::Symbol<'_, '_>| place_in(symbol.section_index(), symbol.address());
    let end = sections.iter().map(Placed::end).max().unwrap_or(0);
    let mut got = GlobalOffsets::at(end.next_multiple_of(16));
    if relocatable {
        for section in &mut sections {
            let marks = relocate(&file, section, &at, &place, format, &mut got);
            section.marks.extend(marks);
        }
    }
    let entry = place_in(home, address);
    let symbols = placed(&file, &sections, place);
    let claims = claims(&file, &symbols);
    let lowest = sections.iter().filter(|s| s.code).map(|s| s.address).min();
    let origin = match avr {
        true => 0,
        false => lowest.unwrap_or(0),
    };
    let (bytes, marks) = layout::program(&sections, origin, relocatable)?;
    let kernel = Function {
        // On AVR program memory and data are two, and addresses of either are numbers; so they are on MSP430.
        movable: (relocatable || file.kind() == ObjectKind::Dynamic)
            && !avr
            && format.architecture != Architecture::Msp430,
        first: if relocatable { origin } else { 0 },
        ..Function::kernel(&bytes)
    };
    Ok(Loaded {
        function: Function {
            origin: Some(origin),
            entry,
            data: segments(sections, &got, kernel.image(), format.big_endian),
            marks: Rc::new(marks),
            scratch: free(&file),
            called_by_address: is_position_independent(&file),
            claims,
            ..kernel
        },
        symbols,
    })
}

/// Is a file for the machine that was asked for?
///
/// # Errors
/// What it is for, and what to say instead.
fn is_for(file: &object::File<'_>, format: &ObjectFormat) -> Result<(), LoadError> {
    let little = |little: bool| match little {
        true => "little-endian",
        false => "big-endian",
    };
    let machine = |a: Architecture, e: bool| format!("{a:?}, {}", little(e)).to_lowercase();
    let found = machine(file.architecture(), file.is_little_endian());
    let wanted = machine(format.architecture, !format.big_endian);
    if found == wanted {
        return Ok(());
    }
    let same = file.architecture() == format.architecture;
    let hint = match (same, format.big_endian) {
        (false, _) => "say what it is for with --mcu or --core",
        (true, false) => "add --big-endian",
        (true, true) => "leave out --big-endian",
    };
    Err(LoadError::Machine {
        found,
        wanted,
        hint,
    })
}

/// The functions: address, bytes and name of each.
fn placed(
    file: &object::File<'_>,
    sections: &[Placed],
    place: impl Fn(&object::Symbol<'_, '_>) -> u64,
) -> Vec<(u64, u64, String)> {
    let functions = file.symbols().filter(|s| {
        let code = |placed: &Placed| placed.code && Some(placed.index) == s.section_index();
        s.is_definition() && s.size() > 0 && sections.iter().any(code)
    });
    let told = functions.map(|s| {
        let name = s.name().unwrap_or_default().to_string();
        (place(&s), s.size(), name)
    });
    told.collect()
}

/// What the file says about its functions as hints for the prover ([`hints`]), at their addresses.
fn claims(file: &object::File<'_>, symbols: &[(u64, u64, String)]) -> Vec<Claim> {
    let sections = file.sections().filter(|s| s.name() == Ok(hints::SECTION));
    let records = sections.flat_map(|s| hints::decode(s.data().unwrap_or_default()));
    let placed = records.filter_map(|(name, claims)| {
        let (start, ..) = symbols.iter().find(|(.., symbol)| *symbol == name)?;
        let at = move |offset: usize| offset.checked_add(*start as usize);
        Some(claims.into_iter().filter_map(move |claim| claim.at(at)))
    });
    placed.flatten().collect()
}

/// Registers that belong to nobody in code of this kind: $gp where callers set it up again (System V
/// ABI, MIPS supplement, chapter 3).
fn free(file: &object::File<'_>) -> Vec<u8> {
    const GP: u8 = 28;
    Vec::from_iter(is_position_independent(file).then_some(GP))
}

/// Are its relocations those of the MSP430X? They are where its architecture variant is, and in objects of TI's tools, which
/// are of no system's ABI; GNU as says that what it makes stands alone (binutils, elf/msp430.h and elf32-msp430.c).
fn is_extended(file: &object::File<'_>) -> bool {
    const MSP430X: u32 = 45;
    const STANDALONE: u8 = 255;
    match file.flags() {
        object::FileFlags::Elf {
            e_flags, os_abi, ..
        } => {
            let extended = e_flags.0 & 0xff == MSP430X || os_abi.0 != STANDALONE;
            file.architecture() == Architecture::Msp430 && extended
        }
        _ => false,
    }
}

/// What a reference goes to is not in the file.
fn lacks(what: &str, why: &str) -> Target {
    Target::Missing(format!("{what}, {why}"))
}

/// What a reference to `symbol` means; sections lie `at` their addresses, and symbols in them where `place` says.
fn meant(
    symbol: &object::Symbol<'_, '_>,
    at: &HashMap<SectionIndex, u64>,
    place: &dyn Fn(&object::Symbol<'_, '_>) -> u64,
    got: &GlobalOffsets,
) -> Target {
    let section = symbol.section_index();
    let elsewhere = section.filter(|i| !at.contains_key(i)).is_some();
    let what = symbol.name().unwrap_or_default();
    match (what, unresolved(symbol)) {
        (GP_DISP, _) => Target::Number(0),
        (LOCAL_GP, _) => Target::Address(got.gp() as u64),
        (_, Some(why)) => lacks(what, why),
        (_, None) if elsewhere => lacks(what, "in a section that takes no memory"),
        (_, None) if section.is_none() => Target::Number(symbol.address()),
        (_, None) => Target::Address(place(symbol)),
    }
}

/// Applies the relocations of `section`.
fn relocate(
    file: &object::File<'_>,
    section: &mut Placed,
    at: &HashMap<SectionIndex, u64>,
    place: &dyn Fn(&object::Symbol<'_, '_>) -> u64,
    format: &ObjectFormat,
    got: &mut GlobalOffsets,
) -> Marks {
    let Ok(source) = file.section_by_index(section.index) else {
        return Marks::default();
    };
    let mut references = Vec::new();
    for (offset, relocation) in source.relocations() {
        let object::RelocationFlags::Elf { r_type } = relocation.flags() else {
            continue;
        };
        let (to, what, local) = match relocation.target() {
            RelocationTarget::Symbol(index) => match file.symbol_by_index(index) {
                Ok(symbol) => {
                    let what = symbol.name().unwrap_or_default().to_string();
                    (meant(&symbol, at, place, got), what, symbol.is_local())
                }
                Err(_) => {
                    let to = lacks("a symbol", "which does not exist");
                    (to, String::new(), false)
                }
            },
            RelocationTarget::Section(index) => {
                let to = at.get(&index).map(|at| Target::Address(*at));
                let to = to.unwrap_or_else(|| lacks("a section", "which takes no memory"));
                (to, "a section".into(), true)
            }
            _ => (Target::Number(0), String::new(), true),
        };
        references.push(Reference {
            kind: r_type.0,
            offset,
            addend: (!relocation.has_implicit_addend()).then(|| relocation.addend()),
            to,
            what,
            local,
        });
    }
    let relocations = Relocations {
        architecture: format.architecture,
        big_endian: format.big_endian,
        extended: is_extended(file),
        address: section.address,
        list: &references,
    };
    relocations.apply(&mut section.bytes, got)
}
