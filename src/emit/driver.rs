//! Views of a driver: assembly for GNU as, C header, linkable object. Its kernels have files of their own.

use std::collections::BTreeMap;

use machine::format::ObjectFormat;
use machine::isa::Cost;
use machine::isa::core::Core;
use machine::isa::energy::{Currents, Spent};
use make::driver::{Field, Role, image};
use serde::Serialize;

use crate::driver::build::Built;
use crate::driver::secrecy::Told;
use crate::emit::banner::LICENCE;
use crate::emit::{c_driver, elf, gnu};
use crate::kernel::Kernel;
use crate::report::EnergyReport;
use crate::report::energy::NO_DATA;

/// Mnemonic and operands of a call. What is given as code units has its text behind `; `.
fn called(line: &str) -> (&str, &str) {
    let plain = line.rsplit("; ").next().unwrap_or_default();
    plain.split_once(char::is_whitespace).unwrap_or_default()
}

/// A number in the area.
#[derive(Clone, Debug, Serialize)]
pub struct FieldReport {
    /// Its name.
    pub name: &'static str,
    /// Is it read, written, or neither?
    pub role: Role,
    /// Bytes from the start of the area.
    pub at: usize,
    /// Its length in bytes.
    pub bytes: usize,
    /// What it holds.
    pub meaning: &'static str,
}

/// A kernel that the driver calls.
#[derive(Clone, Debug, Serialize)]
pub struct KernelReport {
    /// Its function.
    pub symbol: String,
    /// Its method and parameters.
    pub method: String,
    /// How much of it is written out.
    pub style: &'static str,
    /// Bytes of its code.
    pub bytes: usize,
    /// Of a call, at most.
    pub cycles: u64,
}

/// Bytes of program memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Flash {
    /// Bytes of the driver alone.
    pub driver: usize,
    /// Bytes of all its kernels.
    pub kernels: usize,
    /// Bytes together.
    pub total: usize,
}

/// Bytes of data memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ram {
    /// Bytes of the area with all numbers.
    pub area: usize,
    /// Below the return address.
    pub stack: usize,
    /// Bytes together.
    pub total: usize,
}

/// Everything about a driver, with the fields that `--json` promises.
#[derive(Clone, Debug, Serialize)]
pub struct DriverReport {
    /// The function.
    pub symbol: String,
    /// What it computes.
    pub equation: String,
    /// Bits of the modulus.
    pub bits: u32,
    /// Bits of a word of the machine.
    pub word_bits: u32,
    /// How the exponent is taken, or how it is computed without one.
    pub exponentiation: String,
    /// `secret` or `public`; nothing if it is no exponentiation.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub exponent: &'static str,
    /// `asm` or `c`; bytes, cycles and verdicts are those of the assembly in any case.
    pub driver: &'static str,
    /// The core it is made for.
    pub core: String,
    /// The part it is made for, if one was named.
    pub mcu: Option<String>,
    /// The calling convention, and what it asks of interrupt handlers.
    pub abi: &'static str,
    /// What lies in the area.
    pub fields: Vec<FieldReport>,
    /// The kernels that it calls.
    pub kernels: Vec<KernelReport>,
    /// Bytes of program memory.
    pub flash: Flash,
    /// Bytes of data memory.
    pub ram: Ram,
    /// Of a call on random numbers, whose result was right.
    pub cycles: u64,
    /// What that call draws, if it is known of the core.
    pub energy: Option<EnergyReport>,
    #[serde(skip)]
    spent: [Spent; 2],
    /// Instructions of a run.
    pub instructions: u64,
    /// Per core: `shown`, `leaks` or `unknown`; why, `leaks` says.
    pub constant_time: BTreeMap<String, &'static str>,
    /// Per core where it is not shown: what tells.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub leaks: BTreeMap<String, String>,
    /// Was it accepted that time or addresses depend on the numbers?
    pub variable_time: bool,
    /// What the driver does not do, and its caller must.
    pub beware: Vec<&'static str>,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// The command that gives the same bytes.
    pub command: String,
    /// Of this tool.
    pub version: &'static str,
    /// The files that were written.
    pub files: Vec<String>,
}

/// What a driver is made for, in words.
#[derive(Clone, Debug)]
pub struct Title {
    /// The function.
    pub symbol: String,
    /// What it computes.
    pub equation: String,
    /// Bits of the modulus.
    pub bits: u32,
    /// How the exponent is taken, or how it is computed without one.
    pub exponentiation: String,
    /// Is the exponent public or secret? Nothing if it is no exponentiation.
    pub exponent: &'static str,
    /// Is the driver assembly or C?
    pub driver: &'static str,
    /// The core it is made for.
    pub core: String,
    /// The part it is made for, if one was named.
    pub mcu: Option<String>,
    /// May time and addresses depend on the numbers?
    pub variable_time: bool,
    /// What the driver does not do, and its caller must.
    pub beware: Vec<&'static str>,
    /// What was typed.
    pub command: String,
}

impl FieldReport {
    fn of(field: &Field) -> Self {
        Self {
            name: field.name,
            role: field.role,
            at: field.place.at,
            bytes: field.place.bytes,
            meaning: field.meaning,
        }
    }
}

impl KernelReport {
    fn of(kernel: &Kernel, prefix: &str) -> Self {
        Self {
            symbol: format!("{prefix}{}", kernel.spec.symbol()),
            method: make::method::text(kernel.method.name, &kernel.params),
            style: kernel.style.name(),
            bytes: kernel.code.len(),
            cycles: kernel.cost.call.max,
        }
    }
}

impl DriverReport {
    /// Of a driver that cost so much on numbers.
    pub fn new(
        title: Title,
        built: &Built,
        cost: &Cost,
        constant_time: &[(String, Result<(), Told>)],
        prefix: &str,
    ) -> Self {
        let report = |kernel| KernelReport::of(kernel, prefix);
        let kernels: Vec<_> = built.kernels.iter().map(report).collect();
        let fields = built.driver.fields.iter().map(FieldReport::of);
        let time = |(core, verdict): &(String, Result<(), Told>)| {
            let told = verdict.as_ref().err();
            (core.clone(), told.map_or("shown", Told::word))
        };
        let leak = |(core, told): &(String, Result<(), Told>)| {
            Some((core.clone(), told.as_ref().err()?.text.clone()))
        };
        let of_kernels = kernels.iter().map(|k| k.bytes).sum();
        let (driver, stack) = (built.image.driver_bytes, cost.stack.total());
        Self {
            symbol: title.symbol,
            equation: title.equation,
            bits: title.bits,
            word_bits: 8 * built.driver.word as u32,
            exponentiation: title.exponentiation,
            exponent: title.exponent,
            driver: title.driver,
            core: title.core,
            mcu: title.mcu,
            abi: built.kernels.first().map_or("", |kernel| kernel.abi),
            fields: fields.collect(),
            kernels,
            flash: Flash {
                driver,
                kernels: of_kernels,
                total: driver + of_kernels,
            },
            ram: Ram {
                area: built.driver.bytes,
                stack,
                total: built.driver.bytes + stack,
            },
            cycles: cost.call.max,
            energy: None,
            spent: cost.spent,
            instructions: cost.executed,
            constant_time: constant_time.iter().map(time).collect(),
            leaks: constant_time.iter().filter_map(leak).collect(),
            variable_time: title.variable_time,
            beware: title.beware,
            warnings: Vec::new(),
            command: title.command,
            version: env!("CARGO_PKG_VERSION"),
            files: Vec::new(),
        }
    }

    /// With the energy that follows from currents, if they are known.
    pub fn drawing(mut self, currents: Option<Currents>) -> Self {
        self.energy = currents.map(|currents| EnergyReport::of(&self.spent, currents));
        self
    }

    /// Its energy, or that nothing is known.
    fn energy_text(&self) -> String {
        let energy = self.energy.as_ref();
        energy.map_or(NO_DATA.into(), EnergyReport::text)
    }

    /// What the equation names, with its place and what else the caller must know.
    fn contract(&self) -> Vec<String> {
        let told = self.fields.iter().filter(|f| f.role != Role::Work);
        let told = told.map(|f| format!("{} of {} bytes: {}", f.name, f.bytes, f.meaning));
        told.collect()
    }

    /// What is said of the driver, which is not what a C compiler makes.
    fn tested(&self, what: &str) -> String {
        match self.driver {
            "c" => format!("{what}; all figures are of the same steps in assembly, not in C"),
            _ => what.into(),
        }
    }

    /// Is it in constant time on its core, or was it accepted that it is not?
    pub fn keeps_its_time(&self) -> bool {
        self.variable_time || self.constant_time.get(&self.core) == Some(&"shown")
    }

    /// What it was made for.
    pub fn place(&self) -> &str {
        self.mcu.as_deref().unwrap_or(&self.core)
    }

    /// `shown on atmega328p`, or what tells there.
    fn time_text(&self) -> String {
        let place = self.place();
        let known = self.constant_time.get(&self.core).copied();
        let accepted = match self.variable_time {
            true => "accepted (--variable-time): ",
            false => "",
        };
        match (known.unwrap_or("unknown"), self.leaks.get(&self.core)) {
            (word, None) => format!("{word} on {place}"),
            (word, Some(leak)) => format!("on {place}: {accepted}{word}: {leak}"),
        }
    }

    /// What time tells on the other cores that run the same bytes: `atmega2560 shown, ...`.
    fn others_text(&self) -> Option<String> {
        let others = self.constant_time.iter();
        let others = others.filter(|(core, _)| **core != self.core);
        let list: Vec<_> = others
            .map(|(core, word)| format!("{core} {word}"))
            .collect();
        (!list.is_empty()).then(|| format!("constant time: {}", list.join(", ")))
    }

    /// `key: value` lines of banners.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("equation", self.equation.clone())];
        lines.extend(self.contract().into_iter().map(|text| ("numbers", text)));
        lines.push(("abi", self.abi.to_string()));
        lines.push(match self.exponent {
            "" => ("steps", self.exponentiation.clone()),
            known => ("exponent", format!("{known}, {}", self.exponentiation)),
        });
        for k in &self.kernels {
            lines.push((
                "kernel",
                format!("{}, {}, {}: proved", k.symbol, k.method, k.style),
            ));
        }
        lines.push((
            "driver",
            self.tested("not proved: run on numbers, its time judged"),
        ));
        lines.push((
            "flash",
            format!(
                "{} bytes of driver, {} with kernels",
                self.flash.driver, self.flash.total
            ),
        ));
        lines.push((
            "ram",
            format!(
                "{} bytes of numbers, {} of stack",
                self.ram.area, self.ram.stack
            ),
        ));
        lines.push((
            "cycles",
            format!("{} on random numbers, on {}", self.cycles, self.place()),
        ));
        lines.push(("energy", self.energy_text()));
        lines.push(("constant time", self.time_text()));
        lines.extend(self.others_text().map(|text| ("other cores", text)));
        let beware = self.beware.iter();
        lines.extend(beware.map(|text| ("BEWARE", text.to_string())));
        lines.push(("command", self.command.clone()));
        lines.push(("version", format!("lozenge {}", self.version)));
        lines
    }

    fn banner(&self, title: &str) -> String {
        let mut text = format!("/* SPDX-License-Identifier: {LICENCE}\n *\n * {title}\n *\n");
        for (key, value) in self.lines() {
            text.push_str(&format!(" * {key:<14}{value}\n"));
        }
        text.push_str(" */\n");
        text
    }

    /// The C header: the area as a struct.
    pub fn header(&self) -> String {
        let symbol = &self.symbol;
        let guard = format!("LOZENGE_{}_H", symbol.to_uppercase());
        let word = format!("uint{}_t", self.word_bits);
        let step = self.word_bits as usize / 8;
        let mut text = self.banner(&format!("{symbol}.h"));
        text += &format!("#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n");
        text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
        text += "/* The least significant word comes first. What is not input or output is overwritten. */\n";
        let cells = self.fields.first().map_or(0, |f| f.at);
        text += &format!("struct {symbol} {{\n\t{word} state[{}];\n", cells / step);
        for f in &self.fields {
            let role = match f.role {
                Role::Input => "in",
                Role::Output => "out",
                Role::Work => "work",
            };
            text += &format!(
                "\t{word} {}[{}]; /* {role}: {} */\n",
                f.name,
                f.bytes / step,
                f.meaning
            );
        }
        text += &format!("}};\n\nextern void {symbol}(struct {symbol} *numbers);\n\n");
        text += "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
        text
    }

    /// The `.S` file of the driver.
    pub fn assembly(&self, built: &Built, core: &Core) -> String {
        let (symbol, dialect) = (&self.symbol, core.dialect());
        let mut text = self.banner(&format!("{symbol}.S"));
        let refusals = dialect.refusals(symbol);
        text += &format!("\n#if {}\n{refusals}{}", dialect.guard, dialect.preamble);
        text += &format!(
            "\t.section .text.{symbol},\"ax\",%progbits\n{}",
            dialect.align
        );
        text += &format!("\t.global {symbol}\n\t.type {symbol}, %function\n{symbol}:\n");
        let mut calls = built.assembled.calls.iter().peekable();
        for (i, insn) in built.assembled.program.insns.iter().enumerate() {
            let line = insn.text();
            match calls.next_if(|(index, _)| *index == i) {
                Some((_, kernel)) => {
                    // A `#` says that the address is a number.
                    let (name, operand) = called(&line);
                    let sign = if operand.starts_with('#') { "#" } else { "" };
                    text += &format!("\t{name} {sign}{}\n", self.kernels[*kernel].symbol);
                }
                None => {
                    text += &match core.lands(*insn) {
                        Some((to, _)) => {
                            let (name, operands) = called(&line);
                            let rest = operands.find(',').map_or("", |at| &operands[at..]);
                            format!("\t{name} #{symbol}+{to}{rest}\n")
                        }
                        None => format!("\t{line}\n"),
                    }
                }
            }
        }
        text += &format!("\t.size {symbol}, . - {symbol}\n");
        text += "#ifdef __linux__\n\t.section .note.GNU-stack,\"\",%progbits\n#endif\n#endif\n";
        gnu::exact(&text)
    }

    /// The `.c` file of the driver.
    pub fn c(&self, built: &Built) -> String {
        let kernels: Vec<_> = self.kernels.iter().map(|k| k.symbol.clone()).collect();
        let text = c_driver::text(&built.driver, &self.symbol, &kernels);
        self.banner(&format!("{}.c", self.symbol)) + &text
    }

    /// The `.o` file of the driver: its calls are relocations.
    ///
    /// # Errors
    /// What the object writer objects to.
    pub fn object(
        &self,
        built: &Built,
        core: &Core,
        format: &ObjectFormat,
    ) -> Result<Vec<u8>, String> {
        let insns = &built.assembled.program.insns;
        let places = image::places(core, insns)?;
        let (relocation, behind) = core.call_relocation();
        let of_kernels = &built.assembled.calls;
        let calls = of_kernels.iter().map(|(index, kernel)| elf::Call {
            at: places[*index] as u64 + behind,
            symbol: &self.kernels[*kernel].symbol,
            addend: 0,
            relocation,
        });
        let mut calls: Vec<_> = calls.collect();
        // As GNU as has it, what the linker sets is 0 before.
        let mut unset = insns.clone();
        for (i, insn) in insns.iter().enumerate() {
            if of_kernels.iter().any(|(index, _)| *index == i) {
                continue;
            }
            if let Some((to, relocation)) = core.lands(*insn) {
                calls.push(elf::Call {
                    at: places[i] as u64,
                    symbol: &self.symbol,
                    addend: to as i64,
                    relocation,
                });
                unset[i] = insn.calling(0, 0).unwrap_or(*insn);
            }
        }
        calls.sort_by_key(|call| call.at);
        let code = core.encode(&unset)?;
        elf::object_that_calls(format, &self.symbol, &code, &calls)
    }

    /// For people.
    pub fn text(&self) -> String {
        let line = |name: &str, value: String| format!("  {name:<14} {value}\n");
        let exponent = match self.exponent {
            "" => String::new(),
            known => format!(", exponent {known}"),
        };
        let mut text = format!(
            "{}: {}, {} bits, {}{exponent}\n",
            self.symbol, self.equation, self.bits, self.exponentiation
        );
        for k in &self.kernels {
            let (method, style, bytes, cycles) = (&k.method, k.style, k.bytes, k.cycles);
            text += &line(
                "PROVED",
                format!(
                    "{}, {method}, {style}: {cycles} cycles, {bytes} bytes",
                    k.symbol
                ),
            );
        }
        text += &line("TESTED", self.tested("the driver, on random numbers"));
        text += &line("CONSTANT TIME", self.time_text());
        if let Some(others) = self.others_text() {
            text += &line("other cores", others);
        }
        text += &line(
            "cycles",
            format!(
                "{} on {}, {} instructions",
                self.cycles,
                self.place(),
                self.instructions
            ),
        );
        text += &line("energy", self.energy_text());
        for told in &self.beware {
            text += &line("BEWARE", told.to_string());
        }
        let (flash, ram) = (&self.flash, &self.ram);
        text += &line(
            "flash",
            format!(
                "{} bytes: {} of driver, {} of kernels",
                flash.total, flash.driver, flash.kernels
            ),
        );
        text += &line(
            "RAM",
            format!(
                "{} bytes: {} of numbers, {} of stack",
                ram.total, ram.area, ram.stack
            ),
        );
        text
    }
}
