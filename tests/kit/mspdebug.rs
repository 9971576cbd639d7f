//! mspdebug's simulator of an MSP430 with the multiplier of 16 bits.

use std::process::Command;

use crate::kit::oracle::{self, HINT};

/// Where code and data of a run are put, and from where on memory is looked at; it is 0 before.
#[derive(Clone, Copy)]
pub struct Places {
    pub seen: u16,
    pub code: u16,
    pub data: u16,
}

/// Runs each job, code and data, from the first byte of its code to the end of it: all memory from [`Places::seen`] on, and
/// the cycles.
///
/// # Panics
/// When mspdebug is missing, or says what nobody expects.
pub fn runs(name: &str, at: Places, jobs: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, u64)> {
    let Places { seen, code, data } = at;
    let bytes = 0x1_0000 - usize::from(seen);
    let folder = oracle::folder(name);
    let mut script = String::from("simio add hwmult m\nsimio add tracer t\n");
    std::fs::write(folder.join("zero"), vec![0; bytes]).expect("written");
    for (i, (instructions, numbers)) in jobs.iter().enumerate() {
        std::fs::write(folder.join(format!("{i}.code")), instructions).expect("written");
        std::fs::write(folder.join(format!("{i}.data")), numbers).expect("written");
        let end = usize::from(code) + instructions.len();
        script += &format!(
            "load_raw zero {seen:#x}\nload_raw {i}.code {code:#x}\nload_raw {i}.data {data:#x}\n\
             set 0 {code:#x}\nsetbreak {end:#x} 0\nsimio info t\nrun\nsimio info t\n\
             save_raw {seen:#x} {bytes} {i}.out\n"
        );
    }
    let mut command = Command::new("mspdebug");
    command.args(["-q", "sim"]).current_dir(&folder);
    let said = oracle::answer(&mut command, script.as_bytes());
    let said = String::from_utf8_lossy(&said).into_owned();
    let clocks = said.lines().filter_map(|line| line.strip_prefix("MCLK:"));
    let clocks: Vec<u64> = clocks.map(|c| c.trim().parse().expect("cycles")).collect();
    assert_eq!(clocks.len(), 2 * jobs.len(), "{HINT}");
    let out = |i: usize| {
        let path = folder.join(format!("{i}.out"));
        let out = std::fs::read(&path).expect("what mspdebug left");
        std::fs::remove_file(path).expect("removed");
        (out, clocks[2 * i + 1] - clocks[2 * i])
    };
    (0..jobs.len()).map(out).collect()
}
