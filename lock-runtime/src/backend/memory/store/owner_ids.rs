//! Assigns owner ids in the order of first attempts.

use crate::lease::owner_id::OwnerId;

/// Numbers the owners of one store. Owner ids compare like their numbers, so they rise along each queue.
#[derive(Debug, Default)]
pub(crate) struct OwnerIds {
    last: u64,
}

impl OwnerIds {
    /// Returns an owner id that is greater than all before.
    pub(crate) fn next(&mut self) -> OwnerId {
        self.last += 1;
        let (mut digits, mut rest) = ([b'0'; OwnerId::LEN], self.last);
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        OwnerId::parse_prefix(&digits).expect("digits are base64url")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_ids_rise_over_every_number_of_digits() {
        let mut ids = OwnerIds::default();
        let owners: Vec<_> = (0..1_200).map(|_| ids.next()).collect();
        assert!(owners.is_sorted_by(|one, next| one < next));
        assert_eq!(owners[1_199].as_str(), "0000000000000000001200");
    }
}
