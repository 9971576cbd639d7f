//! The methods: pure functions from a spec, a machine's facts and parameters to a [`Schedule`].

mod bottom;
pub mod catalogue;
mod checked_parameters;
mod loop_forms;
pub mod signature;
mod square_terms;

pub mod carry_chain;
mod catching;
pub mod cihs;
pub mod cios;
pub mod consecutive_operand_caching;
pub mod fios;
pub mod fips;
mod fold_counts;
pub mod folded_karatsuba;
pub mod hfips;
pub mod hybrid;
pub mod karatsuba;
pub mod karatsuba_calls;
pub mod karatsuba_comba;
pub mod karatsuba_joined;
pub mod karatsuba_modulo;
mod karatsuba_plans;
pub mod karatsuba_schoolbook;
pub mod karatsuba_squaring;
pub mod kcm;
pub mod lazy_doubling;
mod levels_at_once;
mod middle_first;
mod middle_signs;
mod number_products;
pub mod operand_caching;
pub mod operand_scanning;
pub mod product_scanning;
pub mod range_shifted;
mod reduction;
pub mod reverse_hybrid;
pub mod separated;
pub mod shift_and_add;
pub mod short_product;
pub mod sliding_block_doubling;
pub mod sos;
pub mod special_primes;
pub mod square_carry_catcher;
pub mod square_operand_scanning;
pub mod square_product_scanning;
pub mod square_reverse_hybrid;
mod streamed;
pub mod without_loops;

pub use crate::method::catalogue::{METHODS, find, find_for, text};
pub use crate::method::signature::{Method, MethodError, Parameter, Params};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use thiserror::Error;

use crate::facts::{Facts, Style};
use crate::schedule::{Blocks, Loops, Scans, Schedule, Word, Words};
use spec::{Op, Spec};
