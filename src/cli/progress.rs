//! How far long work is: a line that moves on a terminal; elsewhere a line every ten seconds, on standard error.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lozenge::Step;

use crate::cli::output;

/// Between two lines where there is no terminal.
const PAUSE: Duration = Duration::from_secs(10);

/// What is being done, and what it is about.
pub struct Progress {
    what: String,
    bar: ProgressBar,
    /// What the next line says where there is no terminal.
    line: Arc<Mutex<String>>,
    /// Ends the thread that prints lines when it is dropped.
    lines: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Of `what`, from now on.
    pub fn of(what: String) -> Self {
        let bar = match output::is_quiet() {
            true => ProgressBar::hidden(),
            // Draws on a terminal only.
            false => ProgressBar::new_spinner().with_message(what.clone()),
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} [{elapsed}]") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let line = Arc::new(Mutex::new(what.clone()));
        let silent = output::is_quiet() || stderr().is_terminal();
        let lines = (!silent).then(|| lines(line.clone()));
        Self {
            what,
            bar,
            line,
            lines,
        }
    }

    /// What is being done now.
    pub fn say(&self, text: String) {
        // A thread that panicked while it held the line has ended the run.
        if let Ok(mut line) = self.line.lock() {
            line.clone_from(&text);
        }
        self.bar.set_message(text);
    }

    /// What is told of each step of a search.
    pub fn watch(&self) -> impl Fn(Step<'_>) + Send + Sync + 'static {
        let (what, bar, line) = (self.what.clone(), self.bar.clone(), self.line.clone());
        move |step| {
            let text = match step {
                Step::Counting { plan, tried, left } => {
                    format!("{what}: counting {plan}; {tried} plans tried, {left} left")
                }
                Step::Proving { plan } => format!("{what}: proving {plan}"),
            };
            if let Ok(mut line) = line.lock() {
                line.clone_from(&text);
            }
            bar.set_message(text);
        }
    }

    /// It is done.
    pub fn done(self) {
        self.bar.finish_and_clear();
        if let Some((end, thread)) = self.lines {
            drop(end);
            // The thread only prints: if it panicked there is nothing to undo.
            let _ = thread.join();
        }
    }
}

/// Prints the line every [`PAUSE`], until the sender is dropped.
fn lines(line: Arc<Mutex<String>>) -> (Sender<()>, JoinHandle<()>) {
    let (end, ended) = channel();
    let start = Instant::now();
    let print = move || {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PAUSE) {
            if let Ok(line) = line.lock() {
                output::tell(&format!("{line} [{} s]", start.elapsed().as_secs()));
            }
        }
    };
    (end, std::thread::spawn(print))
}
