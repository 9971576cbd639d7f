//! Worker processes of this machine.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lozenge::make::tune::written::{Done, Task};

use crate::cli::tune::lines::line;

/// Processes that read tasks and print what comes of them.
pub struct Workers(Vec<Worker>);

struct Worker {
    child: Child,
    /// Nothing more is read when this is dropped, and the worker ends.
    tasks: Option<ChildStdin>,
    results: BufReader<ChildStdout>,
}

impl Worker {
    fn new() -> Result<Self, String> {
        let cannot = |e: std::io::Error| format!("cannot start a worker: {e}");
        let own = std::env::current_exe().map_err(cannot)?;
        let mut command = Command::new(own);
        command.args(["tune", "--worker"]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().map_err(cannot)?;
        let missing = || "a worker has no pipes".to_string();
        Ok(Self {
            tasks: Some(child.stdin.take().ok_or_else(missing)?),
            results: BufReader::new(child.stdout.take().ok_or_else(missing)?),
            child,
        })
    }

    fn done(&mut self, task: &Task) -> Result<Done, String> {
        let ended = |e: std::io::Error| format!("a worker ended: {e}");
        let text = line(task)? + "\n";
        let tasks = self.tasks.as_mut().ok_or("a worker ended")?;
        tasks.write_all(text.as_bytes()).map_err(ended)?;
        let mut answer = String::new();
        self.results.read_line(&mut answer).map_err(ended)?;
        serde_json::from_str(&answer)
            .map_err(|e| format!("a worker ended, or printed no result: {e}"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.tasks.take());
        // Nobody is left to tell how it ended.
        let _ = self.child.wait();
    }
}

impl Workers {
    /// So many processes.
    ///
    /// # Errors
    /// When one cannot be started.
    pub fn new(count: usize) -> Result<Self, String> {
        (0..count)
            .map(|_| Worker::new())
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// What came of the tasks that were begun before the time was over; `tell` is told how many are done.
    ///
    /// # Errors
    /// When a worker ended, or does not know the words of a task.
    pub fn each(
        &mut self,
        tasks: &[Task],
        until: Option<Instant>,
        tell: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Done>, String> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for worker in &mut self.0 {
                scope.spawn(|| {
                    while until.is_none_or(|until| Instant::now() < until) {
                        let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) else {
                            break;
                        };
                        let result = worker.done(task);
                        let failed = result.is_err();
                        // A thread that panicked has ended the whole run already.
                        if let Ok(mut list) = results.lock() {
                            list.push(result);
                            tell(list.len());
                        }
                        if failed {
                            break;
                        }
                    }
                });
            }
        });
        let results = results.into_inner().unwrap_or_default();
        results.into_iter().collect()
    }
}
