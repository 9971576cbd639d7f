//! The report and the files of a kernel.

use machine::format::Assembler;
use machine::isa::energy::Currents;
use make::facts::Style;
use make::method;
use spec::Size;
use spec::modulus::Reduce;

use crate::emit::{self, elf, header};
use crate::kernel::Kernel;
use crate::report::{self, Report};
use crate::target::Target;

/// The report of a kernel made by `command`.
pub fn report(
    kernel: &Kernel,
    target: &Target,
    currents: Option<Currents>,
    command: String,
) -> Report {
    let spec = &kernel.spec;
    let sources: usize = spec.source_bytes().iter().sum();
    let ram = sources + spec.result_bytes() + kernel.proof.stack.total();
    let warnings = target.warnings(kernel.code.len(), ram);
    let mcu = target.part_name().map(String::from);
    let currents = currents.or_else(|| kernel.core.currents());
    Report::new(kernel, mcu, warnings, command).drawing(currents)
}

/// The command that gives the same bytes, of a kernel that was asked for in `size`, and may be made as a file says.
pub fn command(kernel: &Kernel, target: &Target, size: Size, tuned: Option<&str>) -> String {
    let mut text = format!(
        "lozenge gen {} {} {}",
        kernel.spec.op.name(),
        size,
        target.arguments(),
    );
    match tuned {
        Some(file) => text += &format!(" --tuned {file}"),
        None => {
            text += " --method ";
            text += &method::text(kernel.method.name, &kernel.params).replace(' ', " -p ");
            if kernel.style != Style::Unrolled {
                text.push_str(&format!(" --style {}", kernel.style.name()));
            }
        }
    }
    if kernel.leaks() && kernel.demands.variable_time {
        text.push_str(" --variable-time");
    }
    if let Some(modular) = &kernel.spec.modular {
        text.push_str(&format!(" --modulus {}", modular.modulus));
        if modular.reduce != Reduce::Full {
            text.push_str(&format!(" --reduce {}", modular.reduce.name()));
        }
        if modular.shift > 0 {
            text.push_str(&format!(" --shift {}", modular.shift));
        }
        if modular.times > 0 {
            text.push_str(&format!(" --times {}", modular.times));
        }
    }
    text
}

/// The files of a kernel, name and contents, which its report then names.
///
/// # Errors
/// What cannot be written (a defect of this tool).
pub fn files(
    kernel: &Kernel,
    assembler: Assembler,
    report: &mut Report,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (symbol, format) = (report.spec.symbol.clone(), kernel.core.object_format());
    let extensions = [assembler.extension(&format), "h", "o", "json"];
    let [asm, head, object, data] = extensions.map(|e| format!("{symbol}.{e}"));
    report.files = report::Files {
        asm: Some(asm.clone()),
        header: Some(head.clone()),
        object: Some(object.clone()),
    };
    let text = emit::assembly(assembler, kernel, report)?;
    let json = serde_json::to_string_pretty(report).map_err(|e| e.to_string())?;
    Ok(vec![
        (asm, text.into_bytes()),
        (
            head,
            header::header(report, &kernel.core.dialect()).into_bytes(),
        ),
        (
            object,
            elf::object(&format, &symbol, &kernel.code, &kernel.claims())?,
        ),
        (data, (json + "\n").into_bytes()),
    ])
}
