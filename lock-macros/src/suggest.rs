//! Finds the name that a misspelt one was meant to be, for "did you mean …?".

/// The candidate closest to a misspelt `name`: similar in spelling, or abbreviated by it, as
/// `order_id` is by `oid`.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter_map(|candidate| Some((cost(name, candidate)?, candidate)))
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, candidate)| candidate)
}

/// Converts a name to Rust's spelling: `leaseTime` becomes `lease_time`.
pub(crate) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// The distance of a candidate from a name. `None` if it is too far for a suggestion.
fn cost(name: &str, candidate: &str) -> Option<usize> {
    let (name, candidate) = (name.to_lowercase(), candidate.to_lowercase());
    let distance = distance(&name, &candidate);
    let tolerated = (name.chars().count().max(candidate.chars().count()) / 3).max(1);
    if distance <= tolerated {
        return Some(distance);
    }
    // A single letter abbreviates too many names.
    (name.chars().count() > 1 && abbreviates(&name, &candidate)).then_some(100 + distance)
}

/// Whether the letters of `short` occur in `long` in this order, from its first letter on.
fn abbreviates(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    short
        .chars()
        .enumerate()
        .all(|(at, wanted)| match letters.next() {
            Some(first) if at == 0 => first == wanted,
            Some(next) => next == wanted || letters.any(|letter| letter == wanted),
            None => false,
        })
}

/// Edit distance in which a swap of two neighbours counts as one edit.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows = vec![(0..=right.len()).collect::<Vec<_>>()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let differs = usize::from(left[i - 1] != right[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, snake};

    #[test]
    fn camel_case_becomes_snake_case() {
        for (name, expected) in [
            ("leaseTime", "lease_time"),
            ("Key", "key"),
            ("lease_time", "lease_time"),
        ] {
            assert_eq!(snake(name), expected);
        }
    }

    #[test]
    fn misspelt_or_abbreviated_name_is_recognised() {
        let arguments = ["order_id", "tenant", "amount"];
        assert_eq!(closest("oder_id", arguments), Some("order_id"));
        assert_eq!(closest("oid", arguments), Some("order_id"));
        assert_eq!(closest("tenatn", arguments), Some("tenant"));
        assert_eq!(closest("Amount", arguments), Some("amount"));
        assert_eq!(closest("ttl", ["tll", "tenant"]), Some("tll"));
    }

    #[test]
    fn unrelated_name_is_not_suggested() {
        assert_eq!(closest("user", ["order_id", "tenant"]), None);
        assert_eq!(closest("o", ["order_id"]), None);
        assert_eq!(closest("x", []), None);
    }
}
