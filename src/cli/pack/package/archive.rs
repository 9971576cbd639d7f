//! Objects as one static library: an `ar` archive with an index of symbols, as GNU's and LLVM's linkers read it (System V's
//! format, ar(5)).

/// The length of a member's header.
const HEADER: usize = 60;
/// What an archive begins with.
const MAGIC: &[u8] = b"!<arch>\n";

/// An archive of objects, each with the one symbol that it defines. Members are called by their number.
pub(super) fn archive(objects: &[(&str, &[u8])]) -> Vec<u8> {
    let names: Vec<u8> = objects
        .iter()
        .flat_map(|(symbol, _)| symbol.bytes().chain([0]))
        .collect();
    let index_bytes = 4 + 4 * objects.len() + names.len();
    let mut at = MAGIC.len() + HEADER + index_bytes.next_multiple_of(2);
    let mut index = (objects.len() as u32).to_be_bytes().to_vec();
    for (_, object) in objects {
        index.extend((at as u32).to_be_bytes());
        at += HEADER + object.len().next_multiple_of(2);
    }
    index.extend(names);
    let mut bytes = MAGIC.to_vec();
    member(&mut bytes, "/", &index);
    for (number, (_, object)) in objects.iter().enumerate() {
        member(&mut bytes, &format!("{number}.o/"), object);
    }
    bytes
}

/// A header, without time and owner, and contents of an even length.
fn member(bytes: &mut Vec<u8>, name: &str, contents: &[u8]) {
    let length = contents.len();
    bytes.extend(
        format!(
            "{name:<16}{:<12}{:<6}{:<6}{:<8}{length:<10}`\n",
            0, 0, 0, 644
        )
        .bytes(),
    );
    bytes.extend(contents);
    if !length.is_multiple_of(2) {
        bytes.push(b'\n');
    }
}
