use lozenge::isa::avr::*;
use lozenge::isa::*;
use lozenge::spec::*;
use lozenge::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    for bits in [160u32, 192, 256, 512, 1024, 2048] {
        for e in [0usize, 2, 4, 8, 10] {
            let spec = Spec::new(Op::Mul, bits, 8).unwrap();
            let (m, p) = if e == 0 {
                ("product-scanning", method::Params::new())
            } else {
                ("operand-caching", method::Params::from([("e", e)]))
            };
            let s = (method::find(m).unwrap().schedule)(&spec, &lower::FACTS, &p).unwrap();
            let c = s.check().unwrap();
            for ch in lower::CHOICES {
                let t = std::time::Instant::now();
                let prog = lower::lower(&s, ch).unwrap();
                let code = AvrIsa::encode(&cores::ATMEGA128, &prog.insns).unwrap();
                let tl = t.elapsed();
                let a = num_bigint::BigUint::from(3u32);
                let (r, cost) = AvrIsa::call_concrete(
                    &cores::ATMEGA128,
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
                let t = std::time::Instant::now();
                let pr = if args.len() > 1 {
                    Some(prove::prove::<AvrIsa>(
                        &spec,
                        &cores::ATMEGA128,
                        &code,
                        Alias::Distinct,
                    ))
                } else {
                    None
                };
                println!(
                    "{bits} e={e} {:?} body {} call {} {:?} r={r} lower {:?} prove {:?} {:?} ",
                    ch,
                    cost.body.max,
                    cost.call.max,
                    cost.counts,
                    tl,
                    t.elapsed(),
                    pr
                );
                let _ = &c;
            }
        }
    }
}
