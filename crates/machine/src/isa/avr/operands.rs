//! Names of instructions, their operands, and classes of time.

/// The operands of an instruction: registers, a number, a bit number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ops {
    pub d: u8,
    pub r: u8,
    /// Constant, displacement, I/O or data address, or target (in words; relative unless JMP, CALL).
    pub k: i32,
    pub b: u8,
}

/// An instruction's name in the table.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(non_camel_case_types, clippy::upper_case_acronyms)]
pub enum Op {
    ADD, ADC, ADIW, SUB, SUBI, SBC, SBCI, SBIW, AND, ANDI, OR, ORI, EOR, COM, NEG, INC, DEC,
    MUL, MULS, MULSU, FMUL, FMULS, FMULSU,
    RJMP, IJMP, EIJMP, JMP, RCALL, ICALL, EICALL, CALL, RET, RETI,
    CPSE, CP, CPC, CPI, SBRC, SBRS, SBIC, SBIS, BRBS, BRBC,
    SBI, CBI, LSR, ROR, ASR, SWAP, BSET, BCLR, BST, BLD,
    MOV, MOVW, LDI, LDS, LDX, LDX_INC, LDX_DEC, LDDY, LDY_INC, LDY_DEC, LDDZ, LDZ_INC, LDZ_DEC,
    STS, STX, STX_INC, STX_DEC, STDY, STY_INC, STY_DEC, STDZ, STZ_INC, STZ_DEC,
    LPM, LPMZ, LPMZ_INC, ELPM, ELPMZ, ELPMZ_INC, SPM, IN, OUT, PUSH, POP, NOP, SLEEP, WDR, BREAK,
    LDS_RC, STS_RC,
}

/// What a core charges for; a core's table has one number per class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// Arithmetic, logic, moves, shifts, bits, IN, OUT.
    Alu,
    /// ADIW, SBIW.
    WordImmediate,
    Multiply,
    Load,
    LoadDisplaced,
    LoadPostIncrement,
    LoadPreDecrement,
    LoadDirect,
    Store,
    StoreDisplaced,
    StorePreDecrement,
    StoreDirect,
    LoadProgram,
    StoreProgram,
    Push,
    Pop,
    /// SBI, CBI.
    IoBit,
    /// Not taken; taken costs one more.
    Branch,
    /// Not skipping; a skip costs one more for each word skipped.
    Skip,
    /// SBIC, SBIS: the same, on a bit of an I/O register.
    SkipIo,
    RelativeJump,
    IndirectJump,
    Jump,
    RelativeCall,
    IndirectCall,
    ExtendedIndirectCall,
    Call,
    Return,
}
