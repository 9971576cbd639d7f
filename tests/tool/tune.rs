//! `lozenge tune`: a search finds cheaper kernels, which are proved; it is the same on any number of processes, goes on where
//! it ended, and runs on an executor of Python's. What it finds, `gen --tuned` makes.

use std::path::Path;
use std::process::{Command, Output};

use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::make::candidate::Budget;
use lozenge::make::tune::neighbours::neighbour;
use lozenge::make::tune::point::{Cost, Counted, Objective, Point, front, thinned};
use lozenge::make::tune::question::Question;
use lozenge::make::tune::written::{Done, Found, Place, Record, Task, Work};
use lozenge::method::{self, Params};
use lozenge::plans::{Entry, PLANS};
use lozenge::spec::{Op, Spec};
use lozenge::vectors::Random;
use tempfile::tempdir;

use crate::kit::{any, ask};

fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lozenge"));
    command.args(line.split_whitespace()).current_dir(folder);
    command.output().expect("the binary runs")
}

fn succeeds(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{line}: {told}");
    String::from_utf8(output.stdout).expect("text")
}

fn record(folder: &Path, name: &str) -> Record {
    let text = std::fs::read_to_string(folder.join(name)).expect("a file");
    Record::parse(&text).expect("a record")
}

/// What was found, without what says when.
fn found(record: &Record) -> [String; 2] {
    [&record.point, &record.pool].map(|list| serde_json::to_string(list).expect("text"))
}

/// A shared search: two rounds of 40 bits, on two processes.
const SEARCH: &str = "tune mul 40 --mcu atmega128 --seed 3";

#[test]
fn a_search_is_the_same_on_any_number_of_processes_and_goes_on() {
    let here = tempdir().expect("a folder");
    let folder = here.path();
    succeeds(
        folder,
        &format!("{SEARCH} --rounds 2 --workers 2 -o two.toml"),
    );
    for _ in 0..2 {
        succeeds(
            folder,
            &format!("{SEARCH} --rounds 1 --workers 1 -o one.toml"),
        );
    }
    // An executor of Python's: no process of this tool hands out the tasks.
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/tune.py");
    let mut python = Command::new("python3");
    python
        .arg(script)
        .args(["--rounds", "2", "--workers", "2", "--"]);
    python
        .args(SEARCH.split_whitespace().skip(1))
        .args(["-o", "elsewhere.toml"]);
    python
        .env("LOZENGE", env!("CARGO_BIN_EXE_lozenge"))
        .current_dir(folder);
    let output = python.output().expect("python3 runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let [two, one, elsewhere] =
        ["two", "one", "elsewhere"].map(|n| record(folder, &format!("{n}.toml")));
    assert_eq!((two.search.rounds, one.search.rounds), (2, 2));
    assert_eq!(found(&two), found(&elsewhere));
    // Proofs after the first round say only what is proved.
    assert_eq!(two.search.counted, one.search.counted);
    assert_eq!(found(&two)[0], found(&one)[0]);
    let points: Result<Vec<_>, _> = two.point.into_iter().map(Found::counted).collect();
    let points = points.expect("places");
    assert!(points.len() >= 3 && points.iter().all(|point| point.proved));
    assert_eq!(front(&points), points);

    the_file_is_taken(folder, &points);
}

/// `gen --tuned` makes what the file says, proved, within its limits, and says where it is from.
fn the_file_is_taken(folder: &Path, points: &[Counted]) {
    let gen_line = "gen mul 40 --mcu atmega128 --tuned two.toml --json -o out";
    for point in points {
        let limits = format!(
            "--max-flash {} --max-stack {}",
            point.cost.bytes, point.cost.stack
        );
        let made = succeeds(folder, &format!("{gen_line} {limits}"));
        let made: serde_json::Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(made["cycles"]["call"]["max"], point.cost.cycles);
        assert_eq!(made["method"], point.point.method.name);
        assert_eq!(made["tuned"], "two.toml");
        // The command in the report gives the same bytes.
        let object = std::fs::read(folder.join("out/mul40.o")).expect("an object");
        let command = made["command"].as_str().expect("a command");
        succeeds(
            folder,
            &format!("{} -o again", command.trim_start_matches("lozenge ")),
        );
        assert_eq!(
            std::fs::read(folder.join("again/mul40.o")).expect("an object"),
            object
        );
    }
    for (line, says) in [
        (
            "gen mul 48 --mcu atmega128 --tuned two.toml",
            "for another kernel: try gen mul 40",
        ),
        (
            "gen mul 40 --mcu attiny85 --tuned two.toml",
            "for another kernel",
        ),
        (
            "gen mul 40 --mcu atmega128 --tuned two.toml --max-flash 10",
            "leave out --tuned",
        ),
        (
            "gen mul 40 --mcu atmega128 --tuned none.toml",
            "none.toml cannot be read",
        ),
        ("tune mul 48 --mcu atmega128 -o two.toml", "try another -o"),
        ("tune", "say what to tune: try lozenge tune mul 160"),
        (
            "tune mul 40 --mcu atmega128 --results none.json",
            "none.json",
        ),
        (
            "tune mul 64 --core rv32im --objective energy",
            "try --objective cycles",
        ),
    ] {
        let output = run(folder, &format!("{line} -q"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {told}");
        assert!(told.contains(says), "{line}: {told}");
    }
}

fn question(objective: Objective) -> Question {
    Question {
        spec: Spec::new(Op::Mul, 128, 8).expect("a size"),
        core: any(&ATMEGA128),
        max_regs: None,
        budget: Budget::default(),
        objective,
    }
}

fn costs(cycles: u64, bytes: u64, stack: u64) -> Counted {
    Counted {
        point: Point {
            method: method::find("karatsuba").expect("a method"),
            params: Params::from([("levels", 2)]).with(ask::plan("k160-a")),
            style: None,
        },
        cost: Cost {
            cycles,
            bytes,
            stack,
            picojoules: None,
        },
        proved: false,
    }
}

#[test]
fn the_front_is_what_no_other_beats() {
    let all = [
        costs(100, 50, 9),
        costs(100, 50, 9),
        costs(90, 60, 9),
        costs(95, 70, 3),
        costs(120, 55, 9),
        costs(130, 40, 1),
    ];
    let kept: Vec<_> = front(&all).iter().map(|c| c.cost.cycles).collect();
    assert_eq!(kept, [90, 95, 100, 130]);
    let list: Vec<_> = (0..100).map(|i| costs(i, 200 - i, 0)).collect();
    let thin: Vec<_> = thinned(list, 5).iter().map(|c| c.cost.cycles).collect();
    assert_eq!(thin, [0, 24, 49, 74, 99]);
}

/// Every neighbour is another place or the same, and goes through text and back.
#[test]
fn places_go_through_text() {
    let about = question(Objective::Cycles);
    let mut random = Random::new(1);
    let starts = about.starts();
    for start in &starts {
        let mut point = start.clone();
        for _ in 0..4 {
            point = neighbour(&point, &starts, &mut random);
            let text = serde_json::to_string(&Place::of(&point)).expect("text");
            let place: Place = serde_json::from_str(&text).expect("a place");
            assert_eq!(place.point().expect("a point"), point, "{text}");
        }
    }
    for plan in PLANS.iter() {
        let entry = Entry::of(plan);
        assert_eq!(entry.plan(&PLANS).expect("a plan").how, plan.how);
    }
    for text in [
        r#"{"method": "nothing"}"#,
        r#"{"method": "karatsuba", "params": {"nothing": 1}}"#,
        r#"{"method": "karatsuba", "params": {"plan": 1}}"#,
        r#"{"method": "karatsuba", "style": "nothing"}"#,
    ] {
        let place: Place = serde_json::from_str(text).expect("a place");
        assert!(place.point().is_err(), "{text}");
    }
}

/// A worker answers line for line, the same each time, and ends with a message where a line is no task.
#[test]
fn a_worker_answers_line_for_line() {
    let here = tempdir().expect("a folder");
    let tasks = succeeds(here.path(), "tune sqr 32 --mcu atmega128 --tasks");
    let tasks: Vec<&str> = tasks.lines().collect();
    assert!(tasks.len() > 1);
    let path = here.path().join("tasks");
    let answers = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        let mut worker = Command::new(env!("CARGO_BIN_EXE_lozenge"));
        worker.args(["tune", "--worker"]);
        worker.stdin(std::fs::File::open(&path).expect("a file"));
        worker.output().expect("it runs")
    };
    let first = answers(&tasks.join("\n"));
    assert_eq!(first.stdout, answers(&tasks.join("\n")).stdout);
    let lines = String::from_utf8(first.stdout).expect("text");
    assert_eq!(lines.lines().count(), tasks.len());
    for (line, task) in lines.lines().zip(&tasks) {
        let done: Done = serde_json::from_str(line).expect("an answer");
        let task: Task = serde_json::from_str(task).expect("a task");
        let Work::Count(places) = task.work else {
            panic!("{task:?}")
        };
        assert_eq!((done.id, done.counted), (task.id, places.len()));
    }
    let wrong = answers("{}");
    assert_eq!(wrong.status.code(), Some(2));
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(told.contains("this is no task"), "{told}");
}
