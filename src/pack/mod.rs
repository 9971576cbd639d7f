//! Packs: kernels that go together, as the files of one folder.
//!
//! `packs.toml` says which kernels a pack has and how often each is called. They are made one by one ([`Wanted`]); with a
//! budget, [`budget`] shares the flash among them. The folder holds their assembly and objects, one [`header`], a
//! [`manifest`] that `lozenge check` reads, a self-test ([`selftest`]), a [`readme`], and for a [`library`] the file
//! that calls them ([`micro_ecc`], [`mbedtls`], [`bearssl`], [`p256_m`]). A whole computation has a driver and a C function beside its kernels ([`whole`]).

pub mod bearssl;
pub mod budget;
pub mod data;
pub mod folder;
pub mod header;
pub mod library;
pub mod made;
pub mod manifest;
pub mod mbedtls;
pub mod micro_ecc;
pub mod p256_m;
pub mod points;
pub mod readme;
pub mod selftest;
pub mod whole;

pub use data::{Packs, Wanted};
pub use library::Library;
pub use made::Made;
pub use whole::Whole;
