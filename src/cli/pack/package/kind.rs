//! Build tools that packs are laid out for.

use clap::ValueEnum;

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
}
