//! Makes programs: methods give schedules, schedules are lowered to instructions, and these are counted.
//!
//! Nothing here is believed, and nothing is proved: whatever comes out is judged on its bytes.

pub mod allocate;
pub mod budget;
pub mod candidate;
pub mod driver;
pub mod engine;
pub mod error;
pub mod facts;
pub mod intervals;
pub mod lower;
pub mod method;
pub mod plans;
pub mod refusal;
pub mod request;
pub mod schedule;
pub mod target;
pub mod tune;
pub mod winners;
