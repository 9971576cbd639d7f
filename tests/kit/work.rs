//! Work on many cases at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each case, in their order, on as many threads as there are cores. A case that panics ends the
/// test with what it said.
pub fn each<T: Sync, R: Send>(cases: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let go_on = || {
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else { break };
            own.push((at, work(case)));
        }
        done.lock().expect("nothing panics here").extend(own);
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(go_on)).collect();
        go_on();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let mut done = done.into_inner().expect("nothing panics here");
    done.sort_by_key(|(at, _)| *at);
    assert_eq!(done.len(), cases.len());
    done.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn results_are_in_the_order_of_the_cases() {
    let cases: Vec<u64> = (0..1000).collect();
    let squares = each(&cases, |x| x * x);
    assert!(squares.iter().zip(&cases).all(|(y, x)| *y == x * x));
    assert!(each(&[] as &[u8], |_| 0).is_empty());
    let failed = std::panic::catch_unwind(|| each(&cases, |x| assert!(*x < 990)));
    assert!(failed.is_err());
}
