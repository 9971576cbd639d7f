//! Work on every processor there is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::output;

/// What `work` makes of each item, in their order; a progress bar counts them by the name of what they are.
pub fn each<T: Sync, R: Send>(items: &[T], name: &str, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let bar = match output::is_quiet() {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(items.len() as u64),
    };
    let template = format!("{{bar:30}} {{pos}}/{{len}} {name} [{{elapsed}}]");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
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
                    bar.inc(1);
                    // A thread that panicked has ended the whole run already.
                    if let Ok(mut list) = done.lock() {
                        list.push((i, made));
                    }
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}
