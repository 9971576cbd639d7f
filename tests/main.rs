//! All tests of the tool: one binary, as what is generic over machines is compiled for each binary anew.
//!
//! | folder | asks |
//! |---|---|
//! | `machines` | is a machine what assemblers and emulators say it is? |
//! | `algebra_truth` | does the algebra tell the truth about random programs? |
//! | `kernels` | is every kernel proved, and right on numbers? |
//! | `check` | what is said of other people's functions? |
//! | `figures` | are the numbers in the book and the tables what is made? |
//! | `tool` | what do users meet, and is the project in order? |

mod algebra_truth;
mod check;
mod figures;
mod kernels;
mod kit;
mod ledger;
mod machines;
mod naive;
mod tool;
