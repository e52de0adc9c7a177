//! Decodes percent-encoding.

use crate::error::LockError;

/// Decodes percent-encoded text. A plus sign stands for itself.
pub(super) fn decode(text: &str) -> Result<String, LockError> {
    const MALFORMED: &str =
        "the URL has a `%` that encodes no text; a `%` in a user or password is written %25";
    let malformed = || LockError::invalid_options(MALFORMED);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = rest
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or_else(malformed)?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}
