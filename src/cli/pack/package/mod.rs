//! `lozenge pack --package`: a pack's files in the layout that a build tool wants, with the files that this tool reads.
//!
//! Assembly and C lie in `src`, headers in `include` (Arduino: in `src`), and what proves the kernels again in `extras`.

mod archive;
mod fits;
pub mod kind;
mod rust;
mod template;

use lozenge::emit::banner::LICENCE;
use lozenge::gnu::Gnu;
use lozenge::pack::{Made, Whole};
use minijinja::context;

use crate::cli::failure::Failure;
pub use crate::cli::pack::package::fits::refuse;
use crate::cli::pack::package::fits::{arduino, depends, espressif, platformio};
use crate::cli::pack::package::kind::Package;
use crate::cli::pack::package::template::{File, filled, name};

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
    ("src/lib.rs", include_str!("templates/lib.jinja")),
];
const README: (&str, &str) = ("README.md", include_str!("templates/README.md"));

fn templates(package: Package) -> &'static [(&'static str, &'static str)] {
    match package {
        Package::Arduino => ARDUINO,
        Package::Platformio => PLATFORMIO,
        Package::Cmake => CMAKE,
        Package::Zephyr => ZEPHYR,
        Package::EspIdf => ESP_IDF,
        Package::Rust => RUST,
    }
}

/// Where a file of a pack goes; nowhere, if the package has its own.
fn place(package: Package, name: &str) -> Option<String> {
    let folder = match (package, name.rsplit_once('.').map_or("", |(_, end)| end)) {
        (_, "md") => return None,
        _ if name == SELFTEST => match package {
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
    let values = values(package, made, &pack)?;
    let mut list = Vec::new();
    for (name, text) in templates(package).iter().chain([&README]) {
        list.push((name.to_string(), filled(text, &values)?.into_bytes()));
    }
    if package == Package::Rust {
        list.extend(rust::files(made, &pack)?);
    }
    for (name, mut contents) in pack {
        let Some(place) = place(package, &name) else {
            continue;
        };
        if package == Package::Arduino && name == SELFTEST {
            contents.splice(0..0, IN_A_SKETCH.bytes());
        }
        list.push((place, contents));
    }
    Ok(list)
}

/// What the templates say of a pack.
fn values(package: Package, made: &Made<'_>, pack: &[File]) -> Result<minijinja::Value, String> {
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
    // Only for a crate must functions be safe in Rust's sense.
    let crate_values = match package {
        Package::Rust => Some(rust::values(made, &ends(&[".S"]))?),
        _ => None,
    };
    Ok(context! {
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
        rust => crate_values,
    })
}
