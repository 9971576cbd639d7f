//! A function out of an ELF file: its program laid out in memory, as a linker would.
//!
//! A linked program lies where its sections say. A relocatable object (or a member of a static
//! library) gets addresses here: the section of the function first, from 0 on, so that addresses
//! are those of a disassembly. What it needs from elsewhere is recorded as missing; an
//! instruction that needs it cannot run.

mod relocation;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use object::read::archive::ArchiveFile;
use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, RelocationTarget, SectionFlags,
    SectionIndex, SymbolFlags, elf,
};
use thiserror::Error;

use crate::emit::ObjectFormat;
use crate::function::{Function, Segment};
use crate::hints;
use crate::program::Claim;
use relocation::{GP_DISP, GlobalOffsets, LOCAL_GP, Reference, Relocations};

/// No program of the machines known here is larger, in bytes.
const MAX_BYTES: u64 = 1 << 26;
/// Where avr-gcc puts data memory in its one address space, and where that ends.
const AVR_DATA: std::ops::Range<u64> = 0x80_0000..0x81_0000;
/// Where data of an AVR object is put, clear of operands.
const AVR_OBJECT_DATA: u64 = 0x8000;

/// Why a file has no function to check.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    #[error("not an ELF file, nor a library of them: {0}")]
    Format(String),
    #[error("it is for {found}, not for {wanted}: {hint}")]
    Machine {
        found: String,
        wanted: String,
        hint: &'static str,
    },
    #[error(
        "GCC's intermediate code only (-flto): check the linked program, or compile with -fno-lto"
    )]
    Intermediate,
    #[error(
        "{0} is MIPS16 or microMIPS code, and only MIPS32 is followed: compile with -mno-mips16"
    )]
    Mips16(String),
    #[error("no function {name}{hint}")]
    Symbol { name: String, hint: String },
    #[error("no member {name}{hint}")]
    Member { name: String, hint: String },
    #[error("{0} is Thumb code, and only ARM state is followed: compile with -marm")]
    Thumb(String),
    #[error("its sections take more than {MAX_BYTES} bytes")]
    TooLarge,
}

/// A function, and what the file calls the code around it.
#[derive(Clone, Debug)]
pub struct Loaded {
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

/// A section with the address it got.
struct Placed {
    index: SectionIndex,
    address: u64,
    bytes: Vec<u8>,
    writable: bool,
    /// Is it program memory?
    code: bool,
}

impl Placed {
    fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }
}

fn load_object(data: &[u8], name: &str, format: &ObjectFormat) -> Result<Loaded, LoadError> {
    let file = object::File::parse(data).map_err(|e| LoadError::Format(e.to_string()))?;
    let little = |little: bool| {
        if little {
            "little-endian"
        } else {
            "big-endian"
        }
    };
    let machine = |a: Architecture, e: bool| format!("{a:?}, {}", little(e)).to_lowercase();
    let found = machine(file.architecture(), file.is_little_endian());
    let wanted = machine(format.architecture, !format.big_endian);
    if found != wanted {
        let hint = match (
            file.architecture() == format.architecture,
            format.big_endian,
        ) {
            (false, _) => "say what it is for with --mcu or --core",
            (true, false) => "add --big-endian",
            (true, true) => "leave out --big-endian",
        };
        return Err(LoadError::Machine {
            found,
            wanted,
            hint,
        });
    }
    let (home, address) = find(&file, name)?;
    let avr = format.architecture == Architecture::Avr;
    let mut sections = sections(&file, home, avr)?;
    let at: HashMap<SectionIndex, u64> = sections.iter().map(|s| (s.index, s.address)).collect();
    // Thumb functions have odd addresses (AAELF32, section 5.5.3).
    let thumb = format.architecture == Architecture::Arm && address & 1 == 1;
    if thumb {
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
    let mut missing = BTreeMap::new();
    let mut got = GlobalOffsets {
        address: sections
            .iter()
            .map(Placed::end)
            .max()
            .unwrap_or(0)
            .next_multiple_of(16),
        entries: Vec::new(),
    };
    if relocatable {
        for section in &mut sections {
            missing.extend(relocate(&file, section, &at, &place, format, &mut got));
        }
    }
    let entry = place_in(home, address);
    let functions = file.symbols().filter(|s| {
        let code = |placed: &Placed| placed.code && Some(placed.index) == s.section_index();
        s.is_definition() && s.size() > 0 && sections.iter().any(code)
    });
    let symbols: Vec<_> = functions
        .map(|s| {
            (
                place(&s),
                s.size(),
                s.name().unwrap_or_default().to_string(),
            )
        })
        .collect();
    let claims = claims(&file, &symbols);
    let code: Vec<&Placed> = sections.iter().filter(|s| s.code).collect();
    let origin = match avr {
        true => 0,
        false => code.iter().map(|s| s.address).min().unwrap_or(0),
    };
    let end = code.iter().map(|s| s.end()).max().unwrap_or(0);
    let mut bytes = vec![0; size(end.saturating_sub(origin))?];
    for section in &code {
        let from = (section.address - origin) as usize;
        bytes[from..from + section.bytes.len()].copy_from_slice(&section.bytes);
    }
    let data = sections.into_iter().filter(|s| !s.code).map(|s| Segment {
        address: s.address,
        bytes: Rc::from(s.bytes),
        writable: s.writable,
    });
    let table = Segment {
        address: got.address,
        bytes: Rc::from(got.bytes(format.big_endian)),
        writable: false,
    };
    let data = data.chain((!got.entries.is_empty()).then_some(table));
    Ok(Loaded {
        function: Function {
            origin: Some(origin),
            entry,
            data: data.collect(),
            missing,
            scratch: free(&file),
            claims,
            ..Function::kernel(&bytes)
        },
        symbols,
    })
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
    match file.flags() {
        object::FileFlags::Elf { e_flags, .. } if file.architecture() == Architecture::Mips => {
            let pic = e_flags.contains(elf::EF_MIPS_PIC) || e_flags.contains(elf::EF_MIPS_CPIC);
            Vec::from_iter(pic.then_some(GP))
        }
        _ => Vec::new(),
    }
}

/// A number of bytes that memory may hold.
fn size(bytes: u64) -> Result<usize, LoadError> {
    match bytes <= MAX_BYTES {
        true => Ok(bytes as usize),
        false => Err(LoadError::TooLarge),
    }
}

/// Is it in a section of instructions?
fn is_code(file: &object::File<'_>, symbol: &object::Symbol<'_, '_>) -> bool {
    let section = symbol.section_index();
    let section = section.and_then(|i| file.section_by_index(i).ok());
    section.is_some_and(|s| flags(&s).contains(elf::SHF_EXECINSTR))
}

/// The section and the address of the function `name`, which may be an address (`0x1234`) itself: in an
/// object, so many bytes from the start of its first section of code.
fn find(file: &object::File<'_>, name: &str) -> Result<(Option<SectionIndex>, u64), LoadError> {
    let mut defined = file
        .symbols()
        .filter(|s| s.is_definition() && is_code(file, s));
    if let Some(symbol) = defined.find(|s| s.name() == Ok(name)) {
        // System V ABI, MIPS supplement as extended by GNU: STO_MIPS16 and STO_MICROMIPS of st_other.
        if let (Architecture::Mips, SymbolFlags::Elf { st_other, .. }) =
            (file.architecture(), symbol.flags())
            && st_other.0 & 0x80 != 0
        {
            return Err(LoadError::Mips16(name.into()));
        }
        return Ok((symbol.section_index(), symbol.address()));
    }
    let address = name.strip_prefix("0x");
    let address = address.and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let mut code = file
        .sections()
        .filter(|s| flags(s).contains(elf::SHF_EXECINSTR));
    let holds = |s: &object::Section<'_, '_>, at: u64| {
        at.checked_sub(s.address())
            .is_some_and(|offset| offset < s.size())
    };
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

/// Names of the functions of `file`.
fn functions<'a>(file: &'a object::File<'a>) -> impl Iterator<Item = &'a str> {
    let sized = file.symbols().filter(|s| s.size() > 0 && is_code(file, s));
    sized.filter_map(|s| s.name().ok())
}

fn flags(section: &object::Section<'_, '_>) -> elf::SectionFlags {
    match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => sh_flags,
        _ => elf::SectionFlags(0),
    }
}

/// The sections that take memory, with their addresses; `first` comes first.
fn sections(
    file: &object::File<'_>,
    first: Option<SectionIndex>,
    avr: bool,
) -> Result<Vec<Placed>, LoadError> {
    let relocatable = file.kind() == ObjectKind::Relocatable;
    let mut list = Vec::new();
    let mut total = 0u64;
    for section in file.sections() {
        let flags = flags(&section);
        if !flags.contains(elf::SHF_ALLOC) || section.size() == 0 {
            continue;
        }
        let mut address = section.address();
        let progmem = section.name().is_ok_and(|n| n.starts_with(".progmem"));
        let mut code = flags.contains(elf::SHF_EXECINSTR) || avr && progmem;
        if avr && !relocatable {
            code = address < AVR_DATA.start;
            if !code && !AVR_DATA.contains(&address) {
                // EEPROM, fuses, signature.
                continue;
            }
            address -= if code { 0 } else { AVR_DATA.start };
        }
        total = total.saturating_add(section.size());
        size(total)?;
        let mut bytes = section.data().unwrap_or_default().to_vec();
        bytes.resize(size(section.size())?, 0);
        list.push((
            section.align().max(1),
            Placed {
                index: section.index(),
                address,
                bytes,
                // The addresses in a table of them are the linker's, not the program's.
                writable: flags.contains(elf::SHF_WRITE) && section.name() != Ok(".got"),
                code,
            },
        ));
    }
    if relocatable {
        list.sort_by_key(|(_, s)| (!s.code, Some(s.index) != first));
        let (mut next, mut next_data) = (0, AVR_OBJECT_DATA);
        for (align, section) in &mut list {
            let next = match avr && !section.code {
                true => &mut next_data,
                false => &mut next,
            };
            section.address = size(*next)?.next_multiple_of(size(*align)?) as u64;
            *next = section.end();
        }
    }
    let lowest = list
        .iter()
        .filter(|(_, s)| s.code)
        .map(|(_, s)| s.address)
        .min();
    // Code far away from the rest (a boot loader, a vector table) is left out.
    let near = |s: &Placed| s.code && s.address - lowest.unwrap_or(0) < MAX_BYTES;
    Ok(list
        .into_iter()
        .map(|(_, s)| s)
        .filter(|s| !s.code || near(s))
        .collect())
}

/// Applies the relocations of `section`.
fn relocate(
    file: &object::File<'_>,
    section: &mut Placed,
    at: &HashMap<SectionIndex, u64>,
    place: &dyn Fn(&object::Symbol<'_, '_>) -> u64,
    format: &ObjectFormat,
    got: &mut GlobalOffsets,
) -> BTreeMap<u64, String> {
    let Ok(source) = file.section_by_index(section.index) else {
        return BTreeMap::new();
    };
    let mut references = Vec::new();
    for (offset, relocation) in source.relocations() {
        let object::RelocationFlags::Elf { r_type } = relocation.flags() else {
            continue;
        };
        let (to, what, local) = match relocation.target() {
            RelocationTarget::Symbol(index) => match file.symbol_by_index(index) {
                Ok(s) if s.name() == Ok(GP_DISP) => (Some(0), GP_DISP.into(), false),
                Ok(s) if s.name() == Ok(LOCAL_GP) => {
                    (Some(got.gp() as u64), LOCAL_GP.into(), false)
                }
                Ok(s) if s.is_undefined() => (None, s.name().unwrap_or_default().into(), false),
                Ok(s) if s.section_index().is_some_and(|i| !at.contains_key(&i)) => {
                    (None, "a section that takes no memory".into(), false)
                }
                Ok(s) => (
                    Some(place(&s)),
                    s.name().unwrap_or_default().into(),
                    s.is_local(),
                ),
                Err(_) => (None, "a symbol that does not exist".to_string(), false),
            },
            RelocationTarget::Section(index) => (at.get(&index).copied(), "a section".into(), true),
            _ => (Some(0), String::new(), true),
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
        address: section.address,
        list: &references,
    };
    relocations.apply(&mut section.bytes, got)
}

/// The nearest of `known` to `name`, as ` (did you mean ...?)`.
fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min();
    nearest.map_or(String::new(), |(_, k)| format!(" (did you mean {k}?)"))
}
