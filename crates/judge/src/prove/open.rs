//! The terms that remain of an equation that is not proved, for the message to the user.

/// An obligation that could not be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub text: String,
    /// Address of the instruction that raised it, in bytes.
    pub pc: Option<usize>,
}

/// What is shown of a goal.
pub type Shown<T> = Result<T, Open>;
