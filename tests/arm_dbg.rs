use lozenge::isa::arm::*;
use lozenge::isa::*;
use lozenge::method;
use lozenge::spec::*;
#[test]
fn look() {
    let core = cores::CORES[1];
    let words: u32 = std::env::var("N").unwrap().parse().unwrap();
    let e: usize = std::env::var("E").unwrap().parse().unwrap();
    let spec = Spec::new(Op::Mul, 32 * words, 32).unwrap();
    let (m, p) = if e == 0 {
        ("product-scanning", method::Params::new())
    } else {
        ("operand-caching", method::Params::from([("e", e)]))
    };
    let s = (method::find(m).unwrap().schedule)(&spec, &lower::FACTS, &p).unwrap();
    let prog = ArmIsa::lower(&s, core).unwrap().remove(0);
    for (i, insn) in prog.insns.iter().enumerate() {
        for (at, n) in &prog.notes {
            if *at == i {
                println!("@ {n}");
            }
        }
        println!("{:#5x}    {}", 4 * i, ArmIsa::text(insn));
    }
}
