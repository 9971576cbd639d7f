//! Our side of a table: commands as a user types them, each run once.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Parser, Subcommand};
use lozenge::isa::arm::code::Insn as ArmInsn;
use lozenge::isa::arm::instructions::Op as ArmOp;
use lozenge::isa::core::{Core, Insn};
use lozenge::isa::cost::Class;
use lozenge::isa::energy::{Energy, Spent};
use lozenge::isa::{ClassCounts, Cost};
use lozenge::method;
use serde::{Deserialize, Serialize};

use crate::cli::arguments::{GenArgs, RunArgs};
use crate::cli::failure::Failure;
use crate::cli::run::cycles;
use crate::cli::values::GenOp;
use crate::cli::{generate, parallel};

/// A command of a paper's file.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Gen(Box<GenArgs>),
    Run(Box<RunArgs>),
}

/// How sure a figure of ours is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Of a kernel that is proved.
    Proved,
    /// Of a kernel that is counted and was not to be proved.
    Counted,
    /// Of a whole run on numbers, its result compared.
    Run,
}

impl Basis {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Counted => "counted",
            Self::Run => "run",
        }
    }
}

/// A number that is read off what was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// Cycles of the body, at most.
    Cycles,
    Load,
    Store,
    Mul,
    Add,
    Move,
    Other,
    /// Of a run, at a clock that is given.
    Milliseconds,
    /// Cycles of a pass of the inner loop.
    Pass,
}

/// Base instructions of the SA-1100's paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Base {
    pub mul: u64,
    pub add: u64,
    pub load: u64,
    pub store: u64,
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Made {
    /// Of the body, at most; of a run, all of it.
    pub cycles: u64,
    pub counts: ClassCounts,
    /// On ARM, of code without loops.
    pub base: Option<Base>,
    /// Of the body, where currents of the core are published.
    pub energy: Option<Energy>,
    /// Method and parameters.
    pub plan: Option<String>,
    pub basis: Basis,
}

impl Made {
    /// A figure of it.
    pub fn figure(&self, figure: Figure, megahertz: Option<f64>) -> Result<f64, String> {
        let counts = &self.counts;
        let whole = match figure {
            Figure::Cycles => self.cycles,
            Figure::Load => counts.load,
            Figure::Store => counts.store,
            Figure::Mul => counts.mul,
            Figure::Add => counts.add,
            Figure::Move => counts.moves,
            Figure::Other => counts.other,
            Figure::Milliseconds => {
                let clock = megahertz.ok_or("no clock is given")?;
                return Ok(self.cycles as f64 / clock / 1000.0);
            }
            Figure::Pass => return Err("a pass is a difference of three kernels".into()),
        };
        Ok(whole as f64)
    }
}

/// What all commands of some papers make.
pub struct Book(BTreeMap<String, Result<Made, String>>);

impl Book {
    /// Makes all, the longest first.
    pub fn of(commands: BTreeSet<String>, proved: bool) -> Self {
        let bits = |line: &String| {
            let size = line.split_whitespace().nth(2).map(str::parse::<u64>);
            size.and_then(Result::ok).unwrap_or_default()
        };
        let mut commands: Vec<_> = commands.into_iter().collect();
        commands.sort_by_key(|line| std::cmp::Reverse(bits(line)));
        let made = parallel::each(&commands, "kernels and runs", |line| {
            make(line, proved).map_err(|failure| failure.message().to_string())
        });
        Self(commands.into_iter().zip(made).collect())
    }

    /// The commands that made nothing, and why.
    pub fn failed(&self) -> Vec<(&str, &str)> {
        let failed = self.0.iter().filter_map(|(command, made)| {
            let reason = made.as_ref().err()?;
            Some((command.as_str(), reason.as_str()))
        });
        failed.collect()
    }

    /// What a command made.
    pub fn get(&self, command: &str) -> Result<&Made, String> {
        let unknown = || Err(format!("nobody made `{command}`"));
        let made = self.0.get(command);
        made.map_or_else(unknown, |made| made.as_ref().map_err(Clone::clone))
    }
}

/// Makes what a command says.
fn make(command: &str, proved: bool) -> Result<Made, Failure> {
    let line = Line::try_parse_from(command.split_whitespace());
    match line.map_err(|e| e.to_string())?.what {
        What::Run(args) => Ok(Made {
            cycles: cycles(&args)?,
            counts: ClassCounts::default(),
            base: None,
            energy: None,
            plan: None,
            basis: Basis::Run,
        }),
        What::Gen(args) => match args.op {
            GenOp::Kernel(op) => {
                let (target, request) = (args.target.resolve()?, generate::request(&args, op)?);
                let core = target.to_core();
                if !proved {
                    let made = request.count(&target)?;
                    let plan = method::text(made.method, &made.params);
                    return Ok(counted(&core, &made.cost, &made.code, plan, Basis::Counted));
                }
                let kernel = request.generate(&target)?;
                let cost = kernel.cost();
                let plan = kernel.report().method_text();
                Ok(counted(&core, cost, kernel.code(), plan, Basis::Proved))
            }
            GenOp::Driver(_) => Err("a driver is run".to_string().into()),
        },
    }
}

fn counted(core: &Core, cost: &Cost, code: &[u8], plan: String, basis: Basis) -> Made {
    let [body, _]: &[Spent; 2] = &cost.spent;
    Made {
        cycles: cost.body.max,
        counts: cost.counts,
        base: base(core, code),
        energy: core.currents().map(|currents| currents.energy(body)),
        plan: Some(plan),
        basis,
    }
}

/// Base instructions of ARM code as groszschaedl-2005 counts: a basis of LDM or STM is a LOAD or a STORE, what MLA and
/// UMLAL (or SMLAL) add is one ADD and two; moves are none of them. None of code that branches.
fn base(core: &Core, code: &[u8]) -> Option<Base> {
    let own = |insn| match insn {
        Insn::Arm(insn) => Some(insn),
        Insn::Avr(_) | Insn::Mips(_) | Insn::Riscv(_) | Insn::Msp430(_) => None,
    };
    let mut base = Base::default();
    for (_, insn) in core.decode(code).ok()? {
        let insn: ArmInsn = own(insn)?;
        let words = match insn.op {
            ArmOp::B | ArmOp::BL => return None,
            ArmOp::LDM | ArmOp::STM => u64::from((insn.ops.k as u32).count_ones()),
            _ => 1,
        };
        match insn.class() {
            Class::Mul => {
                base.mul += 1;
                base.add += match insn.op {
                    ArmOp::UMLAL | ArmOp::SMLAL => 2,
                    ArmOp::MLA => 1,
                    _ => 0,
                };
            }
            Class::Add => base.add += 1,
            Class::Load => base.load += words,
            Class::Store => base.store += words,
            Class::Move | Class::Other | Class::Frame => {}
        }
    }
    Some(base)
}
