//! Matches keys against patterns as Redis does.

/// Returns whether a text matches a pattern. `*` matches any text, `?` one byte, `[a-c]` one of these bytes, `[^a-c]`
/// any other byte. `\\` makes the next byte literal.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    // Where to retry if the text does not match after the last `*`: one byte further on.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        let step = match pattern.split_first() {
            Some((b'*', rest)) => {
                retry = Some((rest, text));
                pattern = rest;
                continue;
            }
            Some(_) => text
                .split_first()
                .and_then(|(&byte, after)| Some((one(pattern, byte)?, after))),
            None if text.is_empty() => return true,
            None => None,
        };
        if let Some((rest, after)) = step {
            (pattern, text) = (rest, after);
            continue;
        }
        let Some((rest, tried)) = retry else {
            return false;
        };
        let Some((_, next)) = tried.split_first() else {
            return false;
        };
        retry = Some((rest, next));
        (pattern, text) = (rest, next);
    }
}

/// Matches one byte against the beginning of a pattern, which is not `*`. Returns the remaining pattern if it matches.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match pattern {
        [b'?', rest @ ..] => Some(rest),
        [b'[', rest @ ..] => class(rest, byte),
        [b'\\', literal, rest @ ..] | [literal, rest @ ..] => (*literal == byte).then_some(rest),
        [] => None,
    }
}

/// Matches one byte against a class, after its opening bracket. An unclosed class ends with the pattern.
fn class(class: &[u8], byte: u8) -> Option<&[u8]> {
    let (is_not, mut class) = match class {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut is_in = false;
    loop {
        class = match class {
            [] => break,
            [b']', rest @ ..] => {
                class = rest;
                break;
            }
            [b'\\', literal, rest @ ..] => {
                is_in |= *literal == byte;
                rest
            }
            [from, b'-', to, rest @ ..] => {
                is_in |= (*from.min(to)..=*from.max(to)).contains(&byte);
                rest
            }
            [literal, rest @ ..] => {
                is_in |= *literal == byte;
                rest
            }
        };
    }
    (is_in != is_not).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_compared_as_by_redis() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "order:42", true),
            ("order:*", "order:42", true),
            ("order:*", "report", false),
            ("*:42", "order:1:42", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("?", "", false),
            ("??", "ab", true),
            ("[a-c]x", "bx", true),
            ("[c-a]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[ab", "a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("[\\]]", "]", true),
            ("", "", true),
            ("", "a", false),
            ("**", "a", true),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn many_stars_take_little_time() {
        let (pattern, text) = ("*a".repeat(200), "b".repeat(2_000));
        assert!(!matches(pattern.as_bytes(), text.as_bytes()));
    }
}
