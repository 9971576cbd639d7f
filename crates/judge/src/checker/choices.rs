//! Bitwise operations and selections: shown for both values of a bit.

use machine::domain::Logic;
use machine::domain::public::{Public, PublicBit};
use machine::domain::variable::{BitValue, Def, Value, VarId};

use crate::checker::form::{Form, World, bit as number};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

const WRONG: &str = "the word is not the result of its bits";

/// A word that is one of two numbers by a variable that is 0 or 1: the variable, and the number in each case.
struct Selector {
    bit: VarId,
    cases: [i128; 2],
}

impl Checker<'_> {
    /// `k v + c` of a bit `v`.
    fn selector(&mut self, value: Value) -> Check<Selector> {
        let mut form = Form::of(value)?;
        loop {
            let mut terms = form.terms.iter();
            let (Some((bit, k)), None) = (terms.next().copied(), terms.next()) else {
                return Err(WRONG);
            };
            let range = self.range(bit)?;
            if range.0 >= 0 && range.1 <= 1 {
                let cases = [form.constant, form.constant + k];
                return Ok(Selector { bit, cases });
            }
            if !self.expand(&mut form, bit)? {
                return Err(WRONG);
            }
        }
    }

    pub(super) fn logic(&mut self, op: Logic, w: u32, [a, b]: [Value; 2], out: Value) -> Check {
        let full = (1i128 << w) - 1;
        let same = |x: Value| if x == out { Ok(()) } else { Err(WRONG) };
        if let Value::Var(v) = out
            && self.is_new(v)
        {
            if op == Logic::Xor {
                self.xors.insert(v, (w, [a, b]));
            }
            return self.name(v, (0, full));
        }
        if a == b {
            return match op {
                Logic::And | Logic::Or => same(a),
                Logic::Xor => same(Value::ZERO),
            };
        }
        let ways = [(a, b), (b, a)];
        for (number, x) in ways {
            if let Value::Public(Public::Known(k)) = number
                && self.with_number(op, w, k, x, out).is_ok()
            {
                return Ok(());
            }
        }
        for (word, masked) in ways {
            if op == Logic::Xor && self.exchanged(w, word, masked, out).is_ok() {
                return Ok(());
            }
        }
        // Numbers below 2^j are words of j bits.
        let ranges = [self.range_of(a)?, self.range_of(b)?];
        let fit = |ones: i128| {
            ranges
                .iter()
                .all(|(least, most)| *least >= 0 && *most <= ones)
        };
        let narrow = [8, 16].map(|j| (1 << j) - 1);
        let narrow = narrow.into_iter().filter(|ones| *ones < full && fit(*ones));
        for ones in [full].into_iter().chain(narrow) {
            for (mask, x) in ways {
                if self.under_mask(op, ones, mask, x, out).is_ok() {
                    return Ok(());
                }
            }
        }
        if op != Logic::And && self.one_of([a, b], out).is_ok() {
            return Ok(());
        }
        // No bit is in both: one is a multiple of a power of 2 above the other, or both are bits of which one at
        // most is set.
        let sum = Form::of(a)?.with(b, 1)?;
        if op == Logic::And {
            return Err(WRONG);
        }
        self.range_of(out)?;
        self.vanishes(sum.clone().with(out, -1)?, None, &World::new())?;
        let bits = [self.range_of(a)?, self.range_of(b)?];
        let are_bits = bits.iter().all(|range| range.0 >= 0 && range.1 <= 1);
        let apart = are_bits && self.lies(&Form::of(out)?, (0, 1)).is_ok();
        let mut apart = apart;
        for (high, low) in ways {
            let zeros = self.low_zeros(high)?;
            let (least, most) = self.range_of(low)?;
            apart |= zeros > 0 && least >= 0 && most >> zeros == 0;
        }
        if !apart {
            return Err(WRONG);
        }
        match out {
            Value::Var(v) => self.narrow(v, (0, full)),
            Value::Public(_) => Ok(()),
        }
    }

    /// `number op x`.
    fn with_number(&mut self, op: Logic, w: u32, number: u64, x: Value, out: Value) -> Check {
        let full = (1u64 << w) - 1;
        let is = |found: bool| if found { Ok(()) } else { Err(WRONG) };
        match (op, number) {
            (Logic::And, 0) => is(out == Value::ZERO),
            (Logic::Or | Logic::Xor, 0) => is(out == x),
            (Logic::And, k) if k == full => is(out == x),
            (Logic::Xor, k) if k == full => {
                self.range_of(out)?;
                let rest = Form::number(full.into()).with(x, -1)?.with(out, -1)?;
                self.vanishes(rest, None, &World::new())
            }
            (Logic::And, k) => {
                if let (Value::Var(v), Value::Public(Public::Known(n))) = (x, out)
                    && let Some((count, bits)) = self.low_bits.get(&v)
                {
                    return is(k >> count == 0 && n == bits & k);
                }
                // A run of ones.
                let low = k.trailing_zeros();
                let run = k >> low;
                if run & (run + 1) != 0 {
                    return Err(WRONG);
                }
                let bits = self.part(x, w, low, run.trailing_ones())?;
                let sum = Form::default().with(bits, 1 << low)?;
                self.range_of(out)?;
                self.vanishes(sum.with(out, -1)?, None, &World::new())
            }
            // Ones down from the top, and what is below them.
            (Logic::Or, k) => {
                let low = k.trailing_zeros();
                if low == 0 || k >> low != full >> low {
                    return Err(WRONG);
                }
                let below = self.part(x, w, 0, low)?;
                let sum = Form::number(k.into()).with(below, 1)?;
                self.range_of(out)?;
                self.vanishes(sum.with(out, -1)?, None, &World::new())
            }
            (Logic::Xor, _) => Err(WRONG),
        }
    }

    /// `a ^ (t x)` where `x = a ^ b` of words of `w` bits: `b` if the bit `t` is set, else `a`.
    fn exchanged(&mut self, w: u32, a: Value, masked: Value, out: Value) -> Check {
        let Value::Var(masked) = masked else {
            return Err(WRONG);
        };
        let Def::Product { a: t, b: x } = self.def(masked)? else {
            return Err(WRONG);
        };
        let b = match self.xors.get(&x) {
            Some((of, [c, d])) if *of == w && *c == a => *d,
            Some((of, [c, d])) if *of == w && *d == a => *c,
            Some(_) | None => return Err(WRONG),
        };
        self.range_of(out)?;
        let worlds = self.worlds(BitValue::Var(t))?;
        for (world, word) in worlds.iter().zip([b, a]) {
            self.vanishes(Form::of(word)?.with(out, -1)?, None, world)?;
        }
        Ok(())
    }

    /// `a | b` or `a ^ b` where a bit leaves one of them 0, whichever value it has: the other one.
    fn one_of(&mut self, [a, b]: [Value; 2], out: Value) -> Check {
        let Value::Var(product) = a else {
            return Err(WRONG);
        };
        let Def::Product { a: t, .. } = self.def(product)? else {
            return Err(WRONG);
        };
        for word in [a, b, out] {
            self.range_of(word)?;
        }
        for world in &self.worlds(BitValue::Var(t))? {
            let is_zero = |word| self.vanishes(Form::of(word)?, None, world);
            let left = match (is_zero(a), is_zero(b)) {
                (Ok(()), _) => b,
                (Err(_), Ok(())) => a,
                (Err(_), Err(why)) => return Err(why),
            };
            self.vanishes(Form::of(left)?.with(out, -1)?, None, world)?;
        }
        Ok(())
    }

    /// `mask op x`, where the mask is all ones or all zeros by a bit, or both are bits.
    fn under_mask(&mut self, op: Logic, full: i128, mask: Value, x: Value, out: Value) -> Check {
        let Selector { bit, cases } = self.selector(mask)?;
        self.range_of(out)?;
        let range = self.range_of(x)?;
        let bits = cases == [0, 1] || cases == [1, 0];
        // The ones of this operation.
        let ones = match bits && range.0 >= 0 && range.1 <= 1 {
            true => 1,
            false => full,
        };
        let mut range = None;
        for (value, case) in cases.into_iter().enumerate() {
            let is_set = match case {
                0 => false,
                case if case == ones => true,
                _ => return Err(WRONG),
            };
            let wanted = match (op, is_set) {
                (Logic::And, false) => Form::default(),
                (Logic::And, true) | (Logic::Or | Logic::Xor, false) => Form::of(x)?,
                (Logic::Or, true) => Form::number(ones),
                (Logic::Xor, true) => Form::number(ones).with(x, -1)?,
            };
            let (low, high) = self.naive(&wanted)?;
            range = Some(match range {
                None => (low, high),
                Some((least, most)) => (low.min(least), high.max(most)),
            });
            let mut world = vec![(bit, number(value == 1))];
            if let Some(([(t, -1)], 1)) = self.sum(bit) {
                world.push((*t, number(value == 0)));
            }
            if value == 1 {
                let others = self.follows.get(&bit).into_iter().flatten();
                world.extend(others.map(|other| (*other, Value::ONE)));
            }
            self.vanishes(wanted.with(out, -1)?, None, &world)?;
        }
        match (out, range) {
            (Value::Var(v), Some(range)) => {
                self.range(v)?;
                self.narrow(v, range)?;
                // A mask k b is as wide as its bit.
                if let Some(([(bit, k)], 0)) = self.sum(v)
                    && *k > 0
                {
                    let k = i128::from(*k);
                    let least = -(-range.0).div_euclid(k);
                    return self.narrow(*bit, (least, range.1.div_euclid(k)));
                }
                Ok(())
            }
            (Value::Public(_), _) | (_, None) => Ok(()),
        }
    }

    /// How many low bits of a word are certainly 0.
    fn low_zeros(&self, value: Value) -> Check<u32> {
        let mut form = Form::of(value)?;
        if let Value::Var(v) = value {
            self.expand(&mut form, v)?;
        }
        let factors = form.terms.iter().map(|(_, by)| by.trailing_zeros());
        Ok(factors
            .chain([form.constant.trailing_zeros()])
            .min()
            .unwrap_or(0)
            .min(64))
    }

    /// What is supposed where a bit is set, and where it is not.
    fn worlds(&mut self, bit: BitValue) -> Check<[World; 2]> {
        let worlds = match bit {
            BitValue::Zero { word, is } => {
                let named = self.zeros.get(&(word, is)).copied();
                let opposite = self.zeros.get(&(word, !is)).copied();
                let world = |set: bool| {
                    let mut world = World::new();
                    world.extend(named.map(|v| (v, number(set))));
                    world.extend(opposite.map(|v| (v, number(!set))));
                    if set == is {
                        world.push((word, Value::ZERO));
                    }
                    world
                };
                [world(true), world(false)]
            }
            BitValue::Public(_) | BitValue::Var(_) | BitValue::Top { .. } | BitValue::Opaque => {
                let form = self.bit_form(bit)?;
                let mut terms = form.terms.iter();
                let (Some((v, 1)), None, 0) = (terms.next(), terms.next(), form.constant) else {
                    return Err("a choice is made by no bit");
                };
                let (v, range) = (*v, self.range(*v)?);
                if range.0 < 0 || range.1 > 1 {
                    return Err("a choice is made by no bit");
                }
                let mut worlds = [true, false].map(|set| vec![(v, number(set))]);
                // 1 - t of a bit t.
                if let Some(([(t, -1)], 1)) = self.sum(v) {
                    for (world, set) in worlds.iter_mut().zip([false, true]) {
                        world.push((*t, number(set)));
                    }
                }
                for world in &mut worlds {
                    if let Some((word, is)) = self.zero_bits.get(&v).copied()
                        && (world[0].1 == Value::ONE) == is
                    {
                        world.push((word, Value::ZERO));
                    }
                }
                worlds
            }
        };
        let mut worlds = worlds;
        for world in &mut worlds {
            let known = world.iter().filter_map(|literal| self.equal.get(literal));
            let known: Vec<_> = known.flatten().copied().collect();
            world.extend(known);
        }
        Ok(worlds)
    }

    pub(super) fn selected(
        &mut self,
        bit: BitValue,
        w: u32,
        [x, y]: [Value; 2],
        out: Value,
    ) -> Check {
        let full = (1i128 << w) - 1;
        if let Value::Var(v) = out
            && self.is_new(v)
        {
            return self.name(v, (0, full));
        }
        let same = if x == out && y == out {
            Ok(())
        } else {
            Err(WRONG)
        };
        if let BitValue::Public(PublicBit::Known(b)) = bit {
            let right = if b { x } else { y };
            return if right == out { Ok(()) } else { Err(WRONG) };
        }
        if same.is_ok() {
            return same;
        }
        let worlds = self.worlds(bit)?;
        self.range_of(out)?;
        let mut range = (i128::MAX, i128::MIN);
        for value in [x, y] {
            let (least, most) = self.range_of(value)?;
            range = (range.0.min(least), range.1.max(most));
        }
        let both = worlds.iter().zip([x, y]);
        let mut both = both.map(|(world, value)| self.is_in(out, value, w, world));
        let in_cases = both.by_ref().collect::<Check>();
        drop(both);
        if in_cases.is_err() {
            self.stays(bit, [x, y], out)?;
        }
        if let Value::Var(v) = out {
            self.range(v)?;
            self.narrow(v, range)?;
            self.chosen.entry(v).or_insert(([x, y], worlds));
        }
        Ok(())
    }

    /// Is `out` the word `value` in this world?
    fn is_in(&mut self, out: Value, value: Value, w: u32, world: &World) -> Check {
        let full = (1i128 << w) - 1;
        let rest = Form::of(value)?.with(out, -1)?;
        if self.vanishes(rest.clone(), None, world).is_ok() {
            return Ok(());
        }
        // Both are words: it is enough that they agree modulo 2^w. What left them is the same then.
        self.lies(&Form::of(out)?, (0, full))?;
        self.lies(&Form::of(value)?, (0, full))?;
        // Where two numbers are equal, it does not matter which of them it is.
        let equal = world.iter().filter(|(_, value)| *value == Value::ZERO);
        let equal: Vec<_> = equal.flat_map(|(d, _)| self.equations_of(*d)).collect();
        for difference in equal {
            for sign in [1, -1] {
                let sum = self.plus(rest.clone(), &difference, sign)?;
                if self.vanishes(sum, Some(w), world).is_ok() {
                    return Ok(());
                }
            }
        }
        self.vanishes(rest.clone(), Some(w), world)?;
        let left = self.rest(rest, None, world)?;
        let mut terms = left.terms.iter().rev();
        let same = match (terms.next(), terms.next(), terms.next(), left.constant) {
            (Some((c, _)), None, None, 0) => Some((*c, Value::ZERO)),
            (Some((c, k)), Some((o, l)), None, 0) if *k == -*l => Some((*c, Value::Var(*o))),
            _ => None,
        };
        if let (Some(same), Some(literal)) = (same, world.first()) {
            self.equal.entry(*literal).or_default().push(same);
        }
        Ok(())
    }

    /// A carry `out` that is `x` where two numbers are equal and `y` where they are not, or the other way round: no
    /// other value is left for it.
    fn stays(&mut self, bit: BitValue, [x, y]: [Value; 2], out: Value) -> Check {
        let d = match bit {
            BitValue::Zero { word, is } => Some((word, is)),
            BitValue::Var(v) => self.zero_bits.get(&v).copied(),
            BitValue::Public(_) | BitValue::Top { .. } | BitValue::Opaque => None,
        };
        let (d, is) = d.ok_or("a choice is not what its cases are")?;
        let Value::Var(k) = out else {
            return Err("a choice is not what its cases are");
        };
        let most = self.range(d)?.1;
        let hints = std::mem::take(&mut self.around);
        let mut known = self.equations_of(d);
        let replaced = hints.last().map(|by| self.combined(by)).transpose()?;
        if let Some(other) = self.opposite.take() {
            known.extend(self.equations_of(other));
        }
        let mut further = Vec::new();
        for (sign, form) in [-1, 1].into_iter().zip(&known) {
            if let Some(replaced) = &replaced {
                further.push(self.plus(form.clone(), replaced, sign)?);
            }
        }
        if let [d, e] = &known[..] {
            further.push(self.plus(d.clone(), e, 1)?);
        }
        known.extend(further);
        self.bound_with(k, 1, &hints, &known)?;
        let own = self.sum(k).map(|_| vec![(k, 1)]);
        let hints: Vec<_> = hints.into_iter().chain(own).collect();
        for (value, set) in [(x, true), (y, false)] {
            let there = if set == is { (0, 0) } else { (1, most) };
            self.lies(&Form::of(value)?, (0, 1))?;
            for wrong in [0, 1] {
                let mut supposed = vec![(d, there), (k, (wrong, wrong))];
                match value {
                    Value::Var(v) if v == k => continue,
                    Value::Var(v) => supposed.push((v, (1 - wrong, 1 - wrong))),
                    Value::Public(Public::Known(n)) if i128::from(n) == wrong => continue,
                    Value::Public(_) => {}
                }
                self.refuted_with(&supposed, &hints, &known)?;
            }
        }
        Ok(())
    }

    pub(super) fn selected_bit(
        &mut self,
        bit: BitValue,
        [x, y]: [BitValue; 2],
        out: BitValue,
    ) -> Check {
        let wrong = Err("the bit is not one of those it is chosen from");
        match (bit, out) {
            (_, BitValue::Opaque) => return Ok(()),
            (BitValue::Public(PublicBit::Known(b)), out) => {
                return if out == if b { x } else { y } {
                    Ok(())
                } else {
                    wrong
                };
            }
            (_, out) if x == out && y == out => return Ok(()),
            _ => {}
        }
        let worlds = self.worlds(bit)?;
        let value = self.bit_form(out)?;
        for (world, bit) in worlds.iter().zip([x, y]) {
            let mut rest = self.bit_form(bit)?;
            rest.constant -= value.constant;
            for (v, by) in &value.terms {
                rest.add(*v, -by)?;
            }
            self.vanishes(rest, None, world)?;
        }
        if let BitValue::Var(v) = out {
            self.range(v)?;
            self.narrow(v, (0, 1))?;
        }
        Ok(())
    }

    pub(super) fn gate(&mut self, op: Logic, x: BitValue, y: BitValue, out: BitValue) -> Check {
        use BitValue::{Opaque, Public as P};
        let wrong = Err("the bit is not the result of its operation");
        if out == Opaque {
            return Ok(());
        }
        for (known, other) in [(x, y), (y, x)] {
            let P(PublicBit::Known(known)) = known else {
                continue;
            };
            match (op, known) {
                (Logic::And, true) | (Logic::Or | Logic::Xor, false) if out == other => {
                    return Ok(());
                }
                (Logic::And, false) if out == P(PublicBit::Known(false)) => return Ok(()),
                (Logic::Or, true) if out == P(PublicBit::Known(true)) => return Ok(()),
                (Logic::Xor, true) => {
                    if let (
                        BitValue::Zero { word, is },
                        BitValue::Zero {
                            word: same,
                            is: opposite,
                        },
                    ) = (other, out)
                        && word == same
                        && is != opposite
                    {
                        return Ok(());
                    }
                    let (other, out) = (self.bit_form(other)?, self.bit_form(out)?);
                    let mut rest = other;
                    rest.constant += out.constant - 1;
                    for (v, by) in &out.terms {
                        rest.add(*v, *by)?;
                    }
                    return self.vanishes(rest, None, &World::new());
                }
                _ => {}
            }
        }
        match (op, x, y) {
            (Logic::And, BitValue::Var(c), BitValue::Zero { word, is: false })
            | (Logic::And, BitValue::Zero { word, is: false }, BitValue::Var(c)) => {
                let out = self.bit_form(out)?;
                self.is_higher(c, word, &out)
            }
            _ => wrong,
        }
    }
}
