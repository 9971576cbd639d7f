//! Figures on record, in the files of `tests/paper/`.

use toml::Value;

/// The whole numbers of an array.
///
/// # Panics
/// When it is none.
pub fn numbers(array: &Value) -> Vec<u64> {
    let list = array.as_array().expect("an array").iter();
    list.map(|n| n.as_integer().expect("a number") as u64)
        .collect()
}
