use lozenge::isa::mips::{cores::*, *};
use lozenge::isa::*;
use lozenge::spec::*;
use lozenge::*;
fn main() {
    let c = Core::named("mips-4km").unwrap();
    let spec = Spec::new(Op::Mul, 96, 32).unwrap();
    let m = method::find("operand-caching").unwrap();
    let s = (m.schedule)(
        &spec,
        &MipsIsa::facts(&c),
        &method::Params::from([("e", 1)]),
    )
    .unwrap();
    let p = MipsIsa::lower(&s, &c).unwrap().remove(0);
    let mut notes = p.notes.iter().peekable();
    for (i, insn) in p.insns.iter().enumerate() {
        while let Some((_, t)) = notes.next_if(|(at, _)| *at <= i) {
            println!("  # {t}");
        }
        println!("{:#x} {}", 4 * i, insn.text());
    }
}
