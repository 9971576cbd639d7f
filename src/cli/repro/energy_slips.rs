//! What the SA-1100's paper prints that does not follow from its own formulas.

use lozenge::isa::energy::Currents;

use crate::cli::repro::cell::{Printed, Slip};
use crate::cli::repro::energy::{BITS, Instructions, Method, NAMES, Paper, currents, words};
use crate::cli::repro::polynomial::Polynomial;

impl Paper {
    /// What does not follow from what is printed.
    ///
    /// # Errors
    /// When the file lacks a method.
    pub fn slips(&self) -> Result<Vec<Slip>, String> {
        let currents = currents()?;
        let mut slips = Vec::new();
        for id in ["2", "4"] {
            for method in self.of_table(id) {
                self.times_slip(
                    method,
                    if id == "2" { "3" } else { "5" },
                    &currents,
                    &mut slips,
                );
            }
        }
        self.squares_slip(&currents, &mut slips)?;
        self.rule_slip(&currents, &mut slips)?;
        for saving in self.savings(&currents)? {
            if !Printed::Figure(saving.printed, 1).says(saving.formula) {
                slips.push(Slip {
                    place: "text".into(),
                    printed: format!("{:.1} %: {}", saving.printed, saving.text),
                    right: format!("{:.1} %", saving.formula),
                    why: "from the formulas, rounded at the end".into(),
                });
            }
        }
        Ok(slips)
    }

    /// A time or a current that is not what the formulas give.
    fn times_slip(&self, method: &Method, id: &str, currents: &Currents, slips: &mut Vec<Slip>) {
        let printed = method.microseconds.iter().zip(&method.ampere);
        for (bits, (time, ampere)) in self.bits.iter().zip(printed) {
            let counted = method.at(words(*bits));
            for (unit, printed, right, decimals) in [
                ("us", time, counted.microseconds(currents), 3),
                ("A", ampere, counted.ampere(currents), 5),
            ] {
                let Printed::Figure(value, digits) = printed else {
                    continue;
                };
                if !printed.says(right) {
                    slips.push(Slip {
                        place: format!("table {id}, {}, {bits} bits", method.name),
                        printed: format!("{value:.digits$} {unit}"),
                        right: format!("{right:.decimals$} {unit}"),
                        why: "from the formulas of its counts".into(),
                    });
                }
            }
        }
    }

    /// A square of table 4 is a square of table 2 and the reduction that the products tell. In CIOS the two share their
    /// loads, stores and additions, so only products must add up there.
    fn squares_slip(&self, currents: &Currents, slips: &mut Vec<Slip>) -> Result<(), String> {
        for (name, kind, compared) in [("CIOS", "schoolbook", 1), ("KCM", "Karatsuba-Comba", 4)] {
            let of = |kind: &str, what: &str| {
                Ok::<_, String>(self.find(&format!("{kind} {what}"))?.formulas())
            };
            let (whole, product) = (of(name, "product")?, of(kind, "product")?);
            let (printed, square) = (of(name, "square")?, of(kind, "square")?);
            for at in 0..compared {
                let reduction = whole[at].minus(product[at]);
                let right = square[at].plus(reduction);
                if right == printed[at] {
                    continue;
                }
                let method = self.find(&format!("{name} square"))?;
                let times = self.bits.iter().map(|bits| {
                    let s = words(*bits);
                    let mut counts = method.at(s).all();
                    counts[at] = right.at(s);
                    let [mul, add, load, store] = counts;
                    let right = Instructions {
                        mul,
                        add,
                        load,
                        store,
                    };
                    significant(right.microseconds(currents))
                });
                let times: Vec<_> = times.collect();
                slips.push(Slip {
                    place: format!("table 4, {name} square, {}", NAMES[at]),
                    printed: printed[at].to_string(),
                    right: right.to_string(),
                    why: format!(
                        "{} of the {kind} square and {reduction} of the reduction, which is what the {name} product takes \
                         beside the {kind} product; table 5's times follow the slip, and are {} us without it",
                        square[at],
                        times.join(", ")
                    ),
                });
            }
        }
        Ok(())
    }

    /// Additions of a step in table 4 and in table 2, and what is left of the comparison by one rule.
    fn rule_slip(&self, currents: &Currents, slips: &mut Vec<Slip>) -> Result<(), String> {
        let steps = |[mul, add, _, _]: [Polynomial; 4]| add.coefficients[2] / mul.coefficients[2];
        let (cios, kcm) = (self.find("CIOS product")?, self.find("KCM product")?);
        let (rows, columns) = (
            self.find("schoolbook product")?,
            self.find("Comba product")?,
        );
        let karatsuba = self.find("Karatsuba-Comba product")?.formulas();
        let whole = kcm.formulas();
        let reduction = std::array::from_fn(|at| whole[at].minus(karatsuba[at]));
        let s = words(BITS);
        let (slow, fast) = (cios.by_rule(s), kcm.by_rule(s));
        let time = 100.0 * (1.0 - fast.cycles() / slow.cycles());
        let energy = 100.0 * (1.0 - fast.microjoules(currents) / slow.microjoules(currents));
        for (name, printed, right) in [
            ("CIOS", steps(cios.formulas()), steps(rows.formulas())),
            (
                "KCM, its reduction",
                steps(reduction),
                steps(columns.formulas()),
            ),
        ] {
            if printed != right {
                slips.push(Slip {
                    place: format!("table 4, {name}"),
                    printed: format!("{printed} ADD a step"),
                    right: format!("{right} ADD a step"),
                    why: format!(
                        "table 2 counts so many for the same step; by one rule KCM saves {time:.0} % of the time and \
                         {energy:.0} % of the energy of CIOS at 1024 bits"
                    ),
                });
            }
        }
        Ok(())
    }
}

/// Three digits, as table 5 prints times.
fn significant(value: f64) -> String {
    match value {
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
