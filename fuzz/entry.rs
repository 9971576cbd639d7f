//! What any bytes may do: end in an instruction, an error or an "unknown"; never in a panic, an
//! endless loop or memory without bound. The tests run the same on broken files of their own.

use lozenge::audit::Contract;
use lozenge::emit::ObjectFormat;
use lozenge::kernel::Search;
use lozenge::load;
use lozenge::spec::Op;
use lozenge::supported::Supported;
use lozenge::target::{Names, OnIsa, Target};

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

struct Decode<'a>(&'a [u8]);

impl OnIsa for Decode<'_> {
    type Output = ();

    /// Whatever decodes has a text, and encodes to the bytes that it came from.
    fn call<I: Supported>(self, core: &I::Core, _: &ObjectFormat) {
        for at in (0..self.0.len()).step_by(2) {
            let Some((insn, len)) = [2, 4].into_iter().find_map(|len| {
                let bytes = self.0.get(at..at + len)?;
                Some((I::decode(core, bytes).ok()?.first()?.1, len))
            }) else {
                continue;
            };
            assert!(!I::text(&insn).is_empty());
            if let Ok(bytes) = I::encode(core, &[insn]) {
                let again = I::decode(core, &bytes).ok();
                let again = again.and_then(|list| list.first().map(|(_, insn)| *insn));
                assert_eq!(again, Some(insn), "{:x?}", &self.0[at..at + len]);
            }
        }
    }
}

/// Any bytes as instructions of every target.
pub fn decode(data: &[u8]) {
    for target in targets() {
        target.on(Decode(data));
    }
}

struct Load<'a>(&'a [u8]);

/// Names that functions of the seeds have.
const SYMBOLS: [&str; 4] = ["f", "comba", "rows", "square"];
/// Instructions of a run: enough to get into every part of a machine.
const STEPS: u64 = 3000;

impl OnIsa for Load<'_> {
    type Output = ();

    /// A file with a function is judged, briefly.
    fn call<I: Supported>(self, core: &I::Core, format: &ObjectFormat) {
        let found = SYMBOLS
            .iter()
            .find_map(|s| load::load(self.0, s, format).ok());
        let Some(mut loaded) = found else {
            return;
        };
        let contract = Contract {
            limit: Some(STEPS),
            ..Contract::default()
        };
        let function = &mut loaded.function;
        let Ok(spec) = I::prepare((Op::Mul, 64.into(), None), core, function, &contract) else {
            return;
        };
        let search = Search {
            proved: 0,
            open: 0,
            told: true,
        };
        let judged = I::judge(&spec, core, function, search);
        for pc in judged
            .constant_time
            .iter()
            .flat_map(|(_, timing)| &timing.visited)
        {
            assert!(!lozenge::told::at::<I>(core, function, *pc).is_empty());
        }
    }
}

/// Any bytes as an object, program or library of every target.
pub fn load(data: &[u8]) {
    for target in targets() {
        target.on(Load(data));
    }
}
