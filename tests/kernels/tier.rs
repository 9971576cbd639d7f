//! Which cells are made: a sample on every save, all of them in CI, more at night.

use std::collections::BTreeSet;

/// Which cells are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// A sample, another one each day.
    Fast,
    /// All but those of the night.
    Full,
    /// All, those of the night in files of their own.
    Night,
}

impl Tier {
    /// What `LOZENGE_TIER` says, `full` if nothing.
    pub fn asked() -> Self {
        match std::env::var("LOZENGE_TIER").as_deref() {
            Ok("fast") => Tier::Fast,
            Ok("night") => Tier::Night,
            Ok("full" | "") | Err(_) => Tier::Full,
            Ok(other) => panic!("LOZENGE_TIER={other}: try fast, full or night"),
        }
    }
}

/// Where samples begin: `LOZENGE_SEED`, or the number of the day.
fn seed() -> u64 {
    const DAY: u64 = 24 * 60 * 60;
    let given = std::env::var("LOZENGE_SEED").ok();
    let given = given.map(|text| text.parse().expect("LOZENGE_SEED is a number"));
    given.unwrap_or_else(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs() / DAY)
    })
}

/// `count` of `cells` if the tier is fast, and all of them if not.
pub fn sample<T>(tier: Tier, name: &str, cells: Vec<T>, count: usize) -> Vec<T> {
    if tier != Tier::Fast || cells.len() <= count {
        return cells;
    }
    let seed = seed();
    println!(
        "{name}: {count} of {} cells, LOZENGE_SEED={seed}",
        cells.len()
    );
    let mut random = lozenge::vectors::Random::new(seed);
    let mut places = BTreeSet::new();
    while places.len() < count {
        places.insert(random.below(cells.len()));
    }
    let cells = cells.into_iter().enumerate();
    let cells = cells.filter(|(place, _)| places.contains(place));
    cells.map(|(_, cell)| cell).collect()
}
