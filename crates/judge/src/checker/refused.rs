//! The reason why the checker does not accept an entry.

/// Why something is not accepted.
pub type Refused = &'static str;

/// What an entry comes to.
pub type Check<T = ()> = Result<T, Refused>;
