//! `lozenge tune`: a search for kernels that are cheaper than those that come with the tool.

mod date;
mod lines;
mod worker;
mod workers;

use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use lozenge::make::tune::point::Counted;
use lozenge::make::tune::tuning::Tuning;
use lozenge::make::tune::written::{Done, Found, Record, Search, Task, all};

use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::cli::tune::lines::line;
use crate::cli::tune::workers::Workers;
use crate::cli::tuned::question::{Asked, QuestionArgs};
use crate::cli::tuned::read;
use crate::cli::{draw, generate};

/// Arguments of `tune`.
#[derive(Args)]
pub struct TuneArgs {
    #[command(flatten)]
    question: QuestionArgs,
    /// How long to search; what a worker has begun is finished
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Rounds to search, instead of a time: equal seeds and rounds find the same on any number of workers
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker processes [default: one for each processor]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// File of the search, for `gen --tuned`; if it is there the search goes on
    #[arg(short, long, value_name = "FILE", default_value = "tuned.toml")]
    output: std::path::PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Be a worker: read tasks, a line of JSON each, from standard input, and print what comes of them
    #[arg(long, help_heading = "Elsewhere", conflicts_with_all = ["tasks", "results"])]
    worker: bool,
    /// Print the tasks of the next round for workers elsewhere, and search nothing
    #[arg(long, help_heading = "Elsewhere", conflicts_with = "results")]
    tasks: bool,
    /// Take what workers printed for these tasks (- is standard input), and search nothing
    #[arg(long, value_name = "FILE", help_heading = "Elsewhere")]
    results: Option<std::path::PathBuf>,
    /// With --tasks and --results: of the proofs of the best kernels instead of a round
    #[arg(long, help_heading = "Elsewhere")]
    proofs: bool,
}

/// Searches; `Ok(true)` if a kernel is proved.
pub fn run(args: &TuneArgs) -> Result<bool, Failure> {
    if args.worker {
        return worker::run();
    }
    let asked = args.question.asked()?;
    let mut tuning = begun(args, &asked)?;
    if args.tasks {
        let lines: Result<Vec<_>, _> = tasks(args, &tuning, &asked).iter().map(line).collect();
        output::say(&lines?.join("\n"))?;
        return Ok(true);
    }
    match &args.results {
        Some(path) => taken(args, &mut tuning, &asked, path)?,
        None => searched(args, &mut tuning, &asked)?,
    }
    let record = record(args, &tuning, &asked)?;
    draw::write(&args.output, &record.text()?)?;
    told(args, &record)?;
    Ok(!record.point.is_empty() || args.results.is_some())
}

/// The search of the file, or a new one.
fn begun(args: &TuneArgs, asked: &Asked) -> Result<Tuning, Failure> {
    let path = &args.output;
    let place = path.display();
    if !path.exists() {
        return Ok(Tuning::new(args.seed));
    }
    let old = read(path)?;
    let Search {
        question,
        seed,
        rounds,
        counted,
        ..
    } = old.search;
    if question != asked.words || seed != args.seed {
        return Err(format!(
            "{place} is the search `{}`: try another -o",
            old.search.command
        )
        .into());
    }
    let cannot = |why| Failure::file(format!("{place}: {why}"));
    let known = old.point.into_iter().chain(old.pool).collect();
    let known = all(known).map_err(cannot)?;
    Ok(Tuning::resumed(
        &asked.about,
        [seed, rounds, counted],
        known,
    ))
}

/// What is to be done next.
fn tasks(args: &TuneArgs, tuning: &Tuning, asked: &Asked) -> Vec<Task> {
    match args.proofs {
        true => tuning.unproved(&asked.words),
        false => tuning.tasks(&asked.about, &asked.words),
    }
}

/// Takes what workers elsewhere printed.
fn taken(args: &TuneArgs, tuning: &mut Tuning, asked: &Asked, path: &Path) -> Result<(), Failure> {
    let cannot = |why: String| Failure::file(format!("{}: {why}", path.display()));
    let lines: Result<Vec<_>, _> = match path == Path::new("-") {
        true => std::io::stdin().lock().lines().collect(),
        false => std::fs::read_to_string(path).map(|text| text.lines().map(String::from).collect()),
    };
    let lines = lines.map_err(|e| cannot(e.to_string()))?;
    let lines = lines.iter().filter(|line| !line.trim().is_empty());
    let done: Result<Vec<Done>, _> = lines.map(|line| serde_json::from_str(line)).collect();
    let done = done.map_err(|e| cannot(format!("not what a worker prints: {e}")))?;
    let tasks = tasks(args, tuning, asked);
    taken_by(args.proofs, tuning, asked, &tasks, done).map_err(cannot)
}

/// What came of tasks becomes part of what is known.
fn taken_by(
    proofs: bool,
    tuning: &mut Tuning,
    asked: &Asked,
    tasks: &[Task],
    done: Vec<Done>,
) -> Result<(), String> {
    match proofs {
        true => tuning.proved(&asked.about, tasks, done),
        false => {
            let whole = done.len() == tasks.len();
            tuning.take(&asked.about, done, whole)
        }
    }
}

/// Searches on worker processes of this machine, and proves what it found.
fn searched(args: &TuneArgs, tuning: &mut Tuning, asked: &Asked) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut workers = Workers::new(args.workers.unwrap_or(threads).max(1))?;
    let until = match args.rounds {
        Some(_) => None,
        None => Some(Instant::now() + Duration::from_secs(args.seconds)),
    };
    let name = format!(
        "{} for {}",
        asked.about.spec.symbol(),
        asked.target.core_name()
    );
    let progress = Progress::of(name.clone());
    let mut rounds = 0;
    while args.rounds.is_none_or(|most| rounds < most)
        && until.is_none_or(|until| Instant::now() < until)
    {
        let said = said(&name, tuning, asked);
        let tasks = tuning.tasks(&asked.about, &asked.words);
        if tasks.is_empty() {
            return Err(format!("no method has a kernel here: {name}").into());
        }
        let count = tasks.len();
        let done = workers.each(&tasks, until, &|i| {
            progress.say(format!("{said}; {i}/{count} tasks"));
        })?;
        taken_by(false, tuning, asked, &tasks, done)?;
        draw::write(&args.output, &record(args, tuning, asked)?.text()?)?;
        rounds += 1;
    }
    // What is not proved leaves the front, which others then join.
    loop {
        let tasks = tuning.unproved(&asked.words);
        if tasks.is_empty() {
            break;
        }
        progress.say(format!("{name}: proving {} kernels", tasks.len()));
        let done = workers.each(&tasks, None, &|_| {})?;
        taken_by(true, tuning, asked, &tasks, done)?;
    }
    progress.done();
    Ok(())
}

/// How far a search is.
fn said(name: &str, tuning: &Tuning, asked: &Asked) -> String {
    let best = tuning.pool.first().map_or(String::new(), |best: &Counted| {
        let objective = asked.about.objective;
        let value = objective.of(&best.cost);
        format!(
            ", best {value} {} by {}",
            objective.name(),
            best.point.name()
        )
    });
    format!(
        "{name}: round {}, {} counted{best}",
        tuning.rounds, tuning.counted
    )
}

/// The search as its file has it.
fn record(args: &TuneArgs, tuning: &Tuning, asked: &Asked) -> Result<Record, Failure> {
    let words = asked.words.join(" ");
    let seed = args.seed;
    let out = args.output.display();
    let points = tuning.points();
    let written = |list: &[Counted]| list.iter().map(Found::of).collect();
    Ok(Record {
        search: Search {
            command: format!("lozenge tune {words} --seed {seed} -o {out}"),
            question: asked.words.clone(),
            kernel: lozenge::make::winners::key(&asked.about.spec),
            core: asked.about.core.name(),
            abi: asked.about.core.abi().into(),
            seed,
            rounds: tuning.rounds,
            counted: tuning.counted,
            tool: env!("CARGO_PKG_VERSION").into(),
            on: date::today(),
        },
        point: written(&points),
        pool: written(&tuning.rest()),
    })
}

/// Says what was found.
fn told(args: &TuneArgs, record: &Record) -> Result<(), Failure> {
    if args.json {
        return Ok(output::say(&generate::json(record)?)?);
    }
    let search = &record.search;
    let mut text = format!(
        "{} rounds, {} kernels counted; {} proved that no other beats in cycles and bytes, or in cycles and stack:\n",
        search.rounds,
        search.counted,
        record.point.len()
    );
    for found in &record.point {
        text += &format!("  {}\n", found.text());
    }
    text += &format!(
        "wrote {}: gen makes the fastest that fits with --tuned",
        args.output.display()
    );
    Ok(output::report(&text, true)?)
}
