//! A driver and its kernels in one piece of code, and running it on numbers.

use machine::function::{Argument, Function, Passed};
use machine::isa::Cost;
use machine::isa::core::{Core, Insn};
use machine::told;
use num_bigint::BigUint;

use crate::driver::{Assembled, Driver, Role};

/// The numbers that a driver leaves, by the names of their fields.
pub type Outputs = Vec<(&'static str, BigUint)>;

/// Code at address 0: the driver, then its kernels.
#[derive(Clone, Debug)]
pub struct Image {
    pub code: Vec<u8>,
    /// Bytes of the driver alone.
    pub driver_bytes: usize,
}

/// Puts `kernels` behind the driver and makes its calls go there.
///
/// # Errors
/// A call that does not reach.
pub fn link(core: &Core, assembled: &Assembled<Insn>, kernels: &[&[u8]]) -> Result<Image, String> {
    let mut insns = assembled.program.insns.clone();
    let length = core.encode(&insns)?.len();
    let mut starts = Vec::with_capacity(kernels.len());
    let mut end = length;
    for code in kernels {
        starts.push(end);
        end += code.len();
    }
    let places = places(core, &insns)?;
    for (index, kernel) in &assembled.calls {
        let call = |to| insns[*index].calling(places[*index], to);
        // All of it lies where calls reach.
        let call = call(end).and_then(|_| call(starts[*kernel]));
        insns[*index] = call.ok_or_else(|| format!("calls do not reach all of {end} bytes"))?;
    }
    let mut code = core.encode(&insns)?;
    kernels
        .iter()
        .for_each(|kernel| code.extend_from_slice(kernel));
    Ok(Image {
        code,
        driver_bytes: length,
    })
}

/// Byte addresses of instructions that follow each other from 0 on.
///
/// # Errors
/// An instruction that cannot be encoded.
pub fn places(core: &Core, insns: &[Insn]) -> Result<Vec<usize>, String> {
    let mut at = 0;
    let place = |insn: &Insn| {
        let here = at;
        at += core.encode(&[*insn])?.len();
        Ok(here)
    };
    insns.iter().map(place).collect()
}

/// The area with numbers by the names of fields.
///
/// # Errors
/// Which number is missing or too large, in words.
pub fn area(driver: &Driver, inputs: &[(&str, BigUint)]) -> Result<Vec<u8>, String> {
    let mut area = vec![0; driver.bytes];
    for field in driver.fields.iter().filter(|f| f.role == Role::Input) {
        let given = inputs.iter().find(|(name, _)| *name == field.name);
        let (_, value) = given.ok_or_else(|| format!("{} is missing", field.name))?;
        let bytes = value.to_bytes_le();
        let room = &mut area[field.place.at..field.place.at + field.place.bytes];
        let fits = room.get_mut(..bytes.len());
        fits.ok_or_else(|| {
            format!(
                "{} has more than {} bits",
                field.name,
                8 * field.place.bytes
            )
        })?
        .copy_from_slice(&bytes);
    }
    Ok(area)
}

/// The numbers that `driver` left in the area.
pub fn outputs(driver: &Driver, area: &[u8]) -> Outputs {
    let outputs = driver.fields.iter().filter(|f| f.role == Role::Output);
    let value = |at: usize, bytes: usize| BigUint::from_bytes_le(&area[at..at + bytes]);
    let outputs = outputs.map(|f| (f.name, value(f.place.at, f.place.bytes)));
    outputs.collect()
}

impl Image {
    /// The function: called with a pointer to the area.
    pub fn function(&self, core: &Core) -> Function {
        Function {
            arguments: Some(vec![Argument {
                passed: Passed::Pointer(0),
                bytes: core.pointer_bytes(),
                place: None,
            }]),
            ..Function::kernel(&self.code)
        }
    }

    /// Runs `driver` on numbers by the names of its fields: those it leaves, and what it cost.
    ///
    /// `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault, in words.
    pub fn run(
        &self,
        core: &Core,
        driver: &Driver,
        inputs: &[(&str, BigUint)],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<(Outputs, Cost), String> {
        let mut area = area(driver, inputs)?;
        let function = self.function(core);
        let cost = core
            .execute(&function, &mut area, watch)
            .map_err(|stopped| told::describe(core, &function, &stopped))?;
        if driver.wipes
            && let Some(place) = driver.wiped_places().into_iter().find(|place| {
                area[place.at..place.at + place.bytes]
                    .iter()
                    .any(|b| *b != 0)
            })
        {
            return Err(format!("byte {} of the area is not wiped", place.at));
        }
        Ok((outputs(driver, &area), cost))
    }
}
