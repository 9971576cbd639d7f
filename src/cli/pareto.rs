//! The Pareto front: kernels that no other beats in cycles and bytes, or in cycles and stack.

use lozenge::report::Report;

/// Bytes of a kernel.
type Size = fn(&Report) -> usize;

/// What a kernel costs besides cycles.
const SIZES: [(&str, Size); 2] = [
    ("bytes", |report| report.bytes.call),
    ("stack", |report| report.stack_bytes),
];

/// Does `x` take no more of either than `y`, and less of one?
fn beats(x: (u64, usize), y: (u64, usize)) -> bool {
    x.0 <= y.0 && x.1 <= y.1 && x != y
}

/// The sizes in which no sound kernel of `all` for the same target beats the sound kernel `report`: what their
/// time tells is a verdict of its own, and on a machine whose multiplier stops early the same for all.
pub fn fronts(report: &Report, all: &[&Report]) -> Vec<&'static str> {
    let rivals = || {
        let same = |r: &&&Report| r.core == report.core && r.mcu == report.mcu;
        all.iter().filter(same).filter(|r| r.is_sound())
    };
    let point = |r: &Report, size: Size| (r.cycles.call.max, size(r));
    SIZES
        .iter()
        .filter(|(_, size)| {
            report.is_sound() && !rivals().any(|r| beats(point(r, *size), point(report, *size)))
        })
        .map(|(name, _)| *name)
        .collect()
}
