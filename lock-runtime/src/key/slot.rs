//! The slot of a record's name, which decides which cluster node keeps the record.

/// The number of slots of a cluster.
pub(crate) const SLOTS: usize = 16_384;

/// Returns the slot of a key.
///
/// If the key has a hash tag, the text between its first `{` and the next `}`, only the tag counts, so that all records
/// of a lock are on one node. An empty tag does not count. The algorithm is [the cluster
/// specification's](https://valkey.io/topics/cluster-spec/).
pub(crate) fn slot_of(key: &str) -> u16 {
    crc16(hash_tag(key).unwrap_or(key).as_bytes()) % SLOTS as u16
}

fn hash_tag(key: &str) -> Option<&str> {
    let (_, rest) = key.split_once('{')?;
    let (tag, _) = rest.split_once('}')?;
    (!tag.is_empty()).then_some(tag)
}

/// Computes CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        let index = (crc >> 8) as u8 ^ byte;
        (crc << 8) ^ TABLE[usize::from(index)]
    })
}

/// The remainder of each byte.
static TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        // As `CLUSTER KEYSLOT` answers.
        for (key, slot) in [
            ("foo", 12_182),
            ("bar", 5_061),
            ("lock:order:42", 1507),
            ("", 0),
        ] {
            assert_eq!(slot_of(key), slot, "{key}");
        }
    }

    #[test]
    fn only_the_first_hash_tag_counts() {
        for key in ["{foo}:w", "a{foo}b", "{foo}{bar}", "{foo"] {
            let expected = if key == "{foo" {
                slot_of("{foo")
            } else {
                slot_of("foo")
            };
            assert_eq!(slot_of(key), expected, "{key}");
        }
        assert_eq!(
            slot_of("a{}{foo}"),
            crc16(b"a{}{foo}") % 16_384,
            "an empty tag is none"
        );
        assert_eq!(slot_of("{{foo}}"), slot_of("{foo"), "up to the first brace");
        assert_eq!(slot_of("}{foo}"), slot_of("foo"));
    }
}
