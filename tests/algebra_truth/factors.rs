//! Factors of polynomials are whole numbers, the finder's and the checker's; and which of the finder's terms is next.

use lozenge::checker::number::Number;
use lozenge::domain::due::Due;
use lozenge::domain::scaled::Scaled;
use num_bigint::BigInt;

/// Sums, products and quotients as those of whole numbers, small and large.
#[test]
fn the_finder_s_factors_are_whole_numbers() {
    let ends = [0i128, 1, -1, 3, i64::MAX.into(), i64::MIN.into(), 12 << 70];
    let shifts = [0u64, 1, 61, 62, 63, 64, 200];
    let all = || ends.into_iter().flat_map(|x| shifts.map(|i| (x, i)));
    for (x, i) in all() {
        let first = Scaled::new(x, i);
        let value = BigInt::from(x) << i;
        assert_eq!(first.value(), value);
        assert_eq!(first.is_negative(), x < 0);
        assert_eq!(first.is_positive(), x > 0);
        assert_eq!(first.odd_bits(), first.odd().bits());
        assert_eq!(first.carried(3).value(), -&value << 3);
        for bits in shifts {
            let zeros = value.trailing_zeros();
            assert_eq!(first.vanishes(bits), zeros.is_none_or(|z| z >= bits));
            let whole = zeros.is_none_or(|z| z >= bits);
            let quotient = first.divided(-1, bits).map(|q| q.value());
            assert_eq!(quotient, whole.then(|| -(&value >> bits)));
        }
        for (y, j) in all() {
            let second = Scaled::new(y, j);
            let mut sum = first.clone();
            sum.add(&second);
            assert_eq!(sum.value(), &value + second.value());
            assert_eq!(first.times_large(y).value(), &value * y);
            assert_eq!(first.times_wide(y).value(), &value * y);
        }
    }
}

/// Sums and products as those of whole numbers, small and large.
#[test]
fn the_checker_s_factors_are_whole_numbers() {
    let ends = [0i128, 1, -1, 3, i64::MAX.into(), i64::MIN.into(), 12 << 70];
    let shifts = [0u64, 1, 61, 62, 63, 64, 200];
    let value = |n: &Number| n.odd() << n.shift;
    for (x, i) in ends.iter().flat_map(|x| shifts.map(|i| (*x, i))) {
        let first = Number::new(x.into(), i);
        assert_eq!(value(&first), BigInt::from(x) << i);
        assert_eq!(first.vanishes(None), x == 0);
        let zeros = value(&first).trailing_zeros();
        for bits in shifts {
            assert_eq!(first.vanishes(Some(bits)), zeros.is_none_or(|z| z >= bits));
        }
        for (y, j) in ends.iter().flat_map(|y| shifts.map(|j| (*y, j))) {
            let second = Number::new(y.into(), j);
            let sum = value(&first) + value(&second);
            assert_eq!(value(&first.plus(&second)), sum);
            assert_eq!(value(&first.times(y, j)), (value(&first) * y) << j);
        }
    }
}

#[test]
fn the_greatest_that_is_left_is_due() {
    let one = Scaled::new(1, 0);
    let mut due = Due::default();
    assert_eq!(due.last(), None);
    for key in [3u32, 9, 5, 9] {
        due.add(key, &one, 8);
    }
    assert_eq!(due.last(), Some(9));
    // 2 less 2.
    due.add(9, &one.times(-2), 8);
    assert_eq!(due.last(), Some(5));
    assert!(due.remove(5).is_some());
    due.insert(4, one.clone());
    due.add(9, &one, 8);
    let keys = std::iter::from_fn(|| {
        let last = due.last()?;
        due.remove(last).map(|_| last)
    });
    assert_eq!(keys.collect::<Vec<_>>(), [9, 4, 3]);
    assert!(due.is_empty());
}
