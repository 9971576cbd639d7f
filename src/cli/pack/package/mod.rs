//! `lozenge pack --package`: a pack's files in the layout that a build tool wants, with the files that this tool reads.
//!
//! Assembly and C lie in `src`, headers in `include` (Arduino: in `src`), and what proves the kernels again in `extras`.

mod archive;
mod fits;
mod rust;

use clap::ValueEnum;
use lozenge::emit::banner::LICENCE;
use lozenge::gnu::Gnu;
use lozenge::pack::{Made, Whole};
use minijinja::{AutoEscape, Environment, context};

use crate::cli::failure::Failure;
pub use crate::cli::pack::package::fits::refuse;
use crate::cli::pack::package::fits::{arduino, depends, espressif, platformio};

/// Name and contents of a file.
type File = (String, Vec<u8>);

/// Build tools that packs are laid out for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Package {
    /// An Arduino library with a sketch that tests it
    Arduino,
    /// A PlatformIO library
    Platformio,
    /// A CMake project: `add_subdirectory` or `find_package`
    Cmake,
    /// A Zephyr module
    Zephyr,
    /// An ESP-IDF component
    EspIdf,
    /// A Rust crate without std
    Rust,
}

/// The templates of each package: where the file goes, and its text.
const ARDUINO: &[(&str, &str)] = &[
    (
        "library.properties",
        include_str!("templates/library.properties"),
    ),
    (
        "examples/SelfTest/SelfTest.ino",
        include_str!("templates/SelfTest.ino"),
    ),
];
const PLATFORMIO: &[(&str, &str)] = &[("library.json", include_str!("templates/library.json"))];
const CMAKE: &[(&str, &str)] = &[("CMakeLists.txt", include_str!("templates/CMakeLists.txt"))];
const ZEPHYR: &[(&str, &str)] = &[
    ("zephyr/module.yml", include_str!("templates/module.yml")),
    ("zephyr/Kconfig", include_str!("templates/Kconfig")),
    (
        "zephyr/CMakeLists.txt",
        include_str!("templates/zephyr.cmake"),
    ),
];
const ESP_IDF: &[(&str, &str)] = &[
    (
        "idf_component.yml",
        include_str!("templates/idf_component.yml"),
    ),
    ("CMakeLists.txt", include_str!("templates/esp-idf.cmake")),
];
const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("templates/Cargo.toml")),
    ("src/lib.rs", include_str!("templates/lib.rs")),
];
const README: (&str, &str) = ("README.md", include_str!("templates/README.md"));

impl Package {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Package::Arduino => "arduino",
            Package::Platformio => "platformio",
            Package::Cmake => "cmake",
            Package::Zephyr => "zephyr",
            Package::EspIdf => "esp-idf",
            Package::Rust => "rust",
        }
    }

    fn templates(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Package::Arduino => ARDUINO,
            Package::Platformio => PLATFORMIO,
            Package::Cmake => CMAKE,
            Package::Zephyr => ZEPHYR,
            Package::EspIdf => ESP_IDF,
            Package::Rust => RUST,
        }
    }

    /// Where a file of a pack goes; nowhere, if the package has its own.
    fn place(self, name: &str) -> Option<String> {
        let folder = match (self, name.rsplit_once('.').map_or("", |(_, end)| end)) {
            (_, "md") => return None,
            _ if name == SELFTEST => match self {
                Package::Arduino => "examples/SelfTest",
                _ => "extras",
            },
            (_, "o" | "json") => "extras",
            (Package::Rust, _) => return None,
            (Package::Arduino, _) | (_, "S" | "c") => "src",
            _ => "include",
        };
        Some(format!("{folder}/{name}"))
    }
}

/// The file of the pack that tests it.
const SELFTEST: &str = "selftest.c";

/// What makes the self-test a part of a sketch.
const IN_A_SKETCH: &str = "#define SELFTEST_PUT selftest_put\n#define SELFTEST_MAIN selftest\n\n";

/// The files of a package, from those of the pack; without one, these.
///
/// # Errors
/// When a template cannot be filled (a defect of this tool).
pub fn files(
    package: Option<Package>,
    made: &Made<'_>,
    pack: Vec<File>,
) -> Result<Vec<File>, Failure> {
    let Some(package) = package else {
        return Ok(pack);
    };
    let values = values(package, made, &pack);
    let mut list = Vec::new();
    for (name, text) in package.templates().iter().chain([&README]) {
        list.push((name.to_string(), filled(text, &values)?.into_bytes()));
    }
    if package == Package::Rust {
        list.extend(rust::files(made, &pack)?);
    }
    for (name, mut contents) in pack {
        let Some(place) = package.place(&name) else {
            continue;
        };
        if package == Package::Arduino && name == SELFTEST {
            contents.splice(0..0, IN_A_SKETCH.bytes());
        }
        list.push((place, contents));
    }
    Ok(list)
}

/// A name of letters, digits and `_`: `lozenge_rsa_1024`.
fn name(made: &Made<'_>) -> String {
    format!("lozenge_{}", made.name.replace('-', "_"))
}

/// What the templates say of a pack.
fn values(package: Package, made: &Made<'_>, pack: &[File]) -> minijinja::Value {
    let ends = |ends: &'static [&str]| {
        let of = pack.iter().map(|(name, _)| name.as_str());
        of.filter(move |name| *name != SELFTEST && ends.iter().any(|end| name.ends_with(end)))
            .collect::<Vec<_>>()
    };
    let core = made.target.core_name();
    let header = match made.whole {
        Some(_) => Whole::NAME,
        None => made.file,
    };
    context! {
        package => package.name(),
        pack => made.name,
        name => name(made),
        title => made.title,
        command => made.command,
        version => made.version,
        licence => LICENCE,
        chip => made.target.part_name().unwrap_or(&core),
        core => core,
        header => header,
        flags => Gnu::of(made.target).flags,
        sources => ends(&[".S", ".c"]),
        bytes => made.bytes(),
        stack => made.whole.map_or(made.stack(), |whole| whole.report.ram.total),
        functions => made.kernels.len(),
        architecture => arduino(made.target).unwrap_or_default(),
        platform => platformio(made.target).unwrap_or_default(),
        depends => depends(made.target).unwrap_or_default(),
        chips => espressif(made.target).unwrap_or_default(),
        rust => rust::values(made, &ends(&[".S"])),
    }
}

fn filled(template: &str, values: &minijinja::Value) -> Result<String, Failure> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    let text = environment.render_str(template, values);
    text.map_err(|e| {
        Failure::from(format!(
            "the package cannot be made: {e} (a defect of this tool)"
        ))
    })
}
