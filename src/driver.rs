//! Programs that call kernels, with their kernels proved, and what their time tells.

pub mod build;
pub mod secrecy;

pub use make::driver::*;
