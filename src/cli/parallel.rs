//! Work on all processors, in the order of its items.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cli::progress::Progress;

/// What `work` makes of each item, in their order; those that are done are counted by the name of what they are.
pub fn each<T: Sync, R: Send>(items: &[T], name: &str, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let progress = Progress::of(format!("0/{} {name}", items.len()));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else {
                        break;
                    };
                    let made = work(item);
                    // A thread that panicked has ended the whole run already.
                    if let Ok(mut list) = done.lock() {
                        list.push((i, made));
                        progress.say(format!("{}/{} {name}", list.len(), items.len()));
                    }
                }
            });
        }
    });
    progress.done();
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}
