//! The position of a listing.

use std::fmt;
use std::str::FromStr;

/// The most quorum nodes that a text may list as away. This is a minority of 33 nodes, and quorums have five or seven.
const MOST_AWAY: usize = 16;

/// The position of a listing, as data and as text, from which another request or another process can continue.
///
/// Created by [`Locks::position`](crate::inspect::Locks::position), which has an example. The text may contain any
/// character of the servers' names, and of keys for a memory client: escape it wherever it is shown, and encode it in a
/// link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListingPosition {
    /// The cursor of the current node; empty at its beginning.
    pub(crate) cursor: String,
    /// The quorum nodes that did not answer in their turn.
    pub(crate) away: Vec<usize>,
    /// The current node; empty for the first. For a memory client, the next key.
    pub(crate) node: String,
}

/// Writes the cursor, the nodes that were away and the current node, separated by dots. The node is last since its name
/// may contain dots.
impl fmt::Display for ListingPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.cursor)?;
        for (place, node) in self.away.iter().enumerate() {
            let between = if place == 0 { "" } else { "-" };
            write!(f, "{between}{node}")?;
        }
        write!(f, ".{}", self.node)
    }
}

/// Parses the [`Display`](fmt::Display) form. The text may come from a stranger, and can do no more than position a
/// listing.
impl FromStr for ListingPosition {
    type Err = ParseListingPositionError;

    fn from_str(text: &str) -> Result<ListingPosition, ParseListingPositionError> {
        let mut parts = text.splitn(3, '.');
        let (Some(cursor), Some(away), Some(node)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(ParseListingPositionError);
        };
        let is_cursor = cursor.is_empty() || (is_unsigned(cursor) && cursor.parse::<u64>().is_ok());
        let away = match away {
            "" => Some(Vec::new()),
            away => away
                .split('-')
                .take(MOST_AWAY + 1)
                .map(|node| node.parse().ok().filter(|_| is_unsigned(node)))
                .collect(),
        };
        match (away.and_then(bounded), is_cursor) {
            (Some(away), true) => Ok(ListingPosition {
                cursor: cursor.to_owned(),
                away,
                node: node.to_owned(),
            }),
            _ => Err(ParseListingPositionError),
        }
    }
}

/// Returns each node once, unless there are too many.
fn bounded(mut away: Vec<usize>) -> Option<Vec<usize>> {
    if away.len() > MOST_AWAY {
        return None;
    }
    away.sort_unstable();
    away.dedup();
    Some(away)
}

/// Returns whether a number has no sign: `parse` would accept a `+`.
fn is_unsigned(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The error for a text that is not the position of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseListingPositionError;

impl fmt::Display for ParseListingPositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not the position of a listing")
    }
}

impl std::error::Error for ParseListingPositionError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(cursor: &str, away: &[usize], node: &str) -> ListingPosition {
        ListingPosition {
            cursor: cursor.to_owned(),
            away: away.to_owned(),
            node: node.to_owned(),
        }
    }

    #[test]
    fn position_is_read_from_its_own_text() {
        for position in [
            position("", &[], ""),
            position("18446744073709551615", &[], ""),
            position("17", &[0, 12], "001"),
            position("3", &[], "10.0.0.7:6379"),
            position("", &[], "order:4.2-1 \u{1b}"),
        ] {
            assert_eq!(position.to_string().parse(), Ok(position));
        }
    }

    #[test]
    fn missing_nodes_are_bounded_and_listed_once() {
        let read = |away: &str| format!("7.{away}.001").parse::<ListingPosition>();
        assert_eq!(read("2-0-2-1-0"), Ok(position("7", &[0, 1, 2], "001")));
        let away = |count: usize| {
            let nodes: Vec<String> = (0..count).map(|node| node.to_string()).collect();
            nodes.join("-")
        };
        let most: Vec<usize> = (0..MOST_AWAY).collect();
        assert_eq!(read(&away(MOST_AWAY)), Ok(position("7", &most, "001")));
        assert_eq!(read(&away(MOST_AWAY + 1)), Err(ParseListingPositionError));
        assert_eq!(read(&"0-".repeat(100_000)), Err(ParseListingPositionError));
    }

    #[test]
    fn text_that_could_be_another_command_is_refused() {
        for wrong in [
            "",
            "0",
            "0.",
            "x..",
            "+1..",
            "-1..",
            "18446744073709551616..",
            "0.-.",
            "0.1-.",
            "0.x.",
            "0.+1.",
            "0 COUNT 9..",
        ] {
            assert_eq!(
                wrong.parse::<ListingPosition>(),
                Err(ParseListingPositionError),
                "{wrong}"
            );
        }
    }
}
