//! `lozenge draw`: the rhombus of a method, from the schedule that is lowered.

use std::io::{IsTerminal, stdout};
use std::path::Path;

use lozenge::draw::{Picture, animation, ansi, svg, tikz};
use lozenge::{Request, spec};
use serde_json::json;

use crate::cli::arguments::{DrawArgs, KernelArgs};
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::{generate, output};

/// The request for a kernel that is drawn or shown.
pub(super) fn request(args: &KernelArgs) -> Result<Request, Failure> {
    let op = spec::Op::from(args.op);
    let size = generate::size(args.size, &args.modular, op.name())?;
    let mut request = generate::modular(Request::new(op, size), &args.modular)?;
    request = generate::parameters(request, &args.param)?;
    if let Some(name) = &args.method {
        request = request.method(name);
    }
    if let Some(count) = args.max_regs {
        request = request.max_registers(count);
    }
    if let Some(style) = args.style {
        request = request.style(style);
    }
    if let Some(bytes) = args.max_flash {
        request = request.max_flash(bytes);
    }
    if let Some(bytes) = args.max_stack {
        request = request.max_stack(bytes);
    }
    // Nothing is written that could leak.
    Ok(request.variable_time())
}

/// Draws; `Ok(true)` always, as nothing is proved.
pub fn run(args: &DrawArgs) -> Result<bool, Failure> {
    let target = args.kernel.target.resolve()?;
    let progress = Progress::of("choosing a schedule".into());
    let picture = request(&args.kernel)?.picture(&target);
    progress.done();
    let picture = picture?;
    let text = match args {
        DrawArgs { ansi: true, .. } => ansi::ansi(&picture, colours(args)),
        DrawArgs { tikz: true, .. } => tikz::tikz(&picture),
        DrawArgs { animate: true, .. } => animation::page(&picture),
        DrawArgs { json: true, .. } => json_of(&picture)?,
        _ => svg::svg(&picture),
    };
    match &args.output {
        Some(path) => write(path, &text)?,
        None => output::say(text.trim_end())?,
    }
    Ok(true)
}

/// Writes one file, whole or not at all.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let name = path.file_name().ok_or_else(|| {
        let path = path.display();
        Failure::file(format!("{path} names no file: try -o picture.svg"))
    })?;
    let files = [(
        name.to_string_lossy().into_owned(),
        text.as_bytes().to_vec(),
    )];
    let folder = folder.unwrap_or(Path::new("."));
    output::write_all(folder, &files, true).map_err(Failure::file)
}

/// Are colours wanted? Not where https://no-color.org says so, nor where this is no terminal.
fn colours(args: &DrawArgs) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    args.output.is_none() && !refused && stdout().is_terminal()
}

fn json_of(picture: &Picture) -> Result<String, String> {
    generate::json(&json!({
        "title": picture.title, "summary": picture.summary, "calls": picture.calls,
        "products": picture.products(), "loads": picture.loads(), "stores": picture.stores(),
        "panels": picture.panels, "fetched": picture.fetched, "written": picture.written,
    }))
}
