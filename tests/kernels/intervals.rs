//! Which values stay in registers: the dearest intervals of which so many overlap.

use lozenge::intervals::{Interval, choose};

fn worth(chosen: &[bool], intervals: &[Interval]) -> i64 {
    let taken = chosen.iter().zip(intervals).filter(|(c, _)| **c);
    taken.map(|(_, i)| i.worth).sum()
}

fn fits(chosen: &[bool], places: &[usize], intervals: &[Interval]) -> bool {
    places.iter().enumerate().all(|(p, room)| {
        let here = |i: &Interval| (i.from..i.to).contains(&p);
        let taken = chosen.iter().zip(intervals);
        taken.filter(|(c, i)| **c && here(i)).count() <= *room
    })
}

/// Against all subsets, on small random lines.
#[test]
fn is_the_best_of_all_sets() {
    let mut state = 1u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for _ in 0..200 {
        let places: Vec<usize> = (0..8).map(|_| random(4)).collect();
        let intervals: Vec<Interval> = (0..9)
            .map(|_| {
                let from = random(8);
                Interval {
                    from,
                    to: from + random(9 - from),
                    worth: 1 + random(6) as i64,
                }
            })
            .collect();
        let got = choose(&places, &intervals);
        assert!(fits(&got, &places, &intervals), "{places:?} {intervals:?}");
        let sets = (0..1u32 << intervals.len())
            .map(|set| (0..intervals.len()).map(|i| set >> i & 1 > 0).collect())
            .filter(|c: &Vec<bool>| fits(c, &places, &intervals));
        let best = sets.map(|c| worth(&c, &intervals)).max();
        assert_eq!(
            Some(worth(&got, &intervals)),
            best,
            "{places:?} {intervals:?}"
        );
    }
}
