//! The arguments of the subcommands.

use clap::Args;
use clap_complete::Shell;
use lozenge::driver::exponentiation::Kind;
use lozenge::driver::modulo::Products;
use lozenge::facts::Style;
use lozenge::spec::modulus::{Modular, Modulus};
use lozenge::target::{Names, TargetError};
use lozenge::{Target, spec};
use num_bigint::BigUint;

use crate::cli::values::{
    AliasArg, DialectArg, DriverOp, GenOp, Given, LanguageArg, OpArg, ReduceArg, SecrecyArg,
    SortArg, Topic, bytes, gen_op, given, identifier, kernel_op, number,
};

/// How a driver exponentiates.
#[derive(Args)]
pub struct DriverArgs {
    /// How powers are computed: window (of fixed size; the whole table is read), montgomery (the ladder), or, not in
    /// constant time, sliding (windows that begin with a 1) or binary [default: window; -p window=K sets its bits]
    #[arg(
        long,
        value_name = "HOW",
        help_heading = "Drivers (modexp, modinv, rsa, rsa-public)"
    )]
    pub exponentiation: Option<Kind>,
    /// Bits of the exponent [default: those of the modulus]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Drivers (modexp, modinv, rsa, rsa-public)"
    )]
    pub exponent_bits: Option<u32>,
    /// Which kernels the driver calls: montgomery (Montgomery's products), folded (plain products and a reduction that
    /// folds) or composed (plain products, of which the driver composes Montgomery's) [default: montgomery up to 40 words]
    #[arg(
        long,
        value_name = "WHICH",
        help_heading = "Drivers (modexp, modinv, rsa, rsa-public)"
    )]
    pub products: Option<Products>,
}

/// What a modular operation works modulo.
#[derive(Args, Clone)]
pub struct ModularArgs {
    /// Modulus: a name (p256, secp160r1, 25519, opf160, p256-order ...), a number (0x.. is hexadecimal), a
    /// sum like 2^255-19 or 52542*2^144+1, or runtime: an operand, in Montgomery's operations m followed by
    /// m' = -m^-1 mod 2^w, which the kernel computes if it is runtime-bare; of redc also
    /// runtime-folded: m, -m^-1 mod 2^(n/2), 2^n - m + (2^-(n/2) mod m), and differences that the header describes
    #[arg(
        long,
        value_name = "M",
        allow_hyphen_values = true,
        help_heading = "Modulus"
    )]
    pub modulus: Option<Modulus>,
    /// How far results are reduced: below m, below 2^n, or below 2m for 4m <= 2^n [default: full]
    #[arg(long, value_enum, help_heading = "Modulus")]
    pub reduce: Option<ReduceArg>,
    /// Every number x is stored as x * 2^S mod m, so modmul and modsqr multiply by 2^-S; S = half of the bits is fast for
    /// p192, p224 and p256 [default: 0]
    #[arg(long, value_name = "S", help_heading = "Modulus")]
    pub shift: Option<u32>,
    /// What modtimes multiplies by, e.g. 121665
    #[arg(long, value_name = "K", help_heading = "Modulus")]
    pub times: Option<u32>,
}

impl ModularArgs {
    /// The modulus and the reduction, if either is given.
    pub fn modular(&self) -> Result<Option<Modular>, String> {
        match (&self.modulus, self.reduce, self.shift.or(self.times)) {
            (Some(modulus), reduce, _) => Ok(Some(Modular {
                modulus: modulus.clone(),
                reduce: reduce.unwrap_or(ReduceArg::Full).into(),
                shift: self.shift.unwrap_or(0),
                times: self.times.unwrap_or(0),
            })),
            (None, Some(_), _) => Err("--reduce needs a modulus: try --modulus p256".into()),
            (None, None, Some(_)) if self.shift.is_some() => {
                Err("--shift needs a modulus: try --modulus p192".into())
            }
            (None, None, Some(_)) => Err("--times needs a modulus: try --modulus 25519".into()),
            (None, None, None) => Ok(None),
        }
    }
}

/// What a kernel is for.
#[derive(Args, Clone)]
pub struct TargetArgs {
    /// Part it is for, e.g. atmega328p
    #[arg(long, help_heading = "Target")]
    pub mcu: Option<String>,
    /// Core it is for, e.g. arm7tdmi
    #[arg(long, help_heading = "Target")]
    pub core: Option<String>,
    /// Instruction set extension of the core, e.g. wide-acc; `list cores` names them
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Target"
    )]
    pub isa_ext: Vec<String>,
    /// Big-endian words, on cores that have them
    #[arg(long, help_heading = "Target")]
    pub big_endian: bool,
    /// Calling convention: gcc; on AVR and MSP430 iar (registers and data stack of IAR's compiler), on MSP430 mspgcc (the GNU
    /// compiler before the EABI) or, of an MSP430X, large (CALLA and RETA, all data below 64 KB)
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub abi: Option<String>,
    /// What interrupt handlers do with the multiplier of an MSP430: none (they do not use it), mask-all (what they like:
    /// they are kept out of the function), mask-per-column (out of each column), save-restore (they put back its state,
    /// which they can only on an MPY32) [default: none]
    #[arg(long, value_name = "POLICY", help_heading = "Target")]
    pub irq: Option<String>,
}

impl TargetArgs {
    /// The target.
    ///
    /// # Errors
    /// What is unknown, or does not go together.
    pub fn resolve(&self) -> Result<Target, TargetError> {
        Target::resolve(&Names {
            mcu: self.mcu.as_deref(),
            core: self.core.as_deref(),
            extensions: &self.isa_ext,
            big_endian: self.big_endian,
            abi: self.abi.as_deref(),
            irq: self.irq.as_deref(),
        })
    }
}

/// Which kernel, for what draws or shows it.
#[derive(Args)]
pub struct KernelArgs {
    /// Operation
    #[arg(value_parser = kernel_op())]
    pub op: OpArg,
    /// Bits of an operand, or of a and b: 256x64 [default: those of the modulus]
    #[arg(value_name = "BITS", allow_negative_numbers = true)]
    pub size: Option<spec::Size>,
    #[command(flatten)]
    pub modular: ModularArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Method; the cheapest of all if not given
    #[arg(long)]
    pub method: Option<String>,
    /// Parameter of the method, e.g. e=10, or plan=NAME of `list plans`
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = given)]
    pub param: Vec<Given>,
    /// Use at most N registers besides pointers and product
    #[arg(long, value_name = "N")]
    pub max_regs: Option<usize>,
    /// How much is written out: unrolled, looped (columns) or rolled (blocks, too)
    #[arg(long)]
    pub style: Option<Style>,
    /// Bytes of code at most, 8k are 8192
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_flash: Option<usize>,
    /// Bytes of stack below the return address at most
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_stack: Option<usize>,
}

/// Arguments of `show`.
#[derive(Args)]
pub struct ShowArgs {
    /// An operation, a file (an ELF object, program or library, or .S for the GNU assembler), or the word plan
    #[arg(value_name = "OP|FILE|plan")]
    pub what: String,
    /// Bits of an operand, or of a and b: 256x64 [default: those of the modulus]; the name of a plan
    #[arg(value_name = "BITS|NAME", allow_negative_numbers = true)]
    pub size: Option<String>,
    #[command(flatten)]
    pub modular: ModularArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Method; the cheapest of all if not given
    #[arg(long)]
    pub method: Option<String>,
    /// Parameter of the method, e.g. e=10, or plan=NAME of `list plans`
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = given)]
    pub param: Vec<Given>,
    /// How much is written out: unrolled, looped (columns) or rolled (blocks, too)
    #[arg(long)]
    pub style: Option<Style>,
    /// Bytes of code at most, 8k are 8192
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_flash: Option<usize>,
    /// Of a file: the function
    #[arg(long)]
    pub symbol: Option<String>,
    /// Of a file: what the function computes
    #[arg(long)]
    pub op: Option<OpArg>,
    /// Of a file: its arguments, as `check` takes them
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// Name the registers that are live, instead of counting them
    #[arg(long)]
    pub live: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `report`.
#[derive(Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Bits for the chart of cycles against size [default: powers of two around BITS]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub sizes: Vec<u32>,
    /// File to write to
    #[arg(short, long, value_name = "FILE")]
    pub output: std::path::PathBuf,
}

/// Arguments of `draw`.
#[derive(Args)]
pub struct DrawArgs {
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// In the terminal: a digit for each product, 0 the first tenth of all, 9 the last
    #[arg(long, group = "form")]
    pub ansi: bool,
    /// For papers: a tikzpicture
    #[arg(long, group = "form")]
    pub tikz: bool,
    /// One page that plays the order: play, step, speed
    #[arg(long, group = "form")]
    pub animate: bool,
    /// The dots, loads and stores as one JSON object
    #[arg(long, group = "form")]
    pub json: bool,
    /// File to write to [default: print it]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
}

/// Arguments of `gen`.
#[derive(Args)]
pub struct GenArgs {
    /// Operation
    #[arg(value_parser = gen_op())]
    pub op: GenOp,
    /// Bits of an operand, or of a and b: 256x64 [default: those of the modulus]
    #[arg(value_name = "BITS", allow_negative_numbers = true)]
    pub size: Option<spec::Size>,
    #[command(flatten)]
    pub modular: ModularArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Currents of the core, in a TOML file: source, volts, megahertz, and amperes as alu, mul, load, store, other
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub energy: Option<std::path::PathBuf>,
    /// Method; the cheapest of all if not given
    #[arg(long, help_heading = "How it is made")]
    pub method: Option<String>,
    /// Parameter of the method, e.g. e=10, or plan=NAME of `list plans`
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = given, help_heading = "How it is made")]
    pub param: Vec<Given>,
    /// Use at most N registers besides pointers and product (operand caching takes 2e + 4 on AVR)
    #[arg(long, value_name = "N", help_heading = "How it is made")]
    pub max_regs: Option<usize>,
    /// How much is written out: unrolled, looped (columns) or rolled (blocks, too)
    #[arg(long, help_heading = "How it is made")]
    pub style: Option<Style>,
    /// Bytes of code at most, 8k are 8192: the fastest kernel that fits, or a driver with such kernels
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "How it is made")]
    pub max_flash: Option<usize>,
    /// Bytes of stack below the return address at most: the fastest kernel that fits
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "How it is made")]
    pub max_stack: Option<usize>,
    /// Folder to write to; made if it does not exist
    #[arg(short, long, default_value = ".", help_heading = "Output")]
    pub output: std::path::PathBuf,
    /// Whose assembler the assembly file is for [default: gnu, or iar with --abi iar]
    #[arg(long, value_enum, help_heading = "Output")]
    pub dialect: Option<DialectArg>,
    /// Prefix of the function's name and of the file names, e.g. lz_
    #[arg(long, default_value = "", value_parser = identifier, help_heading = "Output")]
    pub prefix: String,
    /// Name of the function and of the files [default: what it computes, as mul160]
    #[arg(long, value_parser = identifier, help_heading = "Output")]
    pub name: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the steps of the proof to FILE, for `lozenge verify`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub certificate: Option<std::path::PathBuf>,
    /// Write the files even if a verdict is not "proved"; their banner says so
    #[arg(long, help_heading = "What must hold")]
    pub unproved: bool,
    /// Accept that time or addresses depend on operands: for numbers that are no secrets
    #[arg(long, help_heading = "What must hold")]
    pub variable_time: bool,
    /// If the fastest kernel leaks because the multiplier stops early: make the fastest in constant time (on ARM by method
    /// steady-rows), and say what that costs
    #[arg(
        long,
        conflicts_with = "variable_time",
        help_heading = "What must hold"
    )]
    pub constant_time: bool,
    /// Also prove that the result may overlap an operand: r=a, r=b or r=a=b
    #[arg(
        long,
        value_name = "WHERE",
        value_delimiter = ',',
        help_heading = "What must hold"
    )]
    pub alias: Vec<AliasArg>,
    /// Replace files of other kernels in the folder
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Clear all working memory but input and result before the driver returns
    #[arg(long, help_heading = "Drivers (modexp, modinv, rsa, rsa-public)")]
    pub wipe: bool,
    /// Try all methods and parameters, even if the cheapest is on record
    #[arg(long, help_heading = "How it is made")]
    pub search: bool,
    /// The fastest kernel that fits of a file that `lozenge tune` wrote
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["method", "param", "style", "max_regs", "search"],
        help_heading = "How it is made"
    )]
    pub tuned: Option<std::path::PathBuf>,
    /// Leave out one instruction, to see the proof fail
    #[arg(long, value_name = "INDEX", help_heading = "How it is made")]
    pub drop: Option<usize>,
    #[command(flatten)]
    pub driver: DriverArgs,
    /// Language of the driver; kernels are always assembly [default: asm]
    #[arg(
        long = "driver",
        value_enum,
        help_heading = "Drivers (modexp, modinv, rsa, rsa-public)"
    )]
    pub language: Option<LanguageArg>,
    /// Whether time may depend on the exponent [default: secret]
    #[arg(
        long,
        value_enum,
        help_heading = "Drivers (modexp, modinv, rsa, rsa-public)"
    )]
    pub exponent: Option<SecrecyArg>,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    /// What to execute
    pub op: DriverOp,
    /// Bits of the modulus
    #[arg(value_name = "BITS")]
    pub bits: u32,
    /// Number to exponentiate, less than the modulus; 0x.. is hexadecimal [default: random]
    #[arg(long, value_name = "N", value_parser = number)]
    pub base: Option<BigUint>,
    /// Exponent [default: random]
    #[arg(long, value_name = "N", value_parser = number)]
    pub exponent: Option<BigUint>,
    /// Modulus, odd [default: random]
    #[arg(long, value_name = "N", value_parser = number)]
    pub modulus: Option<BigUint>,
    /// Of RSA: the message or the signature, as a number [default: random]
    #[arg(long, value_name = "N", value_parser = number)]
    pub input: Option<BigUint>,
    /// Of RSA: a prime [default: random]
    #[arg(long, value_name = "N", value_parser = number)]
    pub p: Option<BigUint>,
    /// Of RSA: the other prime [default: random]
    #[arg(long, value_name = "N", value_parser = number)]
    pub q: Option<BigUint>,
    /// Of RSA: 65537^-1 mod p - 1, compared if it is given
    #[arg(long, value_name = "N", value_parser = number)]
    pub dp: Option<BigUint>,
    /// Of RSA: 65537^-1 mod q - 1, compared if it is given
    #[arg(long, value_name = "N", value_parser = number)]
    pub dq: Option<BigUint>,
    /// Of RSA: q^-1 mod p, compared if it is given
    #[arg(long, value_name = "N", value_parser = number)]
    pub qinv: Option<BigUint>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub driver: DriverArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Method of the kernels, where it computes them; the cheapest for the others
    #[arg(long)]
    pub method: Option<String>,
    /// Parameter of the method, or of the driver: window=4
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = given)]
    pub param: Vec<Given>,
    /// How much of the kernels is written out: unrolled, looped or rolled
    #[arg(long)]
    pub style: Option<Style>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Accept that time or addresses depend on the numbers: exit code 0 all the same
    #[arg(long)]
    pub variable_time: bool,
}

/// Arguments of `compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// Operation
    #[arg(value_parser = kernel_op())]
    pub op: OpArg,
    /// Bits of an operand, or of a and b: 256x64 [default: those of the modulus]
    #[arg(value_name = "BITS", allow_negative_numbers = true)]
    pub size: Option<spec::Size>,
    #[command(flatten)]
    pub modular: ModularArgs,
    /// Part; may be given more than once
    #[arg(long)]
    pub mcu: Vec<String>,
    /// Core; may be given more than once, to compare machines side by side
    #[arg(long)]
    pub core: Vec<String>,
    /// Instruction set extension of the core, e.g. wide-acc
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub isa_ext: Vec<String>,
    /// Calling convention: gcc; on AVR and MSP430 iar (registers and data stack of IAR's compiler), on MSP430 mspgcc (the GNU
    /// compiler before the EABI) or, of an MSP430X, large (CALLA and RETA, all data below 64 KB)
    #[arg(long, value_name = "NAME")]
    pub abi: Option<String>,
    /// What interrupt handlers do with the multiplier of an MSP430 [default: none]
    #[arg(long, value_name = "POLICY")]
    pub irq: Option<String>,
    /// Use at most N registers besides pointers and product (operand caching takes 2e + 4 on AVR)
    #[arg(long, value_name = "N")]
    pub max_regs: Option<usize>,
    /// How much is written out: unrolled, looped (columns) or rolled (blocks, too)
    #[arg(long)]
    pub style: Option<Style>,
    /// Currents of the core, in a TOML file: source, volts, megahertz, and amperes as alu, mul, load, store, other
    #[arg(long, value_name = "FILE")]
    pub energy: Option<std::path::PathBuf>,
    /// What the rows are sorted by
    #[arg(long, value_enum, default_value = "cycles")]
    pub sort: SortArg,
    /// Only the Pareto front: rows that no other beats in cycles and bytes, or in cycles and stack
    #[arg(long)]
    pub pareto: bool,
    /// Print one JSON object, its rows with the fields of `gen`
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print comma-separated values
    #[arg(long)]
    pub csv: bool,
    /// Also draw cycles against bytes, with the Pareto front, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<std::path::PathBuf>,
    /// Accept that time or addresses depend on operands: exit code 0 all the same
    #[arg(long)]
    pub variable_time: bool,
    /// Also list steady-rows: constant time on cores whose multiplier stops early
    #[arg(long)]
    pub constant_time: bool,
}

/// Arguments of `check`.
#[derive(Args)]
pub struct CheckArgs {
    /// ELF object, executable or static library, or a member: lib.a(member.o); or .S, .s for the GNU
    /// assembler, by way of the C preprocessor [default: with --manifest the objects beside it]
    #[arg(required_unless_present = "manifest")]
    pub file: Option<std::path::PathBuf>,
    /// The manifest of a pack: all its functions are proved in FILE, or in the objects beside it
    #[arg(long, value_name = "JSON", conflicts_with_all = ["symbol", "op", "bits", "certificate", "export"])]
    pub manifest: Option<std::path::PathBuf>,
    /// The function
    #[arg(long, required_unless_present = "manifest")]
    pub symbol: Option<String>,
    /// What it computes
    #[arg(long, required_unless_present = "manifest")]
    pub op: Option<OpArg>,
    /// Bits of an operand
    #[arg(
        long,
        allow_negative_numbers = true,
        required_unless_present = "manifest"
    )]
    pub bits: Option<spec::Size>,
    #[command(flatten)]
    pub modular: ModularArgs,
    /// Its arguments, ITEM[:BYTES][@PLACE] each: r, a, b (pointers to the operands), r=a (one pointer to
    /// both), a number, n, n8, n16, n32 (words of an operand), =s (the word s itself, not where it lies),
    /// =inverse (m' itself, which else lies behind m), scratch:BYTES[/ALIGN] (memory to use), _ (anything); PLACE is a
    /// register or sp+N, where the calling convention puts it if not given [default: r,a,b]
    #[arg(long, value_name = "LIST")]
    pub args: Option<String>,
    /// Registers it may destroy though the calling convention preserves them, e.g. r2,r4-r7
    #[arg(long, value_name = "LIST")]
    pub scratch: Option<String>,
    /// Bits of the words that operands are arrays of [default: as the function reads them]
    #[arg(long, value_parser = ["8", "16", "32"])]
    pub limb: Option<String>,
    /// Print the proof obligation as a script for SMT solvers, and prove nothing
    #[arg(long, value_parser = ["smt2"], conflicts_with = "json")]
    pub export: Option<String>,
    /// Stop a run after N instructions [default: 10000000 in a proof]
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Alignment of every operand in bytes [default: that of its words]
    #[arg(long, value_parser = ["1", "2", "4", "8"])]
    pub align: Option<String>,
    /// Write the steps of the proof to FILE, for `lozenge verify`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Currents of the core, in a TOML file: source, volts, megahertz, and amperes as alu, mul, load, store, other
    #[arg(long, value_name = "FILE")]
    pub energy: Option<std::path::PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Accept that time or addresses depend on operands: exit code 0 all the same
    #[arg(long)]
    pub variable_time: bool,
}

/// Arguments of `list`.
#[derive(Args)]
pub struct ListArgs {
    /// What to list
    pub topic: Topic,
    /// Show all about this one, e.g. `list methods karatsuba`
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Also list methods that are a product followed by a reduction
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Args)]
pub struct ManArgs {
    /// The command that the page is about [default: all of the tool]
    pub command: Option<String>,
}

/// Arguments of `reference`.
#[derive(Args)]
pub struct ReferenceArgs {
    /// Folder to write the pages to
    #[arg(short, long, value_name = "FOLDER")]
    pub output: std::path::PathBuf,
}
