//! What a search is about, as it is typed: behind `lozenge tune`, and in the tasks of workers.

use clap::{Args, Parser};
use lozenge::Target;
use lozenge::candidate::Budget;
use lozenge::make::tune::point::Objective;
use lozenge::make::tune::question::Question;
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{self, Spec};

use crate::cli::arguments::{ModularArgs, TargetArgs};
use crate::cli::failure::Failure;
use crate::cli::size::size;
use crate::cli::values::{OpArg, SortArg, bytes, kernel_op};

/// What a search is about.
#[derive(Args)]
pub struct QuestionArgs {
    /// Operation
    #[arg(value_parser = kernel_op())]
    pub op: Option<OpArg>,
    /// Bits of an operand, or of a and b: 256x64 [default: those of the modulus]
    #[arg(value_name = "BITS", allow_negative_numbers = true)]
    pub size: Option<spec::Size>,
    #[command(flatten)]
    pub modular: ModularArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// What is to be small
    #[arg(long, value_enum, default_value = "cycles")]
    pub objective: SortArg,
    /// Use at most N registers besides pointers and product
    #[arg(long, value_name = "N")]
    pub max_regs: Option<usize>,
    /// Bytes of code at most, 8k are 8192 [default: those of the part]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_flash: Option<usize>,
    /// Bytes of stack below the return address at most
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_stack: Option<usize>,
}

/// The same, resolved.
pub struct Asked {
    /// What the search is about.
    pub about: Question,
    /// For what.
    pub target: Target,
    /// What was typed, in a fixed order.
    pub words: Vec<String>,
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    question: QuestionArgs,
}

/// The question of a task.
///
/// # Errors
/// When it is none.
pub fn parse(words: &[String]) -> Result<Asked, Failure> {
    let line = Line::try_parse_from(words).map_err(|e| e.render().to_string())?;
    line.question.asked()
}

impl QuestionArgs {
    /// What is asked.
    ///
    /// # Errors
    /// What is missing or unknown, or does not go together.
    pub fn asked(&self) -> Result<Asked, Failure> {
        let op = self
            .op
            .ok_or("say what to tune: try lozenge tune mul 160 --mcu atmega128")?;
        let bits = size(self.size, &self.modular, op.name())?;
        let target = self.target.resolve()?;
        let modular = self.modular.modular()?;
        let spec = Spec::with(op.into(), bits, modular, target.word_bits());
        let spec = spec.map_err(lozenge::Error::from)?;
        let objective = match self.objective {
            SortArg::Cycles => Objective::Cycles,
            SortArg::Bytes => Objective::Bytes,
            SortArg::Stack => Objective::Stack,
            SortArg::Energy => Objective::Energy,
        };
        let core = target.to_core();
        if objective == Objective::Energy && core.currents().is_none() {
            let core = core.name();
            return Err(
                format!("no currents of {core} are published: try --objective cycles").into(),
            );
        }
        let room = target.room();
        Ok(Asked {
            words: self.words(&spec, &target, objective),
            about: Question {
                spec,
                core,
                max_regs: self.max_regs,
                budget: Budget {
                    flash: self.max_flash.or(room.map(|room| room.flash)),
                    stack: self.max_stack,
                },
                objective,
            },
            target,
        })
    }

    fn words(&self, spec: &Spec, target: &Target, objective: Objective) -> Vec<String> {
        let mut text = format!("{} {} {}", spec.op.name(), spec.size, target.arguments());
        if let Some(modular) = &spec.modular {
            text += &format!(" --modulus {}", modular.modulus);
            if modular.reduce != Reduce::Full {
                text += &format!(" --reduce {}", modular.reduce.name());
            }
            if modular.shift > 0 {
                text += &format!(" --shift {}", modular.shift);
            }
            if modular.times > 0 {
                text += &format!(" --times {}", modular.times);
            }
        }
        if objective != Objective::Cycles {
            text += &format!(" --objective {}", objective.name());
        }
        let limits = [
            ("regs", self.max_regs),
            ("flash", self.max_flash),
            ("stack", self.max_stack),
        ];
        for (name, most) in limits {
            text += &most.map_or(String::new(), |most| format!(" --max-{name} {most}"));
        }
        text.split_whitespace().map(String::from).collect()
    }
}
