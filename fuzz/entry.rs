//! What any bytes may do: end in an instruction, an error or an "unknown"; never in a panic, an
//! endless loop or memory without bound. The tests run the same on broken files of their own.

use lozenge::audit::{self, Contract};
use lozenge::kernel::{self, Search};
use lozenge::load;
use lozenge::spec::Op;
use lozenge::target::{Names, Target};

/// Every way to read bytes: an instruction set and an order of bytes.
fn targets() -> impl Iterator<Item = Target> {
    let cores = ["atmega128", "attiny10", "arm7tdmi", "mips-4km", "rv32imc"];
    let cores = cores.map(|core| (core, false)).into_iter();
    cores
        .chain([("mips-4km", true)])
        .filter_map(|(core, big_endian)| {
            let names = Names {
                core: Some(core),
                big_endian,
                ..Names::default()
            };
            Target::resolve(&names).ok()
        })
}

/// Any bytes as instructions of every target: whatever decodes has a text, and encodes to the bytes that it came from.
pub fn decode(data: &[u8]) {
    for core in targets().map(|target| target.to_core()) {
        for at in (0..data.len()).step_by(2) {
            let Some((insn, len)) = [2, 4].into_iter().find_map(|len| {
                let bytes = data.get(at..at + len)?;
                Some((core.decode(bytes).ok()?.first()?.1, len))
            }) else {
                continue;
            };
            assert!(!insn.text().is_empty());
            if let Ok(bytes) = core.encode(&[insn]) {
                let again = core.decode(&bytes).ok();
                let again = again.and_then(|list| list.first().map(|(_, insn)| *insn));
                assert_eq!(again, Some(insn), "{:x?}", &data[at..at + len]);
            }
        }
    }
}

/// Names that functions of the seeds have.
const SYMBOLS: [&str; 4] = ["f", "comba", "rows", "square"];
/// Instructions of a run: enough to get into every part of a machine.
const STEPS: u64 = 3000;

/// Any bytes as an object, program or library of every target: a file with a function is judged, briefly.
pub fn load(data: &[u8]) {
    for core in targets().map(|target| target.to_core()) {
        let format = core.object_format();
        let found = SYMBOLS
            .iter()
            .find_map(|s| load::load(data, s, &format).ok());
        let Some(mut loaded) = found else {
            continue;
        };
        let contract = Contract {
            limit: Some(STEPS),
            ..Contract::default()
        };
        let function = &mut loaded.function;
        let asked = audit::Asked {
            op: Op::Mul,
            size: 64.into(),
            modular: None,
        };
        let Ok(spec) = audit::prepare(asked, &core, function, &contract) else {
            continue;
        };
        let search = Search {
            proved: 0,
            open: 0,
            told: true,
        };
        let judged = kernel::judge_function(&spec, &core, function, search);
        for pc in judged
            .constant_time
            .iter()
            .flat_map(|(_, timing)| &timing.visited)
        {
            assert!(!lozenge::told::at(&core, function, *pc).is_empty());
        }
    }
}
