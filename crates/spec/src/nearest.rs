//! Names that are nearly right.

/// The nearest of `known` to `name`, as ` (did you mean ...?)`.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min();
    match nearest {
        Some((distance, k)) if distance <= 3.max(name.len() / 3) => {
            format!(" (did you mean {k}?)")
        }
        _ => String::new(),
    }
}
