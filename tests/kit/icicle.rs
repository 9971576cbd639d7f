//! icicle-emu, an emulator of the MSP430X with the semantics of Ghidra: 20 bits, no multiplier, no cycles.

use crate::kit::oracle;

/// What is run: the registers, with PC where it begins, code with its address, data with theirs.
pub struct Job {
    pub registers: [u32; 16],
    pub code: (u32, Vec<u8>),
    pub data: (u32, Vec<u8>),
}

/// The registers and the data after each job, run to the end of its code. PC, SR and R3 are not told.
///
/// # Panics
/// When icicle-emu is missing, or stops before.
pub fn runs(jobs: &[Job]) -> Vec<([u32; 16], Vec<u8>)> {
    let mut input = Vec::new();
    for job in jobs {
        let mut number = |n: u32| input.extend(n.to_le_bytes());
        job.registers.into_iter().for_each(&mut number);
        for (at, bytes) in [&job.code, &job.data] {
            input.extend(at.to_le_bytes());
            input.extend((bytes.len() as u32).to_le_bytes());
            input.extend(bytes);
        }
    }
    let told = oracle::answer(&mut oracle::in_python("msp430_icicle.py"), &input);
    let mut rest = &told[..];
    let each = jobs.iter().map(|job| {
        let (registers, behind) = rest.split_at(64);
        let (data, behind) = behind.split_at(job.data.1.len());
        rest = behind;
        let word = |r: usize| {
            let bytes = registers[4 * r..4 * r + 4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes)
        };
        (std::array::from_fn(word), data.to_vec())
    });
    each.collect()
}
