//! `mode`, `permits` and `take`: the options that decide how the lock is held. Without any of them, it is held exclusively.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;

use crate::args::{Args, Settings, string, ungrouped};
use crate::count::Count;
use crate::errors::Errors;
use crate::suggest;

/// `mode = …`
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Reports options that exclude each other, whatever their values are. Several keys are locked exclusively.
pub(crate) fn check_written(args: &mut Args, has_keys: bool, errors: &mut Errors) {
    if has_keys && let Some(share) = take_share(args) {
        errors.push(syn::Error::new_spanned(
            share,
            "`keys` are locked exclusively; `mode` and `permits` are for one key",
        ));
        return;
    }
    if let (Some(_), Some(permits)) = (&args.mode, &args.permits) {
        errors.push(syn::Error::new_spanned(
            permits,
            "`mode` and `permits` exclude each other",
        ));
    }
    if let (None, Some(take)) = (&args.permits, &args.take) {
        errors.push(syn::Error::new_spanned(take, "`take` needs `permits`"));
    }
}

/// Takes the option that makes the lock a share, and drops the options that are part of the same mistake.
fn take_share(args: &mut Args) -> Option<Expr> {
    let is_read = |mode: &mut Expr| string(mode).is_some_and(|text| text.value() == "read");
    match args.permits.take() {
        Some(permits) => {
            (args.mode, args.take) = (None, None);
            Some(permits)
        }
        None => args.mode.take_if(is_read),
    }
}

/// Reports numbers that make no sense.
pub(crate) fn check(settings: &Settings, errors: &mut Errors) {
    match (&settings.permits, &settings.take) {
        (Some(Count::Literal(1, span)), _) => {
            errors.add(*span, "`permits = 1` is an exclusive lock: leave it out");
        }
        (Some(Count::Literal(limit, _)), Some(Count::Literal(take, span))) if take > limit => {
            errors.add(
                *span,
                format_args!("`take` is {take}, but `permits` is only {limit}"),
            );
        }
        _ => (),
    }
}

impl Settings {
    /// Whether others may hold the lock at the same time.
    pub(crate) fn is_share(&self) -> bool {
        self.mode == Some(Access::Read) || self.permits.is_some()
    }
}

/// Words that other libraries have for the two kinds of access.
const SYNONYMS: [(&str, &[&str]); 2] = [
    ("read", &["shared", "share", "s", "r", "ro", "readonly"]),
    ("write", &["exclusive", "x", "w", "rw", "readwrite"]),
];

impl Access {
    /// Reads `"read"` or `"write"`, and reports anything else with a guess at what was meant.
    pub(crate) fn read(option: &str, value: Expr, errors: &mut Errors) -> Option<Access> {
        let text = string(&value).map(|text| text.value());
        match text.as_deref() {
            Some("read") => return Some(Access::Read),
            Some("write") => return Some(Access::Write),
            _ => (),
        }
        let is_text = text.is_some();
        let hint = match text.or_else(|| name(&value)).as_deref().and_then(meant) {
            Some(word) => format!("; did you mean `\"{word}\"`?"),
            None if is_text => String::new(),
            None => ", as a literal".to_owned(),
        };
        let message = format!("`{option}` must be `\"read\"` or `\"write\"`{hint}");
        errors.push(syn::Error::new_spanned(value, message));
        None
    }
}

impl ToTokens for Access {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let glue = Span::mixed_site();
        tokens.extend(match self {
            Access::Read => quote_spanned!(glue=> __lock_rt::Access::Read),
            Access::Write => quote_spanned!(glue=> __lock_rt::Access::Write),
        });
    }
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

    fn read([mode, permits, take]: [&str; 3], has_keys: bool) -> (Settings, Vec<String>) {
        let [mode, permits, take] = [mode, permits, take].map(value);
        let mut args = Args {
            mode,
            permits,
            take,
            ..Args::default()
        };
        let mut errors = Errors::default();
        check_written(&mut args, has_keys, &mut errors);
        let settings = Settings::read(&mut args, &mut errors);
        check(&settings, &mut errors);
        (settings, errors.messages())
    }

    /// The messages about three values, each empty if the option is left out.
    fn messages(written: [&str; 3]) -> Vec<String> {
        read(written, false).1
    }

    #[test]
    fn keys_are_never_shared() {
        let messages = |written| read(written, true).1;
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
    fn contradictory_options_are_refused() {
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
            (["", "5", "6"], "`take` is 6, but `permits` is only 5"),
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
    fn near_miss_of_a_mode_suggests_the_mode() {
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
                    format!("`mode` must be `\"read\"` or `\"write\"`; did you mean `\"{word}\"`?");
                assert_eq!(messages([written, "", ""]), [message], "{written}");
            }
        }
    }

    #[test]
    fn other_value_of_a_mode_is_refused_with_both_words() {
        for written in ["\"\"", "\"upgrade\""] {
            let message = "`mode` must be `\"read\"` or `\"write\"`";
            assert_eq!(messages([written, "", ""]), [message], "{written}");
        }
        for written in ["1", "MODE", "self.mode", "if true { 1 } else { 2 }"] {
            let message = "`mode` must be `\"read\"` or `\"write\"`, as a literal";
            assert_eq!(messages([written, "", ""]), [message], "{written}");
        }
    }

    #[test]
    fn reader_and_permit_are_shares() {
        let is_share = |mode, permits| read([mode, permits, ""], false).0.is_share();
        assert!(is_share("\"read\"", "") && is_share("", "5") && is_share("", "LIMIT"));
        assert!(!is_share("", "") && !is_share("\"write\"", ""));
    }
}
