//! The kernels that are linked into programs of other compilers: core, bits, method.

const EVERY: &[u32] = &[32, 64, 96, 160, 192, 256, 512, 1024];

/// Kernels of ARM: core, bits, method.
#[rustfmt::skip]
pub(super) const ARM_CELLS: &[(&str, &[u32], &str)] = &[
    ("arm7tdmi",        EVERY,                ""),
    ("arm7tdmi",        EVERY,                "--method product-scanning"),
    ("arm7tdmi",        &[32, 160, 512],      "--method operand-caching -p e=1"),
    ("arm7tdmi",        &[64, 192, 1024],     "--method operand-caching -p e=2"),
    ("arm7tdmi",        &[96, 160, 256],      "--method operand-caching -p e=3"),
    ("arm7tdmi",        &[160, 512],          "--method product-scanning --style rolled"),
    ("arm7tdmi",        &[256],               "--method product-scanning --style looped"),
    ("arm7tdmi-hw2018", EVERY,                ""),
    ("arm7tdmi-hw2018", &[160, 192, 256],     "--method product-scanning"),
    ("arm7tdmi-hw2018", &[160, 192, 1024],    "--method operand-caching -p e=3"),
];

/// Kernels of a StrongARM.
#[rustfmt::skip]
pub(super) const STRONGARM_CELLS: &[(&str, &[u32], &str)] = &[
    ("sa-1100", EVERY,       ""),
    ("sa-1100", &[160, 512], "--method product-scanning --style rolled"),
    ("sa-1110", &[192],      "--method operand-caching -p e=3"),
];

/// Kernels of MIPS32, in either byte order.
#[rustfmt::skip]
pub(super) const MIPS_CELLS: &[(&str, &[u32], &str)] = &[
    ("mips-4km",        EVERY,                ""),
    ("mips-4km",        &[32, 96, 160, 1024], "--method product-scanning"),
    ("mips-4km",        &[32, 160, 512],      "--method operand-scanning"),
    ("mips-4km",        &[64, 192],           "--method operand-caching -p e=1"),
    ("mips-4km",        &[160, 256],          "--method operand-caching -p e=4"),
    ("mips-4km",        &[192, 1024],         "--method operand-caching -p e=8"),
    ("mips-4km",        &[160, 512],          "--method product-scanning --style rolled"),
    ("mips-4km-32x16",  &[32, 160, 256, 512], ""),
    ("mips-4km-32x16",  &[64, 192],           "--method product-scanning"),
    ("mips-4km-32x16",  &[96, 1024],          "--method operand-scanning"),
];

/// Kernels of RV32IM, and of RV32IMC.
pub(super) const RISCV_CELLS: &[(&str, &[u32], &str)] = &[
    ("rv32im", EVERY, ""),
    ("rv32im", &[32, 96, 160, 512], "--method product-scanning"),
    ("rv32im", &[64, 256], "--method operand-scanning"),
    ("rv32im", &[160, 1024], "--method operand-caching -p e=4"),
];
pub(super) const RISCV_SHORT_CELLS: &[(&str, &[u32], &str)] = &[
    ("rv32imc", EVERY, ""),
    ("ibex-slow", &[96, 256], ""),
    ("hazard3", &[160, 512], "--method product-scanning"),
    ("sifive-e31", &[256], "--method operand-scanning"),
];

/// Operations other than the product of two operands of one size, on any core.
pub(super) const OPERATIONS: &[&str] = &[
    "sqr 32",
    "sqr 160",
    "mul 160x96",
    "mul 128x32",
    "mullo 96",
    "mulhi 96",
];

/// Kernels of extended cores, which no emulator knows.
#[rustfmt::skip]
pub(super) const EXTENDED_CELLS: &[(&str, &[u32], &str)] = &[
    ("mips-4km",        &[32, 160, 1024],     "--isa-ext wide-acc"),
    ("mips-4km",        &[160],               "--isa-ext wide-acc --method product-scanning"),
    ("mips-4km-32x16",  &[160],               "--isa-ext wide-acc --method operand-scanning"),
    ("mips-4km",        &[32, 160, 1024],     "--isa-ext maddhl --method operand-scanning"),
    ("mips-4km-32x16",  &[192],               "--isa-ext maddhl"),
    ("mips-4km",        &[160, 256],          "--isa-ext wide-acc,maddhl"),
    ("mips-4km",        &[160],               "--isa-ext wide-acc,autoinc"),
];
