//! Formulas as papers print them: `3/4 s^2 + 11/2 s + 1`.

use std::fmt;

use serde::Deserialize;

/// `a s^2 + b s + c`. Coefficients are small fractions, so that values at whole `s` are exact in a float but for
/// thirds.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Polynomial {
    /// Of 1, s and s^2.
    pub coefficients: [f64; 3],
}

impl Polynomial {
    /// What it is at `s`.
    pub fn at(&self, s: f64) -> f64 {
        let [one, linear, square] = self.coefficients;
        (square * s + linear) * s + one
    }

    /// `self + more`.
    pub fn plus(&self, more: Self) -> Self {
        let [a, b] = [self.coefficients, more.coefficients];
        Self {
            coefficients: std::array::from_fn(|i| a[i] + b[i]),
        }
    }

    /// `self - less`.
    pub fn minus(&self, less: Self) -> Self {
        let [a, b] = [self.coefficients, less.coefficients];
        Self {
            coefficients: std::array::from_fn(|i| a[i] - b[i]),
        }
    }
}

/// `3/4` or `2`.
fn coefficient(text: &str) -> Option<f64> {
    match text.split_once('/') {
        None => text.parse().ok(),
        Some((above, below)) => Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?),
    }
}

impl TryFrom<String> for Polynomial {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut coefficients = [0.0; 3];
        let signed = text.replace(" - ", " + -");
        for term in signed.split(" + ").map(str::trim) {
            let (number, power) = match (term.strip_suffix("s^2"), term.strip_suffix('s')) {
                (Some(number), _) => (number, 2),
                (None, Some(number)) => (number, 1),
                (None, None) => (term, 0),
            };
            let value = match number.trim() {
                "" => Some(1.0),
                number => coefficient(number),
            };
            coefficients[power] += value.ok_or(format!("{term} in {text} is no term"))?;
        }
        Ok(Self { coefficients })
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        let terms = self.coefficients.iter().zip(["", " s", " s^2"]).rev();
        for (value, power) in terms.filter(|(value, _)| **value != 0.0) {
            let (sign, size) = match (*value < 0.0, first) {
                (false, true) => ("", *value),
                (true, true) => ("-", -value),
                (false, false) => (" + ", *value),
                (true, false) => (" - ", -value),
            };
            // In eighths, as the papers have it.
            let below = [1.0, 2.0, 4.0, 8.0]
                .into_iter()
                .find(|below| (size * below).fract() == 0.0);
            match below {
                Some(1.0) if size == 1.0 && !power.is_empty() => {
                    write!(f, "{sign}{}", power.trim_start())?;
                }
                Some(1.0) => write!(f, "{sign}{size}{power}")?,
                Some(below) => write!(f, "{sign}{}/{below}{power}", size * below)?,
                None => write!(f, "{sign}{size:.4}{power}")?,
            }
            first = false;
        }
        match first {
            true => write!(f, "0"),
            false => Ok(()),
        }
    }
}
