//! `mode`, `permits` and `take`: the options that decide how the lock is held.

use syn::Expr;

use crate::args::{string, ungrouped};
use crate::count::Count;
use crate::errors::Errors;
use crate::suggest;

/// The options that decide how the lock is held. Without any of them, it is held exclusively.
#[derive(Default)]
pub(crate) struct ModeOptions {
    pub(crate) access: Option<Access>,
    pub(crate) permits: Option<Count>,
    pub(crate) take: Option<Count>,
}

/// `mode = …`
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl ModeOptions {
    /// Reads the options, and reports those that exclude each other or can never be met.
    pub(crate) fn read(
        mode: Option<Expr>,
        permits: Option<Expr>,
        take: Option<Expr>,
        errors: &mut Errors,
    ) -> ModeOptions {
        if let (Some(_), Some(permits)) = (&mode, &permits) {
            errors.push(syn::Error::new_spanned(
                permits,
                "`mode` and `permits` exclude each other",
            ));
        }
        if let (None, Some(take)) = (&permits, &take) {
            errors.push(syn::Error::new_spanned(take, "`take` needs `permits`"));
        }
        let access = mode.and_then(|mode| access(&mode, errors));
        let mut count =
            |name, value: Option<_>| value.and_then(|value| Count::read(name, value, errors));
        let permits = count("permits", permits);
        let take = count("take", take);
        match (&permits, &take) {
            (Some(Count::Literal(1, span)), _) => {
                errors.add(*span, "`permits = 1` is an exclusive lock: leave it out")
            }
            (Some(Count::Literal(limit, _)), Some(Count::Literal(take, span))) if take > limit => {
                errors.add(
                    *span,
                    format_args!("{take} of {limit} permits can never be had"),
                );
            }
            _ => (),
        }
        ModeOptions {
            access,
            permits,
            take,
        }
    }

    /// As [`read`](ModeOptions::read), for several keys, which are locked exclusively.
    pub(crate) fn read_beside_keys(
        mode: Option<Expr>,
        permits: Option<Expr>,
        take: Option<Expr>,
        errors: &mut Errors,
    ) -> ModeOptions {
        let share = match permits {
            // The other options are part of this mistake.
            Some(permits) => Some(permits),
            None => {
                let options = ModeOptions::read(mode.clone(), None, take, errors);
                if !options.is_share() {
                    return options;
                }
                mode
            }
        };
        errors.push(syn::Error::new_spanned(
            share,
            "`keys` are locked exclusively; `mode` and `permits` are for one key",
        ));
        ModeOptions::default()
    }

    /// Whether others may hold the lock at the same time.
    pub(crate) fn is_share(&self) -> bool {
        self.access == Some(Access::Read) || self.permits.is_some()
    }
}

/// Words that other libraries have for the two kinds of access.
const SYNONYMS: [(&str, &[&str]); 2] = [
    ("read", &["shared", "share", "s", "r", "ro", "readonly"]),
    ("write", &["exclusive", "x", "w", "rw", "readwrite"]),
];

/// Reads `"read"` or `"write"` and reports anything else, with the one that was probably meant.
fn access(value: &Expr, errors: &mut Errors) -> Option<Access> {
    let text = string(value).map(|text| text.value());
    match text.as_deref() {
        Some("read") => return Some(Access::Read),
        Some("write") => return Some(Access::Write),
        _ => (),
    }
    let is_text = text.is_some();
    let hint = match text.or_else(|| name(value)).as_deref().and_then(meant) {
        Some(word) => format!("; did you mean `\"{word}\"`?"),
        None if is_text => String::new(),
        None => ", as a literal".to_owned(),
    };
    let message = format!("`mode` is `\"read\"` or `\"write\"`{hint}");
    errors.push(syn::Error::new_spanned(value, message));
    None
}

/// The last name of a path, such as `Read` of `Mode::Read`.
fn name(value: &Expr) -> Option<String> {
    match ungrouped(value) {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

fn meant(written: &str) -> Option<&'static str> {
    let letters = written.chars().filter(|letter| letter.is_alphabetic());
    let written = letters.flat_map(char::to_lowercase).collect::<String>();
    let synonym = SYNONYMS
        .iter()
        .find(|(_, others)| others.contains(&&*written));
    synonym
        .map(|(word, _)| *word)
        .or_else(|| suggest::closest(&written, SYNONYMS.map(|(word, _)| word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<Expr> {
        (!text.is_empty()).then(|| syn::parse_str(text).unwrap())
    }

    /// The messages about three values, each empty if the option is left out.
    fn messages([mode, permits, take]: [&str; 3]) -> Vec<String> {
        let mut errors = Errors::default();
        ModeOptions::read(value(mode), value(permits), value(take), &mut errors);
        errors.messages()
    }

    #[test]
    fn keys_are_never_shared() {
        let messages = |[mode, permits, take]: [&str; 3]| {
            let [mode, permits, take] = [mode, permits, take].map(value);
            let mut errors = Errors::default();
            ModeOptions::read_beside_keys(mode, permits, take, &mut errors);
            errors.messages()
        };
        assert_eq!(messages(["", "", ""]), [""; 0]);
        assert_eq!(messages(["\"write\"", "", ""]), [""; 0]);
        for shared in [
            ["\"read\"", "", ""],
            ["", "5", ""],
            ["", "1", ""],
            ["\"read\"", "5", "2"],
            ["\"write\"", "LIMIT", "6"],
        ] {
            assert_eq!(
                messages(shared),
                ["`keys` are locked exclusively; `mode` and `permits` are for one key"],
                "{shared:?}"
            );
        }
        assert_eq!(messages(["", "", "2"]), ["`take` needs `permits`"]);
    }

    #[test]
    fn options_that_fit_each_other_are_read() {
        for written in [
            ["", "", ""],
            ["\"read\"", "", ""],
            ["(\"write\")", "", ""],
            ["", "5", ""],
            ["", "5", "5"],
            ["", "5", "TAKE"],
            ["", "LIMIT", "6"],
            ["", "2", "1"],
        ] {
            assert_eq!(messages(written), [""; 0], "{written:?}");
        }
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        for (written, message) in [
            (
                ["\"read\"", "5", ""],
                "`mode` and `permits` exclude each other",
            ),
            (
                ["\"write\"", "LIMIT", "2"],
                "`mode` and `permits` exclude each other",
            ),
            (["", "", "2"], "`take` needs `permits`"),
            (["\"read\"", "", "2"], "`take` needs `permits`"),
            (["", "5", "6"], "6 of 5 permits can never be had"),
            (
                ["", "1", ""],
                "`permits = 1` is an exclusive lock: leave it out",
            ),
            (
                ["", "1", "2"],
                "`permits = 1` is an exclusive lock: leave it out",
            ),
            (["", "0", "2"], "`permits` must be at least 1"),
            (["", "5", "0"], "`take` must be at least 1"),
        ] {
            assert_eq!(messages(written), [message], "{written:?}");
        }
    }

    #[test]
    fn near_miss_of_a_mode_suggests_the_one_meant() {
        for (word, others) in [
            (
                "read",
                "\"shared\" \"Read\" \"READ\" \"reader\" \"read_only\" \"r\" read Read Mode::Read Shared",
            ),
            (
                "write",
                "\"exclusive\" \"Write\" \"wirte\" \"writer\" \"read-write\" \"w\" write Mode::Exclusive",
            ),
        ] {
            for written in others.split(' ') {
                let message =
                    format!("`mode` is `\"read\"` or `\"write\"`; did you mean `\"{word}\"`?");
                assert_eq!(messages([written, "", ""]), [message], "{written}");
            }
        }
    }

    #[test]
    fn other_value_of_a_mode_is_refused_with_both_words() {
        for written in ["\"\"", "\"upgrade\""] {
            let message = "`mode` is `\"read\"` or `\"write\"`";
            assert_eq!(messages([written, "", ""]), [message], "{written}");
        }
        for written in ["1", "MODE", "self.mode", "if true { 1 } else { 2 }"] {
            let message = "`mode` is `\"read\"` or `\"write\"`, as a literal";
            assert_eq!(messages([written, "", ""]), [message], "{written}");
        }
    }

    #[test]
    fn reader_and_permit_are_shares() {
        let is_share = |mode, permits| {
            let mut errors = Errors::default();
            ModeOptions::read(value(mode), value(permits), None, &mut errors).is_share()
        };
        assert!(is_share("\"read\"", "") && is_share("", "5") && is_share("", "LIMIT"));
        assert!(!is_share("", "") && !is_share("\"write\"", ""));
    }
}
