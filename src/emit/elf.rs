//! The linkable object: one function in a section of its own.

use machine::format::ObjectFormat;
use machine::program::Claim;
use object::write::{Object, Relocation, Symbol, SymbolSection};
use object::{
    BinaryFormat, Endianness, FileFlags, RelocationFlags, SectionFlags, SectionKind, SymbolFlags,
    SymbolKind, SymbolScope,
};

use crate::hints;

/// A call of a function, or a jump within this one, for the linker.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Bytes from the start of the code.
    pub at: u64,
    /// The function that is called.
    pub symbol: &'a str,
    /// How many bytes behind its start.
    pub addend: i64,
    /// The type of the relocation.
    pub relocation: u32,
}

/// An ELF object with `code` as the global function `symbol` in section `.text.<symbol>`, and `claims`
/// about its instructions (by their bytes from its start) for [`crate::load`].
///
/// # Errors
/// What the object writer objects to.
pub fn object(
    format: &ObjectFormat,
    symbol: &str,
    code: &[u8],
    claims: &[Claim],
) -> Result<Vec<u8>, String> {
    let mut file = function(format, symbol, code, &[])?;
    if !claims.is_empty() {
        let name = hints::SECTION.as_bytes().to_vec();
        let section = file.add_section(Vec::new(), name, SectionKind::Other);
        file.append_section_data(section, &hints::encode(symbol, claims), 1);
    }
    file.write().map_err(|e| e.to_string())
}

/// The same without claims, but with calls of functions that are not in it.
///
/// # Errors
/// What the object writer objects to.
pub fn object_that_calls(
    format: &ObjectFormat,
    symbol: &str,
    code: &[u8],
    calls: &[Call<'_>],
) -> Result<Vec<u8>, String> {
    let file = function(format, symbol, code, calls)?;
    file.write().map_err(|e| e.to_string())
}

fn function(
    format: &ObjectFormat,
    symbol: &str,
    code: &[u8],
    calls: &[Call<'_>],
) -> Result<Object<'static>, String> {
    let endianness = if format.big_endian {
        Endianness::Big
    } else {
        Endianness::Little
    };
    let mut file = Object::new(BinaryFormat::Elf, format.architecture, endianness);
    file.flags = FileFlags::Elf {
        os_abi: object::elf::OsAbi(0),
        abi_version: 0,
        e_flags: object::elf::FileFlags(format.flags),
    };
    let section = file.add_section(
        Vec::new(),
        format!(".text.{symbol}").into_bytes(),
        SectionKind::Text,
    );
    file.append_section_data(section, code, format.align);
    if let Some(name) = format.mapping_symbol {
        // AAELF32, section 5.5.5: code that is ARM, not Thumb or data.
        file.add_symbol(Symbol {
            kind: SymbolKind::Label,
            scope: SymbolScope::Compilation,
            ..global(name, SymbolSection::Section(section))
        });
    }
    file.add_symbol(Symbol {
        size: code.len() as u64,
        ..global(symbol, SymbolSection::Section(section))
    });
    for call in calls {
        let symbol = match file.symbol_id(call.symbol.as_bytes()) {
            Some(known) => known,
            None => file.add_symbol(global(call.symbol, SymbolSection::Undefined)),
        };
        let relocation = Relocation {
            offset: call.at,
            symbol,
            addend: call.addend,
            flags: RelocationFlags::Elf {
                r_type: object::elf::RelocationType(call.relocation),
            },
        };
        file.add_relocation(section, relocation)
            .map_err(|e| e.to_string())?;
    }
    add_notes(&mut file, format);
    Ok(file)
}

/// What linkers are told beside the code: what it needs, and that the stack holds none.
fn add_notes(file: &mut Object<'static>, format: &ObjectFormat) {
    if let Some(attributes) = &format.attributes {
        let name = attributes.section.as_bytes().to_vec();
        let section = file.add_section(Vec::new(), name, SectionKind::Other);
        file.append_section_data(section, attributes.bytes, attributes.align);
        file.section_mut(section).flags = SectionFlags::Elf {
            sh_type: object::elf::SectionType(attributes.kind),
            sh_flags: object::elf::SectionFlags(attributes.flags),
        };
    }
    if format.stack_note {
        let note = b".note.GNU-stack".to_vec();
        file.add_section(Vec::new(), note, SectionKind::Other);
    }
}

/// A function that other files may call, of no size yet.
fn global(name: &str, section: SymbolSection) -> Symbol {
    Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        // Default visibility, as `.global` gives: a shared library can export it.
        scope: SymbolScope::Dynamic,
        weak: false,
        section,
        flags: SymbolFlags::None,
    }
}
