use lozenge::isa::arm::*;
use lozenge::isa::*;
use lozenge::method;
use lozenge::prove;
use lozenge::spec::*;
use num_bigint::BigUint;

#[test]
fn look() {
    for core in cores::CORES {
        for words in [1u32, 2, 3, 4, 5, 6, 8, 16] {
            for e in 0..=3usize {
                let spec = Spec::new(Op::Mul, 32 * words, 32).unwrap();
                let (m, p) = if e == 0 {
                    ("product-scanning", method::Params::new())
                } else {
                    ("operand-caching", method::Params::from([("e", e)]))
                };
                let Ok(s) = (method::find(m).unwrap().schedule)(&spec, &lower::FACTS, &p) else {
                    continue;
                };
                if s.check().is_err() {
                    println!("{words} e={e} bad schedule");
                    continue;
                }
                let prog = ArmIsa::lower(&s, core).unwrap().remove(0);
                let code = ArmIsa::encode(core, &prog.insns).unwrap();
                let a = (BigUint::from(1u32) << (32 * words)) - 1u32;
                let (r, cost) = ArmIsa::call_concrete(
                    core,
                    &code,
                    &Operands {
                        sources: &[a.clone(), a.clone()],
                        source_bytes: spec.operand_bytes(),
                        result_bytes: spec.result_bytes(),
                        places: &[0, 1, 2],
                    },
                    1 << 40,
                )
                .unwrap();
                let pr = prove::prove::<ArmIsa>(&spec, core, &code, Alias::Distinct);
                println!(
                    "{} {words} e={e} body {:?} call {:?} {:?} right {} {:?}",
                    core.name,
                    cost.body,
                    cost.call,
                    cost.counts,
                    r == &a * &a,
                    pr
                );
                if words == 5 && e == 3 && core.name == "arm7tdmi-hw2018" {
                    for i in &prog.insns {
                        println!("    {}", ArmIsa::text(i));
                    }
                    println!("{:?}", prove::leak::<ArmIsa>(&spec, cores::CORES[0], &code));
                    println!("{:?}", prove::leak::<ArmIsa>(&spec, cores::CORES[1], &code));
                }
            }
        }
    }
}
