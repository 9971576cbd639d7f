//! The bits of operands.

use lozenge::spec;
use lozenge::spec::modulus::Modulus;

use crate::cli::arguments::ModularArgs;
use crate::cli::failure::Failure;

/// The bits that are asked for: those that were typed, or those of the modulus.
///
/// # Errors
/// When neither says it.
pub(super) fn size(
    typed: Option<spec::Size>,
    modular: &ModularArgs,
    op: &str,
) -> Result<spec::Size, Failure> {
    let of_modulus = || match &modular.modulus {
        Some(Modulus::Fixed { value, .. }) => u32::try_from(value.bits()).ok().map(Into::into),
        _ => None,
    };
    let missing = || format!("how many bits have the operands: try {op} 256").into();
    typed.or_else(of_modulus).ok_or_else(missing)
}
