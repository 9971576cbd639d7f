//! A worker: lines of JSON in, lines of JSON out. It knows nothing but its task, so it may run anywhere.

use std::io::BufRead;

use lozenge::make::tune::chain::{Walk, best, walk};
use lozenge::make::tune::point::{Cost, Counted, Point};
use lozenge::make::tune::question::Question;
use lozenge::make::tune::written::{Done, Found, Place, Task, Work};
use lozenge::{Error, Request};

use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::tune::lines::line;
use crate::cli::tuned::pointed;
use crate::cli::tuned::question::{Asked, parse};

/// Answers each line; `Ok(true)` when there are no more.
pub fn run() -> Result<bool, Failure> {
    let mut known: Option<Asked> = None;
    for text in std::io::stdin().lock().lines() {
        let text = text.map_err(|e| Failure::file(e.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        let task: Task =
            serde_json::from_str(&text).map_err(|e| format!("this is no task: {e}"))?;
        let asked = match known.take().filter(|asked| asked.words == task.question) {
            Some(asked) => asked,
            None => parse(&task.question)?,
        };
        let Walk { counted, found } = done(&asked, task.work)?;
        let done = Done {
            id: task.id,
            counted,
            found: found.iter().map(Found::of).collect(),
        };
        output::say(&line(&done)?)?;
        known = Some(asked);
    }
    Ok(true)
}

/// What comes of a task.
fn done(asked: &Asked, work: Work) -> Result<Walk, Failure> {
    let about = &asked.about;
    Ok(match work {
        Work::Count(places) => {
            let points: Result<Vec<_>, _> = places.into_iter().map(Place::point).collect();
            counted(about, &points?)
        }
        Work::Walk {
            from,
            mates,
            steps,
            seed,
        } => {
            let mates: Result<Vec<_>, _> = mates.into_iter().map(Place::point).collect();
            walk(about, &from.counted()?, &mates?, steps, seed)
        }
        Work::Prove(place) => Walk {
            counted: 0,
            found: proved(asked, place.point()?)?.into_iter().collect(),
        },
    })
}

/// All that have a kernel, of which those that are best in something are kept.
fn counted(about: &Question, points: &[Point]) -> Walk {
    let found = points
        .iter()
        .filter_map(|point| about.count(point, u64::MAX).ok()?);
    Walk {
        counted: points.len(),
        found: best(about, found.collect()),
    }
}

/// The kernel of a place, if there is one that is proved.
fn proved(asked: &Asked, point: Point) -> Result<Option<Counted>, Failure> {
    let spec = &asked.about.spec;
    let mut request = Request::new(spec.op, spec.size);
    if let Some(modular) = &spec.modular {
        let modular = modular.clone();
        request = request
            .modulus(modular.modulus)
            .reduce(modular.reduce)
            .shift(modular.shift)
            .times(modular.times);
    }
    request = pointed(request, &point);
    if let Some(count) = asked.about.max_regs {
        request = request.max_registers(count);
    }
    // Where a multiplier stops early the fastest product leaks; `gen` says so.
    match request.variable_time().generate(&asked.target) {
        Ok(kernel) => Ok(Some(Counted {
            point,
            cost: Cost {
                cycles: kernel.cost().call.max,
                bytes: kernel.bytes().call as u64,
                stack: kernel.stack() as u64,
                picojoules: kernel
                    .report()
                    .energy
                    .as_ref()
                    .map(|energy| (energy.call.nanojoules[1] * 1000.0).round() as u64),
            },
            proved: true,
        })),
        Err(Error::Unproved(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
