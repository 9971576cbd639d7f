use lozenge::isa::mips::{cores::*, instructions::Feature, *};
use lozenge::isa::*;
use lozenge::spec::*;
use lozenge::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let words: Vec<u32> = args[1].split(',').map(|w| w.parse().unwrap()).collect();
    for core in args[2].split(',') {
        for ext in [None, Some(Feature::WideAcc), Some(Feature::MaddHl)] {
            let mut c = Core::named(core).unwrap();
            if let Some(e) = ext {
                c = c.with(e);
            }
            for n in &words {
                let spec = Spec::new(Op::Mul, 32 * n, 32).unwrap();
                for method in method::METHODS {
                    let mut best: Option<(u64, String)> = None;
                    for p in (method.defaults)(&spec, &MipsIsa::facts(&c)) {
                        let s = (method.schedule)(&spec, &MipsIsa::facts(&c), &p).unwrap();
                        s.check().unwrap();
                        let progs = match MipsIsa::lower(&s, &c) {
                            Ok(p) => p,
                            Err(e) => {
                                if args.len() > 3 {
                                    println!("{} {p:?}: {e}", method.name);
                                }
                                continue;
                            }
                        };
                        for prog in progs {
                            let code = MipsIsa::encode(&c, &prog.insns).unwrap();
                            let a = num_bigint::BigUint::from(3u32);
                            let (r, cost) = MipsIsa::call_concrete(
                                &c,
                                &code,
                                &Operands {
                                    sources: &[a.clone(), a],
                                    source_bytes: spec.operand_bytes(),
                                    result_bytes: spec.result_bytes(),
                                    places: &[0, 1, 2],
                                },
                                1 << 40,
                            )
                            .unwrap();
                            assert_eq!(r, num_bigint::BigUint::from(9u32));
                            let leak = prove::leak::<MipsIsa>(&spec, &c, &code);
                            let proof = [Alias::Distinct, Alias::AIsB]
                                .map(|al| prove::prove::<MipsIsa>(&spec, &c, &code, al));
                            let ok = proof.iter().all(|p| p.holds());
                            let text = format!(
                                "{core} {ext:?} n={n} {} {p:?} body {:?} call {:?} {:?} stack {} proved {ok} {} leak {:?}",
                                method.name,
                                cost.body,
                                cost.call.max,
                                cost.counts,
                                proof[0].stack_bytes,
                                if ok {
                                    String::new()
                                } else {
                                    format!("{:?}", proof[0])
                                },
                                leak.map(|c| c.body)
                            );
                            if args.len() > 3 || !ok {
                                println!("{text}");
                            }
                            if best.as_ref().is_none_or(|b| b.0 > cost.body.max) {
                                best = Some((cost.body.max, text));
                            }
                        }
                    }
                    if let Some(b) = best {
                        println!("BEST {}", b.1);
                    }
                }
            }
        }
    }
}
