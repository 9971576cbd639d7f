//! `lozenge bench`: how fast the tool itself is. Wall-clock time, so never a test.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;
use lozenge::candidate::Budget;
use lozenge::domain::concrete::Concrete;
use lozenge::function::Function;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::machine::Avr;
use lozenge::isa::avr::run::Decoded;
use lozenge::isa::convention::Callable;
use lozenge::isa::numbers;
use lozenge::kernel::{Demands, RUN_LIMIT, Request, generate};
use lozenge::spec::Op;
use serde_json::json;

use crate::cli::output;

/// Arguments of `bench`.
#[derive(Args)]
pub struct BenchArgs {
    /// Bits of the operands of the kernels that are generated
    #[arg(long, value_delimiter = ',', default_values_t = [160, 2048])]
    bits: Vec<u32>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Instructions simulated per measurement, at least.
const INSTRUCTIONS: u64 = 300_000_000;

/// Measures generation with proof, and simulation.
pub fn run(args: &BenchArgs) -> Result<bool, String> {
    let mut rows = Vec::new();
    for bits in &args.bits {
        let request = Request {
            op: Op::Mul,
            size: (*bits).into(),
            modular: None,
            method: None,
            params: BTreeMap::new(),
            plan: None,
            max_regs: None,
            style: None,
            budget: Budget::default(),
            room: None,
            demands: Demands::default(),
            drop: None,
            search: false,
        };
        let start = Instant::now();
        let kernel = generate(&request, &ATMEGA128.clone().into()).map_err(|e| e.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        rows.push(
            json!({"what": format!("gen mul {bits} with proof"), "seconds": seconds,
                         "proved": kernel.is_proved()}),
        );
        if !args.json {
            output::say(&format!("gen mul {bits} with proof   {seconds:.3} s"))?;
        }
        let rate = simulate(&kernel.code)?;
        rows.push(json!({"what": format!("simulate mul {bits}"), "instructions_per_second": rate}));
        if !args.json {
            output::say(&format!(
                "simulate mul {bits}         {:.0} million instructions/s",
                rate / 1e6
            ))?;
        }
    }
    if args.json {
        output::say(&json!({ "bench": rows }).to_string())?;
    }
    Ok(true)
}

/// Instructions per second of calling `code` over and over.
fn simulate(code: &[u8]) -> Result<f64, String> {
    let addresses = [0x0200, 0x1200, 0x2200];
    let function = Function::kernel(code);
    let mut m: Avr<Concrete> = numbers::enter(&ATMEGA128, &function, 0, &addresses, 0);
    let decoded = Decoded::of(&function, &ATMEGA128);
    let stop = m.convention(&ATMEGA128).caller;
    let (mut executed, mut spent) = (0, Duration::ZERO);
    while executed < INSTRUCTIONS {
        m.pc = 0;
        numbers::enter_again(&mut m, &ATMEGA128, &function, &addresses);
        let start = Instant::now();
        let ran = decoded
            .run(&mut m, stop, RUN_LIMIT)
            .map_err(|(_, fault)| fault.to_string())?;
        spent += start.elapsed();
        executed += ran.cost.executed;
    }
    Ok(executed as f64 / spent.as_secs_f64())
}
