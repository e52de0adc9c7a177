//! The arguments.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Arg, Command as Parser, CommandFactory, FromArgMatches, Subcommand};
use lock_runtime::FencingToken;
use lock_runtime::inspect::RecordHash;

use crate::exit::{Exit, Failure};
use crate::output::Form;
use crate::rights::Role;

const EXITS: &str = "\
Exit codes: 0 done or healthy, 1 a negative answer (the lock is free, a check failed), 2 usage, 3 unreachable,
4 refused, 5 changed in the meantime, or busy. `run` exits with its command's code.";

/// Lists, takes and revokes the locks of lock-runtime on Redis and Valkey.
#[derive(Debug, clap::Parser)]
#[command(name = "lockctl", version, after_help = EXITS)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) connection: Connection,
    /// Print one JSON object per line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    pub(crate) fn parse<T: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = T>,
    ) -> Result<Args, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let mut parser = parser();
        refuse_swallowed(&mut parser, &words)?;
        let matches = parser.try_get_matches_from_mut(words)?;
        Args::from_arg_matches(&matches).map_err(|error| error.format(&mut parser))
    }

    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

/// An option takes the next word as its value, even if it begins with `-`, as a reason may. Otherwise the parser would
/// recommend `--`, which is right only for keys and patterns.
fn parser() -> Parser {
    let value = |arg: Arg| {
        if arg.is_positional() || !arg.get_action().takes_values() {
            return arg;
        }
        arg.allow_hyphen_values(true)
    };
    let parser = Args::command().mut_args(value);
    parser.mut_subcommands(|command| command.mut_args(value))
}

/// Refuses an option that is followed by another one, or by `--`, instead of its value: with an empty variable,
/// `--reason $WHY --dry-run` would revoke with the reason `--dry-run`. An intended value is written `--reason=--dry-run`.
fn refuse_swallowed(parser: &mut Parser, words: &[OsString]) -> Result<(), clap::Error> {
    // Gives each command its help and the global options.
    parser.build();
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    let mut command = parser;
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let takes_next = |arg: &&Arg| is_named(arg, &word) && arg.get_action().takes_values();
        if !command.get_arguments().any(|arg| takes_next(&arg)) {
            // The command comes before all positional values.
            if !word.starts_with('-') && command.find_subcommand(&*word).is_some() {
                command = command.find_subcommand_mut(&*word).expect("it is there");
            }
            continue;
        }
        let Some(value) = words.next() else { break };
        let name = value.split('=').next().unwrap_or_default();
        if value == "--" || command.get_arguments().any(|arg| is_named(arg, name)) {
            let message = format!(
                "the value of '{word}' is missing before '{value}'; if '{value}' is the value, write '{word}={value}'"
            );
            return Err(command.error(ErrorKind::InvalidValue, message));
        }
    }
    Ok(())
}

/// Whether a word is the long or the short name of an option.
fn is_named(arg: &Arg, word: &str) -> bool {
    let long = word.strip_prefix("--");
    let short = word.strip_prefix('-').and_then(|rest| {
        let mut letters = rest.chars();
        letters.next().filter(|_| letters.next().is_none())
    });
    (long.is_some() && arg.get_long() == long) || (short.is_some() && arg.get_short() == short)
}

/// The connection to the servers.
#[derive(Debug, clap::Args)]
pub(crate) struct Connection {
    /// The servers that keep the locks: redis://user@host:6379, rediss://, redis-sentinel://, redis-cluster:// or redlock://.
    /// Other users of this machine see arguments: keep a password in LOCK_URL, or in a file (--password-file)
    #[arg(
        long,
        global = true,
        env = "LOCK_URL",
        hide_env_values = true,
        value_parser = trimmed,
        default_value = "redis://127.0.0.1:6379",
        value_name = "URL"
    )]
    pub(crate) url: String,
    /// The prefix of the locks' names
    #[arg(
        long,
        global = true,
        env = "LOCK_PREFIX",
        default_value = "lock:",
        value_name = "TEXT"
    )]
    pub(crate) prefix: String,
    /// The record format. Choose Redisson's for locks that Java services hold too; their names have no prefix: --prefix ""
    #[arg(long, global = true, env = "LOCK_RECORD", default_value = "native")]
    pub(crate) record: Kept,
    /// How long to wait for the answer to a command; 5s by default
    #[arg(long, global = true, value_name = "DURATION")]
    pub(crate) timeout: Option<Span>,
    /// The CA of the server's certificate, a PEM file; the system's by default
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// The client certificate, a PEM file
    #[arg(long, global = true, value_name = "FILE", requires = "key_file")]
    pub(crate) cert_file: Option<PathBuf>,
    /// The key of that certificate, a PEM file
    #[arg(long, global = true, value_name = "FILE", requires = "cert_file")]
    pub(crate) key_file: Option<PathBuf>,
    /// A file with the password, instead of one in the URL; with two lines, the first is the user
    #[arg(
        long,
        global = true,
        env = "LOCK_PASSWORD_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) password_file: Option<PathBuf>,
    /// Who you are, for the audit and for callers that wait for your locks; user@host by default. Nobody checks it: the audit
    /// records the server's user as well
    #[arg(long, global = true, env = "LOCK_BY", value_name = "NAME", value_parser = name)]
    pub(crate) by: Option<String>,
}

/// The format of the locks' records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kept {
    /// The record of lock-runtime
    Native,
    /// The record of Redisson's RLock
    Redisson,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(List),
    Watch(Watch),
    Inspect(Inspect),
    Revoke(Revoke),
    Audit(Audit),
    Runs(Runs),
    Hold(Hold),
    Run(Run),
    Doctor(Doctor),
    Acl(Acl),
    Bench(Bench),
}

/// List the locks that are held
///
/// Prints a line for each lock as it is found, in no order: its key, token, age, remaining lease, number of waiting
/// clients, and holder. A terminal also gets a line with the names of these columns; without one, each line is a lock, so that
/// `wc`, `sort` and `cut` need no exception.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// A pattern of keys, as Redis matches them, such as `order:*`; all keys by default
    #[arg(value_parser = some_keys)]
    pub(crate) pattern: Option<String>,
    /// Only locks whose holder contains this text
    #[arg(long, value_name = "TEXT", value_parser = name)]
    pub(crate) holder: Option<String>,
    /// Only locks that have been held for at least this long
    #[arg(long, value_name = "DURATION")]
    pub(crate) older: Option<Span>,
    /// Only locks that clients wait for
    #[arg(long)]
    pub(crate) waiting: bool,
    /// Also show when each lock was last run, and how that ended, for locks whose calls record their runs
    #[arg(long)]
    pub(crate) runs: bool,
    /// Stop after this many locks
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// Watch the locks that are held
///
/// In a terminal, shows a live view: arrows choose a lock, enter inspects it, r revokes it, s sorts, / filters, escape goes
/// back, q quits. Elsewhere, prints a line for each change.
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// A pattern of keys, as Redis matches them, such as `order:*`; all keys by default
    #[arg(value_parser = some_keys)]
    pub(crate) pattern: Option<String>,
    /// How often to read the locks; at most ten times a second. In a terminal, with thousands of locks, those outside the
    /// screen are read less often
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub(crate) interval: Span,
}

/// Show everything about a lock
///
/// Exits with 0 if the lock is held, and with 1 if it is free.
#[derive(Debug, clap::Args)]
pub(crate) struct Inspect {
    /// The lock's key
    pub(crate) key: String,
}

/// Take a lock from its holder, or all locks of one holder
///
/// The next waiter gets the lock, with a higher token; without waiters it becomes free. The holder is notified and stops at
/// once, or learns of it at its next renewal if the message is lost. Until then it may write: only a resource that checks
/// tokens refuses these writes. Readers, or callers with permits, lose the lock together.
///
/// In a terminal, lockctl shows the lock and you type its key. Elsewhere, --yes and --token (or --hash) are required. If the lock
/// has another holder than you saw, nothing is done and the exit code is 5; if it is free, the exit code is 1.
///
/// With --holder, lockctl lists all its locks and then takes them one by one; each gets its own lines in the audit. In a terminal
/// you type the label first; elsewhere --yes is required. Locks that the holder releases in the meantime are left alone, and locks
/// that it takes in the meantime are missed. A failure with one lock does not stop the others. The exit code is 0 if each listed lock
/// was taken or had been released, 1 if there was none, and otherwise the code of the first failure, such as 5 if a lock has another
/// holder by now.
#[derive(Debug, clap::Args)]
#[command(override_usage = "lockctl revoke [OPTIONS] --reason <TEXT> <KEY>
       lockctl revoke [OPTIONS] --reason <TEXT> --holder <LABEL>")]
pub(crate) struct Revoke {
    /// The lock's key
    #[arg(required_unless_present = "holder", conflicts_with = "holder")]
    pub(crate) key: Option<String>,
    /// All locks of this holder: its label as `list` shows it, or the beginning up to a space, such as "api-7@host" or
    /// "api-7@host (pid 4121)" for "api-7@host (pid 4121) ship". A shared lock has the label of the first caller that shared it
    #[arg(long, value_name = "LABEL", value_parser = label)]
    pub(crate) holder: Option<String>,
    /// The holder's token, as `inspect` shows it
    #[arg(long, value_name = "N", value_parser = token, conflicts_with_all = ["hash", "holder"])]
    pub(crate) token: Option<FencingToken>,
    /// The hash of a holder without a token, as `inspect` shows it
    #[arg(long, value_name = "HEX", value_parser = hash, conflicts_with = "holder")]
    pub(crate) hash: Option<RecordHash>,
    /// Why; shown to the holder and in the audit
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub(crate) reason: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// List the holder's locks without taking them
    #[arg(long, conflicts_with = "key")]
    pub(crate) dry_run: bool,
    /// Revoke without an entry in the audit, such as when it cannot be written
    #[arg(long)]
    pub(crate) no_audit: bool,
}

/// Show what operators did to locks
#[derive(Debug, clap::Args)]
pub(crate) struct Audit {
    /// Only this lock
    #[arg(value_parser = some_keys)]
    pub(crate) key: Option<String>,
    /// Only entries from this long ago until now, by the server's clock
    #[arg(long, value_name = "DURATION")]
    pub(crate) since: Option<Span>,
}

/// Show the last runs of a lock, the last one first
///
/// Prints a line for each run that calls with `runs` have recorded: when it began, how it ended, how long it took, and who did
/// it. `died` began and recorded no end, and does not hold the lock. Exits with 1 if no run is recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// The lock's key
    pub(crate) key: String,
}

/// Run a command under a lock
///
/// The command runs while the lock is held, with the fencing token in LOCK_TOKEN and the key in LOCK_KEY. lockctl forwards
/// its signals to the command and the processes that it has started. If a signal ends the command, the lock is released once
/// all of these are gone; processes that remain after five seconds get SIGKILL. If the lock is lost, they get SIGTERM, and
/// SIGKILL when the command has ended, or five seconds later.
///
/// Exits with the command's code, or with 75 if the lock is busy, 76 if it was lost, 126 or 127 if the command cannot be
/// started or found.
#[derive(Debug, clap::Args)]
#[command(override_usage = "lockctl run [OPTIONS] <KEY> -- <COMMAND>...
       lockctl run [OPTIONS] -- <KEY> -- <COMMAND>...")]
pub(crate) struct Run {
    /// The lock's key. Put a `--` before a key that begins with `-`
    pub(crate) key: Option<String>,
    /// How long the lock outlives a crash; it is renewed while the command runs
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub(crate) ttl: Span,
    /// How long to wait for the lock
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub(crate) wait: Span,
    /// Exit with 0 if the lock is busy, and do not run the command
    #[arg(long)]
    pub(crate) skip: bool,
    /// Keep the last N runs of this lock, which `lockctl runs` shows, 1 to 1000. A command that exits with another code than 0 has
    /// failed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: Option<u32>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Hold a lock for a while, for instance during maintenance
///
/// Takes the lock like any caller, and prints a line as soon as it is held. Releases it when the time is over, or at SIGINT
/// or SIGTERM.
#[derive(Debug, clap::Args)]
pub(crate) struct Hold {
    /// The lock's key
    pub(crate) key: String,
    /// How long to hold the lock
    #[arg(long = "for", value_name = "DURATION")]
    pub(crate) time: Span,
    /// Why; shown to others as part of the holder's label
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub(crate) reason: String,
    /// How long to wait for the lock
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub(crate) wait: Span,
}

/// Check that the servers are configured safely for locks
///
/// Prints `ok`, `warn` or `FAIL` for each check, with the reason and the setting to change; servers with the same finding share
/// a line. The last line begins with `fit for locks` or `not fit for locks`; with --json each server has its own lines. A check
/// that the user has no right to run is a warning. Exits with 1 if a check failed, and with 3 or 4 if the servers cannot be
/// reached. It changes nothing, unless the server does not report the user's rights: then it takes the lock `doctor` for a
/// moment.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// The role whose rights the user must have; the closest role by default
    #[arg(long)]
    pub(crate) role: Option<Role>,
    /// How many locks to examine; reads at most a hundred times as many keys of each server
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(crate) sample: usize,
}

/// Print the command that creates a user with the rights of a role
///
/// The URL selects the kind of servers, and --record the record; lockctl connects to none. Replace PASSWORD, and paste the line
/// at the prompt of redis-cli.
#[derive(Debug, clap::Args)]
pub(crate) struct Acl {
    /// The user's role
    pub(crate) role: Role,
    /// The user's name; the role's name by default
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) user: Option<String>,
}

/// Measure the cost of a lock from here
///
/// Measures round trips, uncontended cycles, and hand-offs between two clients, on a lock of its own. Its fence stays on the
/// server for a day.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// How long to measure
    #[arg(long, value_name = "DURATION", default_value = "3s")]
    pub(crate) time: Span,
}

/// A URL without the white space around it, such as the line feed at the end of a file.
fn trimmed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
}

impl Run {
    /// The key, the program and its arguments. If the key begins with `-`, all of them follow the first `--`.
    pub(crate) fn parts(&self) -> Result<(&str, &OsStr, &[OsString]), Failure> {
        let parts = match (&self.key, &self.command[..]) {
            (Some(key), [program, arguments @ ..]) => Some((key.as_str(), program, arguments)),
            (None, [key, dashes, program, arguments @ ..]) if dashes == "--" => {
                key.to_str().map(|key| (key, program, arguments))
            }
            _ => None,
        };
        let (key, program, arguments) = parts.ok_or_else(|| {
            let message = "the key of the lock is missing: `lockctl run KEY -- COMMAND`";
            Failure::new(Exit::USAGE, message)
        })?;
        Ok((key, program.as_os_str(), arguments))
    }
}

/// A text that is not blank.
fn reason(text: &str) -> Result<String, &'static str> {
    filled(text).ok_or("an empty reason explains nothing")
}

fn name(text: &str) -> Result<String, &'static str> {
    filled(text).ok_or("an empty name identifies nobody")
}

/// The prefix of a shared lock's label.
pub(crate) const SHARED: &str = "shared: ";

/// The label of one holder, or its first words.
fn label(text: &str) -> Result<String, &'static str> {
    if name(text)?.trim() == SHARED.trim() {
        return Err("every shared lock has this prefix: name its holder");
    }
    Ok(text.to_owned())
}

/// A key, or a pattern of keys; without one, all keys are selected.
fn some_keys(text: &str) -> Result<String, &'static str> {
    let given = Some(text.to_owned()).filter(|text| !text.is_empty());
    given.ok_or("no key is empty: omit the argument to select all keys")
}

fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn token(text: &str) -> Result<FencingToken, &'static str> {
    let number = text.parse::<i64>().ok();
    let token = number.and_then(|number| FencingToken::try_from(number).ok());
    token.ok_or("a token is a number such as 1795413408968292, as `lockctl inspect` shows it")
}

fn hash(text: &str) -> Result<RecordHash, &'static str> {
    let hash = text.parse().ok();
    hash.ok_or("a hash has sixteen hexadecimal digits, as `lockctl inspect` shows it")
}

/// A duration with its unit: `10m`, `1h 30m`, `500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(Duration);

impl FromStr for Span {
    type Err = humantime::DurationError;

    fn from_str(text: &str) -> Result<Span, humantime::DurationError> {
        humantime::parse_duration(text).map(Span)
    }
}

impl Deref for Span {
    type Target = Duration;

    fn deref(&self) -> &Duration {
        &self.0
    }
}

#[cfg(test)]
mod tests;
