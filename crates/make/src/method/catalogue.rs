//! All methods, and the method of a name.

use std::sync::LazyLock;

use spec::Op;

use crate::method::signature::{Method, Params};
use crate::method::{
    carry_chain, cihs, cios, consecutive_operand_caching, fios, fips, folded_karatsuba, hfips,
    hybrid, karatsuba, karatsuba_calls, karatsuba_comba, karatsuba_joined, karatsuba_modulo,
    karatsuba_schoolbook, karatsuba_squaring, kcm, lazy_doubling, masked_words, number_row,
    operand_caching, operand_scanning, product_scanning, range_shifted, reverse_hybrid,
    ripple_carry, separated, shift_and_add, shifted_words, short_product, sliding_block_doubling,
    sos, special_primes, square_carry_catcher, square_operand_scanning, square_product_scanning,
    square_reverse_hybrid, steady_rows, word_row, zero_test,
};

/// Methods with a file of their own.
static OWN: &[&Method] = &[
    &operand_caching::METHOD,
    &consecutive_operand_caching::METHOD,
    &hybrid::METHOD,
    &product_scanning::METHOD,
    &operand_scanning::METHOD,
    &karatsuba::METHOD,
    &karatsuba_comba::METHOD,
    &karatsuba_joined::METHOD,
    &karatsuba_schoolbook::METHOD,
    &karatsuba_squaring::METHOD,
    &square_product_scanning::METHOD,
    &square_operand_scanning::METHOD,
    &square_carry_catcher::METHOD,
    &lazy_doubling::METHOD,
    &sliding_block_doubling::METHOD,
    &shift_and_add::METHOD,
    &short_product::METHOD,
    &reverse_hybrid::METHOD,
    &square_reverse_hybrid::METHOD,
    &karatsuba_calls::METHOD,
    &steady_rows::METHOD,
    &fips::METHOD,
    &fios::METHOD,
    &cios::METHOD,
    &cihs::METHOD,
    &sos::METHOD,
    &kcm::METHOD,
    &carry_chain::METHOD,
    &number_row::METHOD,
    &separated::STEADY,
    &hfips::METHOD,
    &hfips::SEPARATED,
    &folded_karatsuba::METHOD,
    &karatsuba_modulo::METHOD,
    &range_shifted::METHOD,
    &range_shifted::SQUARE,
    &ripple_carry::METHOD,
    &shifted_words::METHOD,
    &word_row::METHOD,
    &masked_words::METHOD,
    &zero_test::METHOD,
];

/// All methods: those with a file, every product with each of two reductions behind it, and with folds.
pub static METHODS: LazyLock<Vec<&'static Method>> = LazyLock::new(|| {
    let separated = separated::METHODS.iter().flatten().chain(separated::LOOPS);
    let folded = special_primes::METHODS.iter();
    OWN.iter().copied().chain(separated).chain(folded).collect()
});

/// The method called `name`.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|m| m.name == name)
}

/// The same; a reduction alone (`sps`, `fold`) stands behind the product scanning that computes `op`.
pub fn find_for(name: &str, op: Op) -> Option<&'static Method> {
    let scans = [&product_scanning::METHOD, &square_product_scanning::METHOD];
    let mut behind = scans
        .into_iter()
        .filter_map(|scan| find(&format!("{}+{name}", scan.name)));
    find(name).or_else(|| behind.find(|m| m.computes(op)))
}

/// The method whose products take one time where a multiplier stops early: only who names it gets it.
pub fn in_one_time(op: Op) -> Option<&'static str> {
    match op {
        Op::Mul | Op::Sqr => Some(steady_rows::METHOD.name),
        Op::Montmul | Op::Montsqr | Op::Redc | Op::Tomont | Op::Frommont => {
            Some(separated::STEADY.name)
        }
        Op::Modmul | Op::Modsqr => Some("steady-rows+fold"),
        Op::Mullo
        | Op::Mulhi
        | Op::Add
        | Op::Sub
        | Op::Shl
        | Op::Shr
        | Op::Addmul
        | Op::Submul
        | Op::Mulword
        | Op::Addc
        | Op::Subb
        | Op::Addif
        | Op::Subif
        | Op::Select
        | Op::Swap
        | Op::Iszero
        | Op::Equal
        | Op::Modadd
        | Op::Modsub
        | Op::Modneg
        | Op::Modhalf
        | Op::Modtimes => None,
    }
}

/// The products that a plan of the method speaks of one by one; none if it is about one tree.
pub fn parts(name: &str, params: &Params) -> Vec<&'static str> {
    let product = name.split('+').next().unwrap_or(name);
    let levels = params.get("levels").copied().unwrap_or(0);
    let levels = || short_product::LEVELS.into_iter().take(levels);
    if [
        karatsuba_joined::METHOD.name,
        karatsuba_modulo::METHOD.name,
        range_shifted::METHOD.name,
    ]
    .contains(&product)
    {
        vec!["middle", "low", "high"]
    } else if product == short_product::METHOD.name {
        levels().collect()
    } else if product == folded_karatsuba::METHOD.name {
        let whole = ["half", "sum", "quarter", "difference"];
        whole.into_iter().chain(levels()).collect()
    } else {
        Vec::new()
    }
}

/// A method that makes `op` in two nested loops on every machine.
pub fn in_nested_loops(op: Op) -> Option<&'static str> {
    match op {
        Op::Mul => Some(product_scanning::METHOD.name),
        Op::Sqr => Some(square_product_scanning::METHOD.name),
        Op::Montmul | Op::Montsqr | Op::Redc | Op::Tomont | Op::Frommont => Some(fips::METHOD.name),
        Op::Modmul => Some("product-scanning+fold"),
        Op::Modsqr => Some("square-product-scanning+fold"),
        _ => None,
    }
}

/// `operand-caching e=10`, `karatsuba levels=2 plan=k160-a`.
pub fn text(name: &str, params: &Params) -> String {
    let given = params.texts();
    let given = given.map(|(name, value)| format!(" {name}={value}"));
    name.to_string() + &given.collect::<String>()
}
