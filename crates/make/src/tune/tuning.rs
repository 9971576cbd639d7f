//! What a search knows. It goes in rounds. A round hands out tasks, which follow from the seed, the number of the round and what is
//! known so far. The results are taken in the order of the tasks, so a search is the same on any number of processes.

use std::collections::BTreeSet;
use std::sync::Arc;

use spec::vectors::Random;

use crate::plans::Plan;
use crate::tune::point::{Counted, Point, front, thinned};
use crate::tune::question::Question;
use crate::tune::written::{Done, Found, Place, Task, Work, all};

/// Walks of a round, and steps of a walk.
const WALKS: usize = 8;
const STEPS: usize = 12;

/// Starts that one task counts.
const BATCH: usize = 8;

/// Places that are kept to walk from, and how many of them are of one method.
const POOL: usize = 16;
const ALIKE: usize = 8;

/// Points of the front that are proved.
const FRONT: usize = 10;

/// What a search knows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tuning {
    /// What the random numbers follow from.
    pub seed: u64,
    /// Rounds that are done; the first counts where the search begins.
    pub rounds: u64,
    /// Places that were counted.
    pub counted: u64,
    /// Those that no other beats.
    pub front: Vec<Counted>,
    /// The best, to walk from.
    pub pool: Vec<Counted>,
}

impl Tuning {
    /// A search at its beginning.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// A search that goes on: what was known, and how far it was.
    pub fn resumed(
        about: &Question,
        [seed, rounds, counted]: [u64; 3],
        known: Vec<Counted>,
    ) -> Self {
        let mut tuning = Self {
            rounds,
            counted,
            ..Self::new(seed)
        };
        tuning.keep(about, known);
        tuning
    }

    /// The places of the front that are not written as points, and those to walk from.
    pub fn rest(&self) -> Vec<Counted> {
        let points = self.points();
        let mut rest = self.pool.clone();
        let front = self
            .front
            .iter()
            .filter(|counted| !self.pool.contains(counted));
        rest.extend(front.cloned());
        rest.retain(|counted| !points.contains(counted));
        rest
    }

    /// What is to be done in the next round.
    pub fn tasks(&self, about: &Question, question: &[String]) -> Vec<Task> {
        let works: Vec<_> = match self.rounds {
            0 => {
                let starts: Vec<_> = about.starts().iter().map(Place::of).collect();
                let batches = starts.chunks(BATCH);
                batches.map(|batch| Work::Count(batch.to_vec())).collect()
            }
            _ => self.walks(),
        };
        let task = |(id, work)| Task {
            id,
            question: question.to_vec(),
            work,
        };
        works.into_iter().enumerate().map(task).collect()
    }

    fn walks(&self) -> Vec<Work> {
        let mut random = Random::new(self.seed.wrapping_mul(1_000_003) ^ self.rounds);
        let mates: Vec<_> = self.pool.iter().map(|c| Place::of(&c.point)).collect();
        let walk = |_| {
            let count = self.pool.len();
            // The better ones more often.
            let chosen = random.below(count).min(random.below(count));
            let from = Box::new(Found::of(self.pool.get(chosen)?));
            Some(Work::Walk {
                from,
                mates: mates.clone(),
                steps: STEPS,
                seed: random.draw(),
            })
        };
        (0..WALKS).filter_map(walk).collect()
    }

    /// Takes what came of the tasks of a round, or of some of them: then the round is done again.
    ///
    /// # Errors
    /// What is not there in this version of the tool.
    pub fn take(
        &mut self,
        about: &Question,
        mut done: Vec<Done>,
        whole: bool,
    ) -> Result<(), String> {
        done.sort_by_key(|done| done.id);
        let mut seen = self.front.clone();
        seen.extend(self.pool.iter().cloned());
        for done in done {
            self.counted += done.counted as u64;
            seen.extend(all(done.found)?);
        }
        self.rounds += u64::from(whole);
        self.keep(about, seen);
        Ok(())
    }

    /// The points of the front that are to be proved.
    pub fn unproved(&self, question: &[String]) -> Vec<Task> {
        let open = thinned(self.front.clone(), FRONT).into_iter().enumerate();
        let open = open.filter(|(_, counted)| !counted.proved);
        let task = |(id, counted): (usize, Counted)| Task {
            id,
            question: question.to_vec(),
            work: Work::Prove(Box::new(Place::of(&counted.point))),
        };
        open.map(task).collect()
    }

    /// Takes what came of proofs: what is not proved is no kernel.
    ///
    /// # Errors
    /// What is not there in this version of the tool.
    pub fn proved(
        &mut self,
        about: &Question,
        tasks: &[Task],
        done: Vec<Done>,
    ) -> Result<(), String> {
        let asked = tasks
            .iter()
            .filter(|t| done.iter().any(|done| done.id == t.id));
        let asked = asked.filter_map(|task| match &task.work {
            Work::Prove(place) => place.clone().point().ok(),
            Work::Count(_) | Work::Walk { .. } => None,
        });
        let asked: Vec<Point> = asked.collect();
        let mut seen = Vec::new();
        for done in done {
            seen.extend(all(done.found)?);
        }
        for counted in self.front.iter().chain(&self.pool) {
            if !asked.contains(&counted.point) {
                seen.push(counted.clone());
            }
        }
        self.keep(about, seen);
        Ok(())
    }

    /// The front as it is written: at most [`FRONT`] points, those that are proved.
    pub fn points(&self) -> Vec<Counted> {
        let proved = self.front.iter().filter(|counted| counted.proved);
        thinned(front(&proved.cloned().collect::<Vec<_>>()), FRONT)
    }

    /// Keeps the front and the best of `seen`; of places that take the same the first, which are proved if any is.
    fn keep(&mut self, about: &Question, mut seen: Vec<Counted>) {
        seen.sort_by_key(|c| (about.objective.key(&c.cost), c.cost, !c.proved));
        seen.dedup_by_key(|c| c.cost);
        let seen = named(seen, &about.spec.symbol());
        self.front = front(&seen);
        let mut pool: Vec<Counted> = Vec::new();
        for counted in seen {
            let method = counted.point.method.name;
            let alike = pool.iter().filter(|c| c.point.method.name == method);
            if pool.len() < POOL && alike.count() < ALIKE {
                pool.push(counted);
            }
        }
        self.pool = pool;
    }
}

/// Plans without a name get one: `mul256-1`.
fn named(mut list: Vec<Counted>, kernel: &str) -> Vec<Counted> {
    let names = list.iter().filter_map(|c| c.point.params.plan.as_ref());
    let mut names: BTreeSet<_> = names.map(|plan| plan.name.clone()).collect();
    for counted in &mut list {
        let plan = &mut counted.point.params.plan;
        let Some(unnamed) = plan.as_ref().filter(|plan| plan.name.is_empty()) else {
            continue;
        };
        let mut new = (1..).map(|i| format!("{kernel}-{i}"));
        let Some(name) = new.find(|name| !names.contains(name)) else {
            continue;
        };
        names.insert(name.clone());
        *plan = Some(Arc::new(Plan {
            name,
            ..Plan::clone(unnamed)
        }));
    }
    list
}
