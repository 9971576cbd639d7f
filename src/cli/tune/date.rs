//! The day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC: year, month and day.
pub fn today() -> String {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = passed.map_or(0, |time| time.as_secs() / 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date so many days after 1970-01-01: a year begins in March, so that a leap day is its last, and 400 years have
/// 146097 days (Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*, 2021).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march = (5 * day + 2) / 153;
    let month = (march + 2) % 12 + 1;
    let year = 400 * era + year + u64::from(month <= 2);
    (year, month, day - (153 * march + 2) / 5 + 1)
}
