//! `gen --tuned`: the kernel of a file that `lozenge tune` wrote.

pub mod question;

use std::path::Path;

use lozenge::make::tune::point::{Counted, Point};
use lozenge::make::tune::written::{Record, all};
use lozenge::make::winners::key;
use lozenge::{Request, Target};

use crate::cli::arguments::GenArgs;
use crate::cli::failure::Failure;
use crate::cli::size::size;
use crate::cli::tuned::question::parse;
use crate::cli::values::OpArg;

/// The request with method, parameters and plan of the file: of the fastest kernel that fits.
///
/// # Errors
/// When the file is no such file, is for another kernel or core, or nothing in it fits.
pub fn tuned(
    request: Request,
    args: &GenArgs,
    op: OpArg,
    target: &Target,
) -> Result<Request, Failure> {
    let Some(path) = &args.tuned else {
        return Ok(request);
    };
    let place = path.display();
    let Record { search, point, .. } = read(path)?;
    let of = parse(&search.question).map_err(|_| wrong(path, "its question is not known"))?;
    let bits = size(args.size, &args.modular, args.op.name())?;
    let modular = args.modular.modular()?;
    let asked = lozenge::spec::Spec::with(op.into(), bits, modular, target.word_bits());
    let asked = asked.map_err(lozenge::Error::from)?;
    let core = target.to_core();
    let same = key(&of.about.spec) == key(&asked) && search.core == core.name();
    if !same || search.abi != core.abi() {
        let words = search.question.join(" ");
        return Err(
            format!("{place} is for another kernel: try gen {words} --tuned {place}").into(),
        );
    }
    let points = all(point).map_err(|why| wrong(path, &why))?;
    let room = target.room();
    let most = args.max_flash.or(room.map(|room| room.flash));
    let within = |size: u64, most: Option<usize>| most.is_none_or(|most| size <= most as u64);
    let fits = |counted: &&Counted| {
        within(counted.cost.bytes, most) && within(counted.cost.stack, args.max_stack)
    };
    let best = points
        .iter()
        .filter(fits)
        .min_by_key(|counted| counted.cost);
    let best = best.ok_or_else(|| {
        let small = points.iter().map(|counted| counted.cost.bytes).min();
        let small = small.map_or(String::new(), |bytes| {
            format!(" (the smallest has {bytes} bytes)")
        });
        format!("no kernel of {place} fits{small}: leave out --tuned")
    })?;
    let request = pointed(request, &best.point).tuned(place.to_string());
    Ok(match of.about.max_regs {
        Some(count) => request.max_registers(count),
        None => request,
    })
}

/// A file that is none.
fn wrong(path: &Path, why: &str) -> Failure {
    let place = path.display();
    Failure::file(format!("{place} is not of this version of lozenge: {why}"))
}

/// The request by the method of a place.
pub fn pointed(request: Request, point: &Point) -> Request {
    let mut request = request.method(point.method.name);
    for (name, value) in point.params.iter() {
        request = request.param(*name, *value);
    }
    if let Some(plan) = &point.params.plan {
        request = request.planned(plan);
    }
    match point.style {
        Some(style) => request.style(style),
        None => request,
    }
}

/// The record in a file.
///
/// # Errors
/// When it cannot be read, or is none.
pub fn read(path: &Path) -> Result<Record, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::file(format!("{place} cannot be read: {e}")))?;
    Record::parse(&text)
        .map_err(|why| Failure::file(format!("{place} is not written by `lozenge tune`: {why}")))
}
