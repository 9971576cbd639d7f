//! 8-bit AVR.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, timing class, meaning |
//! | [`machine`] | registers and flags, and the operations the meanings use |
//! | [`code`] | encode, decode and print, from the table |
//! | [`cores`], [`parts`] | costs of each core; memories of each part |
//! | [`run`] | executing decoded code, in any domain |
//! | [`abi`] | the avr-gcc calling convention: entering, leaving, saving |
//! | [`lower`], [`columns`], [`pointers`] | from a schedule to a program |

pub mod abi;
pub mod code;
pub mod columns;
pub mod cores;
pub mod instructions;
pub mod lower;
pub mod machine;
pub mod parts;
pub mod pointers;
pub mod run;
