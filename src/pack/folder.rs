//! The files of a pack.

use crate::face::Error;
use crate::pack::library::Library;
use crate::pack::made::Made;
use crate::pack::{header, manifest, readme, selftest};

/// All files, name and contents; with those of the library that calls the kernels.
///
/// # Errors
/// When one cannot be written (a defect of this tool).
pub fn files(made: &Made<'_>, library: Option<&Library>) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut list = Vec::new();
    for kernel in made.kernels {
        let of_kernel = kernel.files()?.list.into_iter();
        // One header and one manifest stand for theirs.
        let own = |name: &str| !name.ends_with(".h") && !name.ends_with(".json");
        list.extend(of_kernel.filter(|(name, _)| own(name)));
    }
    let texts = [
        (format!("{}.h", made.file), header::header(made)),
        (
            manifest::NAME.into(),
            manifest::manifest(made).map_err(Error::Defect)?,
        ),
        ("selftest.c".into(), selftest::selftest(made)),
        (
            "README.md".into(),
            readme::readme(made, library.map(|library| library.readme(made))),
        ),
    ];
    list.extend(texts.map(|(name, text)| (name, text.into_bytes())));
    if let Some(whole) = made.whole {
        let core = made.target.core_name();
        list.extend(whole.files(&core, |what| made.banner(what)));
    }
    if let Some(library) = library {
        let texts = library.files(made).into_iter();
        list.extend(texts.map(|(name, text)| (name, text.into_bytes())));
    }
    Ok(list)
}
