//! {{ title }}: proved kernels for {{ chip }}.
//!
//! Numbers are arrays of words, the least significant first. A result is what the equation says if the operands are what the contract says;
//! it is any number else. Made by lozenge {{ version }}: `{{ command }}`
//!
//! SPDX-License-Identifier: {{ licence }}
#![no_std]

#[cfg(not(target_arch = "{{ rust.architecture }}"))]
compile_error!("{{ name }} is code for {{ chip }}: build for a target with this processor");
{% if rust.big_endian %}
#[cfg(target_endian = "little")]
compile_error!("{{ name }} is code for big-endian memory");
{% else %}
#[cfg(target_endian = "big")]
compile_error!("{{ name }} is code for little-endian memory");
{% endif %}
{% for feature in rust.features %}
#[cfg(all(target_arch = "riscv32", not(target_feature = "{{ feature }}")))]
compile_error!("{{ name }} needs the extension {{ feature | upper }}");
{% endfor %}
{% if rust.assembly %}

#[cfg(target_arch = "{{ rust.architecture }}")]
mod assembly {
{% for stem in rust.assembly %}
    core::arch::global_asm!(include_str!("{{ stem }}.s"), options(raw));
{% endfor %}
}
{% endif %}
{% if rust.whole %}
{% set whole = rust.whole %}

type Word = {{ rust.word }};

const BYTES: usize = core::mem::size_of::<Word>();
const WORDS: usize = 32 / BYTES;

/// The driver's numbers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Numbers {
    state: [Word; {{ whole.state }}],
{% for field in whole.fields %}
    {{ field.name }}: [Word; {{ field.words }}],
{% endfor %}
}

const ZERO: Numbers = Numbers {
    state: [0; {{ whole.state }}],
{% for field in whole.fields %}
    {{ field.name }}: [0; {{ field.words }}],
{% endfor %}
};

extern "C" {
    fn {{ whole.driver }}(numbers: *mut Numbers);
}

/// A number of 32 bytes, the lowest first.
fn from_bytes(bytes: &[u8; 32]) -> [Word; WORDS] {
    let mut number = [0; WORDS];
    for (word, bytes) in number.iter_mut().zip(bytes.chunks_exact(BYTES)) {
        let mut own = [0; BYTES];
        own.copy_from_slice(bytes);
        *word = Word::from_le_bytes(own);
    }
    number
}

/// X25519 of RFC 7748, section 5. Of a public key the point is 9, then 31 bytes 0. Neither time nor addresses depend on the
/// bytes. A point of small order gives 0: where both sides must contribute, compare the result with 0 (section 6.1).
///
/// {{ whole.cycles }} cycles on {{ core }} beside those of this function, {{ whole.stack }} bytes of stack.
pub fn x25519(scalar: &[u8; 32], point: &[u8; 32]) -> [u8; 32] {
    let mut numbers = ZERO;
    numbers.scalar = from_bytes(scalar);
    numbers.u = from_bytes(point);
    numbers.u[WORDS - 1] &= Word::MAX >> 1;
    // SAFETY: the driver reads and writes its numbers and its stack.
    unsafe { {{ whole.driver }}(&mut numbers) };
    let mut out = [0; 32];
    for (bytes, word) in out.chunks_exact_mut(BYTES).zip(numbers.result) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    // SAFETY: the numbers are ours; a volatile write is not left out.
    unsafe { core::ptr::write_volatile(&mut numbers, ZERO) };
    out
}
{% else %}

extern "C" {
{% for f in rust.functions %}
    fn {{ f.symbol }}(r: *mut {{ rust.word }}{% for s in f.sources %}, {{ s.name }}: *const {{ rust.word }}{% endfor %}){% if f.returns %} -> {{ rust.word }}{% endif %};
{% endfor %}
}
{% for f in rust.functions %}
{% macro about() %}
/// `{{ f.equation }}`
///
{% if f.modulus %}
/// m = {{ f.modulus }}. {{ f.contract }}.
{% endif %}
{% if f.shorter %}
/// Shorter operands: {{ f.shorter }}.
{% endif %}
{% if f.time == "proved" %}
/// Constant time on {{ core }}, proved.
{% endif %}
/// {{ f.cycles }} cycles of a call on {{ core }}, {{ f.stack }} bytes of stack.
{% if not f.is_safe %}
///
/// # Safety
/// Operands are what the contract says.
{% endif %}
{% endmacro %}
{% set unsafe_ = "" if f.is_safe else "unsafe " %}
{% set result = " -> " ~ rust.word if f.returns else "" %}

{{ about() }}pub {{ unsafe_ }}fn {{ f.name }}(r: &mut [{{ rust.word }}; {{ f.result }}]{% for s in f.sources %}, {{ s.name }}: &[{{ rust.word }}; {{ s.words }}]{% endfor %}){{ result }} {
    // SAFETY: the kernel reads its operands, and writes the result and its stack.
    unsafe { {{ f.symbol }}(r.as_mut_ptr(){% for s in f.sources %}, {{ s.name }}.as_ptr(){% endfor %}) }
}
{% if f.in_place %}

/// [`{{ f.name }}`] with the first operand in `r`, where the result takes its place.
{% if not f.is_safe %}
///
/// # Safety
/// Operands are what the contract says.
{% endif %}
pub {{ unsafe_ }}fn {{ f.name }}_assign(r: &mut [{{ rust.word }}; {{ f.result }}]{% for s in f.sources[1:] %}, {{ s.name }}: &[{{ rust.word }}; {{ s.words }}]{% endfor %}){{ result }} {
    let r = r.as_mut_ptr();
    // SAFETY: the same, and the kernel is proved where the result is the first operand.
    unsafe { {{ f.symbol }}(r, r{% for s in f.sources[1:] %}, {{ s.name }}.as_ptr(){% endfor %}) }
}
{% endif %}
{% endfor %}
{% endif %}
