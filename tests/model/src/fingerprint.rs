//! Fingerprints of states: 64 bits for each.

use std::hash::{Hash, Hasher};

/// Packs the fields of a state, most of which are a byte or two, and mixes them eight bytes at a time.
pub(crate) struct Fingerprint {
    mixed: u64,
    /// Fields that are not mixed in yet, and how many bits of them there are.
    fields: u128,
    bits: u32,
}

impl Fingerprint {
    pub(crate) fn of(state: &impl Hash) -> u64 {
        let mut hasher = Fingerprint {
            mixed: 0x243F_6A88_85A3_08D3,
            fields: 0,
            bits: 0,
        };
        state.hash(&mut hasher);
        hasher.finish()
    }

    #[inline(always)]
    fn add(&mut self, field: u64, bits: u32) {
        self.fields |= u128::from(field) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.mixed = mix(self.mixed, self.fields as u64);
            self.fields >>= 64;
            self.bits -= 64;
        }
    }

    /// Adds a number that is usually small: as one byte, or as nine that begin with a byte that no
    /// small number has.
    #[inline(always)]
    fn add_small(&mut self, number: u64) {
        const LARGE: u64 = 0xFF;
        if number < LARGE {
            self.add(number, 8);
        } else {
            self.add(LARGE, 8);
            self.add(number & 0xFFFF_FFFF, 32);
            self.add(number >> 32, 32);
        }
    }
}

/// Multiplies to 128 bits and folds the halves, as wyhash does. The constants are digits of π.
#[inline(always)]
fn mix(mixed: u64, word: u64) -> u64 {
    let product = u128::from(mixed ^ word) * 0x1319_8A2E_0370_7345;
    (product as u64) ^ (product >> 64) as u64 ^ 0xA409_3822_299F_31D1
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.add(byte.into(), 8);
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.add(number.into(), 8);
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.add_small(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.add_small(number);
    }

    #[inline]
    fn write_i32(&mut self, number: i32) {
        self.add_small(i64::from(number).cast_unsigned());
    }

    #[inline]
    fn write_i64(&mut self, number: i64) {
        self.add_small(number.cast_unsigned());
    }

    /// Lengths.
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.add_small(number as u64);
    }

    /// The variant of an enum.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.add_small(number.cast_unsigned() as u64);
    }

    fn finish(&self) -> u64 {
        // The number of leftover bits counts as well.
        let rest = mix(self.mixed, self.fields as u64);
        mix(rest, self.bits.into())
    }
}

/// A hasher for values that are already fingerprints.
#[derive(Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a fingerprint is a number");
    }

    #[inline]
    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
