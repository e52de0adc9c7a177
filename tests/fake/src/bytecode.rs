//! The lines of a script that have code, as Lua 5.1's own compiler sees them.
//!
//! Reads what `ldump.c` of Lua 5.1 writes. Next best would be to guess from the text which lines are more than an `end`.

use std::collections::BTreeSet;

/// Lua 5.1, little-endian, `int` of 4 bytes, `size_t` of 8, instructions of 4, numbers of 8, which are not integers.
const HEADER: &[u8] = b"\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00";

/// Returns the numbers of the lines that have instructions.
pub(crate) fn lines(bytecode: &[u8]) -> BTreeSet<usize> {
    let rest = bytecode.strip_prefix(HEADER);
    let mut reader = Reader(rest.expect("the header of this platform's Lua 5.1"));
    let mut lines = BTreeSet::new();
    reader.function(&mut lines);
    lines
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn function(&mut self, lines: &mut BTreeSet<usize>) {
        self.text();
        // Its first and its last line, the numbers of its upvalues, parameters and registers, and whether it is variadic.
        self.skip(2 * 4 + 4);
        let instructions = self.int();
        self.skip(instructions * 4);
        for _ in 0..self.int() {
            self.constant();
        }
        for _ in 0..self.int() {
            self.function(lines);
        }
        let mut own: Vec<usize> = (0..self.int()).map(|_| self.int()).collect();
        // The compiler ends each function with a return of its own, which may be out of reach.
        own.pop();
        lines.extend(own);
        for _ in 0..self.int() {
            // A local variable, and where it lives.
            self.text();
            self.skip(2 * 4);
        }
        for _ in 0..self.int() {
            // The name of an upvalue.
            self.text();
        }
    }

    fn constant(&mut self) {
        match self.take::<1>() {
            [0] => {}
            [1] => self.skip(1),
            [3] => self.skip(8),
            [4] => self.text(),
            [other] => panic!("no type of a constant: {other}"),
        }
    }

    fn text(&mut self) {
        let length = u64::from_le_bytes(self.take());
        self.skip(usize::try_from(length).expect("it is in memory"));
    }

    fn int(&mut self) -> usize {
        usize::try_from(u32::from_le_bytes(self.take())).expect("it is in memory")
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().expect("it goes on");
        self.0 = rest;
        *taken
    }

    fn skip(&mut self, count: usize) {
        self.0 = &self.0[count..];
    }
}
