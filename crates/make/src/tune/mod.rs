//! A local search over plans, parameters and styles: it counts, and proves nothing. [`point`] is a place of the search,
//! [`neighbours`] changes one choice of it, [`chain`] walks from place to place, and [`tuning`] is what a whole search
//! knows, which hands out tasks and takes what comes of them.

pub mod chain;
pub mod neighbours;
pub mod point;
pub mod question;
pub mod tuning;
pub mod written;
