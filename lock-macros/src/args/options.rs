//! Declares the options: their names, examples, and rows in the table of the attribute's page.

use std::ops::RangeInclusive;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::Expr;

use super::{boolean, rename_self_in};
use crate::count::{Count, PERMITS, RUNS};
use crate::duration::{Allowed, Length};
use crate::errors::Errors;
use crate::mode_options::Access;

/// The documentation of an option.
pub(super) struct Described {
    pub(super) name: &'static str,
    /// An example of a value, for the message about a missing or wrong one.
    sample: &'static str,
    // The cells of the page's table: the value, the default, the options that it excludes, and the servers without it.
    // Names of options are links and not code, since rustdoc breaks code anywhere on a narrow screen.
    #[cfg(test)]
    cells: [&'static str; 4],
}

/// Declares the options, each with the field that has its value.
///
/// An option that `sets` a value is a field of the runtime's options, too. It needs only a type and a function that
/// reads it: reading, checking and expansion follow from these.
macro_rules! options {
    ($($field:ident {
        name: $name:literal,
        $(sets: $type:ty = $read:expr,)?
        sample: $sample:literal,
        value: $value:literal,
        default: $default:literal,
        excludes: $excludes:literal,
        lacks: $lacks:literal,
    })*) => {
        /// The value of each option, if it was given.
        #[derive(Default)]
        pub(crate) struct Args {
            $(pub(crate) $field: Option<Expr>,)*
        }

        impl Args {
            /// The field for the value of the option with this name.
            pub(super) fn slot(&mut self, name: &str) -> Option<&mut Option<Expr>> {
                match name {
                    $($name => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }

        /// The runtime's options that the call sets. Their fields have the same names.
        #[derive(Default)]
        pub(crate) struct Settings {
            $($(pub(crate) $field: Option<$type>,)?)*
        }

        impl Settings {
            /// Takes the values from the arguments. Reports values with a mistake, and leaves them out.
            pub(crate) fn read(args: &mut Args, errors: &mut Errors) -> Settings {
                Settings {
                    $($($field: args.$field.take().and_then(|value| ($read)($name, value, errors)),)?)*
                }
            }

            /// The values that were given, each with its field.
            pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &dyn ToTokens)> {
                let all: Vec<Option<(&'static str, &dyn ToTokens)>> = vec![
                    $($(self.$field.as_ref().map(|value: &$type| (stringify!($field), value as _)),)?)*
                ];
                all.into_iter().flatten()
            }
        }

        /// Every option, in the order of the documentation.
        pub(super) const OPTIONS: &[Described] = &[
            $(Described {
                name: $name,
                sample: $sample,
                #[cfg(test)]
                cells: [$value, $default, $excludes, $lacks],
            },)*
        ];
    };
}

/// Reads a number in this range.
fn count(allowed: RangeInclusive<u32>) -> impl Fn(&str, Expr, &mut Errors) -> Option<Count> {
    move |name, value, errors| Count::read(name, value, &allowed, errors)
}

/// Reads a duration in this range.
fn length(allowed: Allowed) -> impl Fn(&str, Expr, &mut Errors) -> Option<Length> {
    move |name, value, errors| Length::read(name, value, allowed, errors)
}

options! {
    key {
        name: "key",
        sample: "\"order:<id>\"",
        value: "a template such as `\"order:<id>\"`, or an expression",
        default: "–",
        excludes: "[keys](#keys)",
        lacks: "–",
    }
    keys {
        name: "keys",
        sample: "[\"account:<from>\", \"account:<to>\"]",
        value: "several templates, or an expression: all locks or none",
        default: "–",
        excludes: "[key](#key), [mode](#mode), [permits](#permits), [retain](#retain)",
        lacks: "quorum, Redisson's record; cluster: one hash tag for all",
    }
    ttl {
        name: "ttl",
        sets: Length = length(Allowed::Lease),
        sample: "\"10s\"",
        value: "how long the lease lasts without a renewal, 20 ms to 24 h",
        default: "the client's: 30 s",
        excludes: "–",
        lacks: "quorum: no longer than its restart delay",
    }
    wait {
        name: "wait",
        sets: Length = length(Allowed::Any),
        sample: "\"10s\"",
        value: "how long to wait for the lock; `\"0s\"` makes one attempt",
        default: "the client's: 10 s",
        excludes: "–",
        lacks: "–",
    }
    mode {
        name: "mode",
        sets: Access = Access::read,
        sample: "\"read\"",
        value: "`\"read\"` or `\"write\"`",
        default: "exclusive",
        excludes: "[keys](#keys), [permits](#permits); readers: [retain](#retain), [min_hold](#min_hold)",
        lacks: "quorum, Redisson's record",
    }
    permits {
        name: "permits",
        sets: Count = count(PERMITS),
        sample: "5",
        value: "how many calls may hold the lock at once",
        default: "exclusive",
        excludes: "[keys](#keys), [mode](#mode), [retain](#retain), [min_hold](#min_hold)",
        lacks: "quorum, Redisson's record",
    }
    take {
        name: "take",
        sets: Count = count(PERMITS),
        sample: "2",
        value: "how many permits a call takes",
        default: "1",
        excludes: "needs [permits](#permits)",
        lacks: "–",
    }
    renew {
        name: "renew",
        sets: bool = boolean,
        sample: "false",
        value: "`false`: the lock is lost after one ttl",
        default: "`true`",
        excludes: "–",
        lacks: "–",
    }
    max_hold {
        name: "max_hold",
        sets: Length = length(Allowed::Hold),
        sample: "\"10s\"",
        value: "how long a call may hold the lock",
        default: "none",
        excludes: "–",
        lacks: "–",
    }
    min_hold {
        name: "min_hold",
        sets: Length = length(Allowed::Minimum),
        sample: "\"10s\"",
        value: "how long the lock stays taken, even if the body ends earlier",
        default: "none",
        excludes: "readers, [permits](#permits), a shorter [max_hold](#max_hold)",
        lacks: "quorum, Redisson's record",
    }
    retain {
        name: "retain",
        sets: Length = length(Allowed::Any),
        sample: "\"50ms\"",
        value: "keeps an uncontended lease for this client's next call",
        default: "the client's: off",
        excludes: "[keys](#keys), [permits](#permits), readers",
        lacks: "Redisson's record",
    }
    runs {
        name: "runs",
        sets: Count = count(RUNS),
        sample: "20",
        value: "records how the last runs ended, 1 to 1 000",
        default: "none",
        excludes: "–",
        lacks: "quorum",
    }
    reentrant {
        name: "reentrant",
        sets: bool = boolean,
        sample: "false",
        value: "`false`: a nested call fails",
        default: "`true`",
        excludes: "–",
        lacks: "–",
    }
    on_busy {
        name: "on_busy",
        sample: "\"skip\"",
        value: "`\"skip\"`: a busy lock is not an error",
        default: "`\"error\"`",
        excludes: "a return type that cannot be empty",
        lacks: "–",
    }
    on_lost {
        name: "on_lost",
        sample: "\"finish\"",
        value: "`\"finish\"`: the body runs to its end after a loss",
        default: "`\"cancel\"`",
        excludes: "–",
        lacks: "–",
    }
    or_else {
        name: "or_else",
        sample: "|error| …",
        value: "the value to return if the lock fails",
        default: "the error",
        excludes: "–",
        lacks: "–",
    }
    guard {
        name: "guard",
        sample: "lock",
        value: "a name for the guard in the body",
        default: "none",
        excludes: "–",
        lacks: "–",
    }
    token {
        name: "token",
        sample: "token",
        value: "a name for the fencing token in the body",
        default: "none",
        excludes: "–",
        lacks: "–",
    }
    client {
        name: "client",
        sample: "self.locks",
        value: "the client to use",
        default: "the installed one",
        excludes: "–",
        lacks: "–",
    }
    krate {
        name: "crate",
        sample: "path::to::lock_runtime",
        value: "the path of this crate",
        default: "`::lock_runtime`",
        excludes: "–",
        lacks: "–",
    }
}

/// Options whose value is a name or a path, where `self` has no meaning.
const NAMES: &[&str] = &["guard", "token", "crate"];

impl Args {
    /// Renames `self` to `name` in every value, for a body whose receiver has that name.
    pub(crate) fn rename_self(&mut self, name: &Ident) {
        for option in OPTIONS
            .iter()
            .filter(|option| !NAMES.contains(&option.name))
        {
            if let Some(Some(value)) = self.slot(option.name) {
                rename_self_in(value, name);
            }
        }
    }
}

/// The names of all options.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|option| option.name)
}

/// An example of the value of an option.
pub(super) fn sample(name: &str) -> &'static str {
    let option = OPTIONS.iter().find(|option| option.name == name);
    option.map_or("…", |option| option.sample)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The page is in the runtime's folder.
    #[test]
    fn page_has_this_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lock-runtime/src/attribute.md");
        let page = fs::read_to_string(page).expect("it is in the repository");
        let row = |option: &Described| {
            let (name, [value, default, excludes, lacks]) = (option.name, option.cells);
            format!("| [{name}](#{name}) | {value} | {default} | {excludes} | {lacks} |\n")
        };
        let table: String = OPTIONS.iter().map(row).collect();
        assert!(
            page.contains(&table),
            "the rows of the table must be\n{table}"
        );
    }

    #[test]
    fn sample_of_each_option_is_a_value_of_it() {
        for option in OPTIONS {
            let sample = option.sample.replace('…', "error");
            assert!(syn::parse_str::<Expr>(&sample).is_ok(), "{sample}");
        }
    }
}
