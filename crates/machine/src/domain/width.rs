//! How many bits a word may have.

use crate::fault::Fault;

/// Words of so many bits no machine has.
pub fn no_width(bits: u32) -> Fault {
    Fault::Unsupported(format!("words of {bits} bits are not followed"))
}

/// An expression with the constant `$w`, the bits of a word, which are known as it runs.
///
/// # Errors
/// A fault where no machine has such words.
#[macro_export]
macro_rules! of_width {
    ($bits:expr, |$w:ident| $body:expr) => {
        match $bits {
            8 => {
                const $w: u32 = 8;
                Ok($body)
            }
            16 => {
                const $w: u32 = 16;
                Ok($body)
            }
            32 => {
                const $w: u32 = 32;
                Ok($body)
            }
            other => Err($crate::domain::width::no_width(other as u32)),
        }
    };
}
