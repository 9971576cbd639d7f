//! The advice in an error message, found in its text.

/// What to do instead, of a line of the command line's own: the words behind the last `try`, or `leave out`.
pub fn advice(message: &str) -> Option<&str> {
    let after = |word: &str| Some(message.rfind(word)? + word.len());
    let rest = match (after("try "), message.rfind("leave out ")) {
        (Some(at), leave) if leave.is_none_or(|leave| leave < at) => &message[at..],
        (_, Some(at)) => &message[at..],
        (_, None) => return None,
    };
    Some(rest.trim_end_matches(')'))
}
