//! Names that are nearly right.

/// The one of `known` that is nearest to `name`, if it is near.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min();
    let near = |(distance, _): &(usize, &str)| *distance <= 3.max(name.len() / 3);
    nearest.filter(near).map(|(_, k)| k)
}

/// A name that is near, as ` (did you mean ...?)`.
pub fn question(near: Option<&str>) -> String {
    near.map_or(String::new(), |k| format!(" (did you mean {k}?)"))
}

/// The nearest of `known` to `name`, as ` (did you mean ...?)`.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    question(nearest(name, known))
}
