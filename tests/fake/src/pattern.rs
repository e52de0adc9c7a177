//! The patterns of `KEYS` and of subscribers.

/// Returns whether a name matches a pattern, in which `*` is any text and `?` any byte.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
        ([b'?', rest @ ..], [_, more @ ..]) => matches(rest, more),
        ([byte, rest @ ..], [other, more @ ..]) => byte == other && matches(rest, more),
        _ => false,
    }
}

/// Returns whether the pattern has only wildcards that [`matches`] knows.
pub(crate) fn is_known(pattern: &[u8]) -> bool {
    !pattern.iter().any(|byte| matches!(byte, b'[' | b'\\'))
}
