//! Colours for an order: from dark blue to yellow, as bright in print and for the colour-blind (after Nuñez, Anderton and
//! Renslow 2018, "cividis"; five of its colours, and mixtures of neighbours).

const SCALE: [[u8; 3]; 5] = [
    [0x00, 0x22, 0x4e],
    [0x3b, 0x49, 0x6c],
    [0x7d, 0x7c, 0x78],
    [0xbc, 0xaf, 0x6f],
    [0xfe, 0xe8, 0x38],
];

/// The colour of what comes as number `order` of `all`: red, green, blue.
pub fn of(order: usize, all: usize) -> [u8; 3] {
    let most = all.saturating_sub(1).max(1);
    let steps = SCALE.len() - 1;
    let place = order.min(most) * steps;
    let (at, over) = (place / most, place % most);
    let next = SCALE[(at + 1).min(steps)];
    let mix = |i: usize| {
        let (from, to) = (i64::from(SCALE[at][i]), i64::from(next[i]));
        (from + (to - from) * over as i64 / most as i64) as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// `#00224e`.
pub fn hex(order: usize, all: usize) -> String {
    let [red, green, blue] = of(order, all);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The nearest colour of a terminal's 6 by 6 by 6 colours.
pub fn terminal(order: usize, all: usize) -> u8 {
    let level = |value: u8| (u16::from(value) * 5 + 127) / 255;
    let [red, green, blue] = of(order, all).map(level);
    (16 + 36 * red + 6 * green + blue) as u8
}
