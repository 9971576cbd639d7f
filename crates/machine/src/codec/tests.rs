//! A table of instructions of two lengths, whose numbers are scattered.

#![cfg(test)]

use std::sync::OnceLock;

use crate::codec::{Codec, Insn, Operands, Places, Reading, Row, decode};
use crate::isa::cost::Class;

/// Four instructions of RV32IC: two lengths, the low half first, immediates whose bits are out of order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Ops {
    d: u8,
    s: u8,
    t: u8,
    k: i32,
}

const JAL: &[u32] = &[
    19, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10, 18, 17, 16, 15, 14, 13, 12, 11,
];
const BRANCH: &[u32] = &[11, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10];
/// Name, pattern and syntax.
const ROWS: [(&str, &str, &str); 5] = [
    ("lw", "iiii iiii iiii ssss s010 dddd d000 0011", "rd, #(rs)"),
    (
        "beq",
        "bbbb bbbt tttt ssss s000 bbbb b110 0011",
        "rs, rt, @",
    ),
    ("jal", "jjjj jjjj jjjj jjjj jjjj dddd d110 1111", "rd, @"),
    ("c.li", "010i dddd diii ii01", "rd, #"),
    // Hides it where it is the same.
    ("c.nop", "0100 0000 0000 0001", ""),
];

impl Operands for Ops {
    type Op = usize;
    type Timing = ();
    type Feature = ();

    const UNIT: usize = 2;
    const HIGH_FIRST: bool = false;

    fn index(op: usize) -> usize {
        op
    }

    fn codec() -> &'static Codec<Ops> {
        static CODEC: OnceLock<Codec<Ops>> = OnceLock::new();
        CODEC.get_or_init(|| {
            let mut rows: Vec<Row<Ops, ()>> = Vec::new();
            for (op, (name, pattern, syntax)) in ROWS.into_iter().enumerate() {
                rows.push(Row {
                    op,
                    name,
                    pattern,
                    syntax,
                    flow: "d<st",
                    timing: (),
                    class: Class::Other,
                    feature: (),
                    meaning: (),
                });
            }
            Codec::of(&rows)
        })
    }

    fn reading(letter: char, _: usize, _: usize) -> Reading {
        let order = match letter {
            'j' => JAL,
            'b' => BRANCH,
            'i' => &[],
            _ => return Reading::PLAIN,
        };
        let step = if letter == 'i' { 1 } else { 2 };
        Reading {
            step,
            order,
            ..Reading::SIGNED
        }
    }

    fn get(&self, letter: char) -> i64 {
        match letter {
            'd' => self.d.into(),
            's' => self.s.into(),
            't' => self.t.into(),
            _ => self.k.into(),
        }
    }

    fn put(&mut self, letter: char, number: i64) {
        match letter {
            'd' => self.d = number as u8,
            's' => self.s = number as u8,
            't' => self.t = number as u8,
            _ => self.k = number as i32,
        }
    }

    fn places(&self, letter: char) -> Places {
        1 << self.get(letter)
    }
}

/// The bytes are GNU as's (2.40, `-march=rv32ic`).
#[test]
fn two_lengths_and_scattered_numbers() {
    let ops = |d, s, t, k| Ops { d, s, t, k };
    let cases: [(usize, Ops, &[u8], &str); 6] = [
        (
            0,
            ops(10, 11, 0, 4),
            &[0x03, 0xa5, 0x45, 0x00],
            "lw x10, 4(x11)",
        ),
        (
            0,
            ops(10, 11, 0, -4),
            &[0x03, 0xa5, 0xc5, 0xff],
            "lw x10, -4(x11)",
        ),
        (
            1,
            ops(0, 10, 11, -4),
            &[0xe3, 0x0e, 0xb5, 0xfe],
            "beq x10, x11, .-4",
        ),
        (
            2,
            ops(1, 0, 0, 2066),
            &[0xef, 0x00, 0x30, 0x01],
            "jal x1, .+2066",
        ),
        (3, ops(10, 0, 0, -1), &[0x7d, 0x55], "c.li x10, -1"),
        (4, ops(0, 0, 0, 0), &[0x01, 0x40], "c.nop"),
    ];
    let mut all = Vec::new();
    for (op, ops, bytes, text) in cases {
        let insn = Insn { op, ops };
        let mut made = Vec::new();
        insn.encode(false, &mut made).unwrap();
        assert_eq!(made, bytes, "{text}");
        let written = insn.written(insn.form().name, |operand| {
            Some(match operand {
                "rd" => format!("x{}", ops.d),
                "rs" => format!("x{}", ops.s),
                "rt" => format!("x{}", ops.t),
                "#" => ops.k.to_string(),
                "@" => format!(".{:+}", ops.k),
                _ => return None,
            })
        });
        assert_eq!(written, text);
        all.extend(made);
    }
    let read = decode(&all, |bytes| Ops::codec().decode(bytes, false, |_| true)).unwrap();
    let read: Vec<_> = read
        .into_iter()
        .map(|(at, insn)| (at, insn.op, insn.ops))
        .collect();
    let starts = [0, 4, 8, 12, 16, 18];
    let cases: Vec<_> = cases
        .iter()
        .zip(starts)
        .map(|(c, at)| (at, c.0, c.1))
        .collect();
    assert_eq!(read, cases);
    let cut = decode(&all[..2], |bytes| {
        Ops::codec().decode(bytes, false, |_| true)
    });
    assert_eq!(cut, Err(0), "half an instruction");
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    for (op, k) in [(0, 2048), (0, -2049), (1, 3), (1, 4096), (3, 32)] {
        let ops = Ops {
            k,
            ..Ops::default()
        };
        assert!(Insn { op, ops }.code().is_err(), "{} {k}", ROWS[op].0);
    }
    let insn = Ops::codec().forms[0].with(&[('d', 3), ('s', 7)]);
    assert_eq!((insn.writes(), insn.reads()), (1 << 3, 1 << 7 | 1));
}
