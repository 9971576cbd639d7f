//! Verdicts on a function, from its bytes: is it right for all inputs, memory-safe, true to its calling convention, and in
//! constant time?
//!
//! | module | what |
//! |---|---|
//! | [`checker`] | decides whether what a run wrote down is true |
//! | [`prove`] | the obligations: a run that somebody finds, and one that follows it and decides |
//! | [`timing`] | what time and addresses tell, and cycles over all inputs |
//! | [`counterexample`] | a run on numbers that shows what is wrong, with all that it depends on |
//! | [`trial`] | runs on numbers in search of operands on which a function is wrong |
//! | [`verdict`] | all of that for every overlap of operands and every core |
//! | [`certificate`] | what a proof wrote down, as a file, and a proof along it |
//!
//! It knows no maker of kernels, and of a finder of proofs only that it writes something down ([`prove::Finder`]).

pub mod case;
pub mod certificate;
pub mod checker;
pub mod counterexample;
pub mod prove;
pub mod timing;
pub mod trial;
pub mod verdict;
