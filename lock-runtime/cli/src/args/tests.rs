use std::fs;
use std::path::Path;

use super::*;

/// Splits a line like a shell, without variables.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

fn parse(line: &str) -> Result<Args, clap::Error> {
    Args::parse(words(line))
}

#[test]
fn arguments_are_consistent() {
    parser().debug_assert();
}

#[test]
fn secrets_of_the_environment_are_not_in_the_help() {
    let help = parser().render_long_help().to_string();
    assert!(help.contains("[env: LOCK_URL]"), "{help}");
    assert!(help.contains("[env: LOCK_PASSWORD_FILE]"), "{help}");
}

#[test]
fn command_follows_two_dashes() {
    assert!(parse("lockctl run import echo").is_err());
    for (line, key, command) in [
        (
            "lockctl run import --wait 1m30s -- echo --skip",
            "import",
            &["echo", "--skip"][..],
        ),
        (
            "lockctl run import -- env -- x",
            "import",
            &["env", "--", "x"],
        ),
        ("lockctl run --wait 1m30s -- -x -- true", "-x", &["true"]),
        (
            "lockctl run --wait 1m30s -- --skip -- a -- b",
            "--skip",
            &["a", "--", "b"],
        ),
    ] {
        let Command::Run(run) = parse(line).unwrap().command else {
            panic!("another command");
        };
        let (parsed, program, arguments) = run.parts().unwrap();
        assert_eq!((parsed, program), (key, command[0].as_ref()), "{line}");
        assert_eq!(arguments, &command[1..], "{line}");
        assert_eq!(
            (*run.wait == Duration::from_secs(90), run.skip),
            (line.contains("1m30s"), false)
        );
    }
    for line in [
        "lockctl run -- true",
        "lockctl run -- a b",
        "lockctl run -- a --",
    ] {
        let Command::Run(run) = parse(line).unwrap().command else {
            panic!("another command");
        };
        assert_eq!(run.parts().unwrap_err().exit(), Exit::USAGE, "{line}");
    }
}

/// Keys and patterns follow `--`, as in the parser's tip. Each option takes the next word.
#[test]
fn values_may_begin_with_a_dash() {
    for line in [
        "lockctl inspect -- -x",
        "lockctl list -- '-x*'",
        "lockctl watch -- '-x*'",
        "lockctl audit -- -x",
        "lockctl revoke --reason '- stuck' -- -x",
        "lockctl revoke --holder -api --reason -x --by -ann",
        "lockctl hold --for 1s --reason '--for the disks' -- -x",
        "lockctl list --holder -x --prefix -a: --url -u",
        "lockctl acl viewer --user -x",
    ] {
        assert!(parse(line).is_ok(), "{line}");
    }
    for line in [
        "lockctl inspect -x",
        "lockctl list '-x*'",
        "lockctl run -x -- true",
        "lockctl hold -x --for 1s --reason y",
    ] {
        let tip = parse(line).unwrap_err().to_string();
        assert!(tip.contains("use '-- -x"), "{tip}");
    }
    for line in [
        "lockctl list --limit -1",
        "lockctl hold k --reason x --for -1s",
        "lockctl revoke k --reason x --token -1",
    ] {
        let tip = parse(line).unwrap_err().to_string();
        assert!(
            tip.contains("invalid value '-1") && !tip.contains("tip:"),
            "{tip}"
        );
    }
}

/// For example, where a shell variable is empty and not quoted.
#[test]
fn option_without_a_value_does_not_take_the_next_option() {
    for (line, option) in [
        (
            "lockctl revoke --holder pod-7 --yes --reason --dry-run",
            "--reason",
        ),
        ("lockctl revoke --reason --yes --holder pod-7", "--reason"),
        ("lockctl revoke --reason x --holder --yes", "--holder"),
        (
            "lockctl revoke --holder a --yes --reason --by=ann",
            "--reason",
        ),
        ("lockctl revoke --holder a --reason --json", "--reason"),
        ("lockctl revoke --holder a --reason -h", "--reason"),
        ("lockctl revoke --reason -- -x", "--reason"),
        ("lockctl --by --json revoke k --reason x", "--by"),
        (
            "lockctl --url redis://a list --holder --waiting",
            "--holder",
        ),
        (
            "lockctl hold revoke --for 1s --reason --wait 1s",
            "--reason",
        ),
    ] {
        let error = parse(line).unwrap_err();
        let text = error.to_string();
        let missing = format!("the value of '{option}' is missing");
        assert!(text.contains(&missing), "{line}: {text}");
        assert_eq!(error.exit_code(), 2, "{line}");
    }
    for (line, reason) in [
        ("lockctl revoke k --reason=--yes", "--yes"),
        ("lockctl revoke k --reason=--", "--"),
        ("lockctl revoke k --reason --stuck", "--stuck"),
        // An option of another command.
        ("lockctl revoke k --reason --waiting", "--waiting"),
        ("lockctl revoke k --reason 'for --yes'", "for --yes"),
    ] {
        let Command::Revoke(revoke) = parse(line).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((&*revoke.reason, revoke.yes), (reason, false), "{line}");
    }
    // Words after the dashes are no options.
    assert!(parse("lockctl run import -- env --reason --json").is_ok());
}

#[test]
fn meaningless_values_are_refused_with_the_expected_form() {
    for (line, expected) in [
        ("lockctl revoke k --reason ''", "empty reason"),
        ("lockctl hold k --for 1s --reason ' '", "empty reason"),
        (
            "lockctl revoke k --reason x --token x",
            "a token is a number",
        ),
        (
            "lockctl revoke k --reason x --token ''",
            "a token is a number",
        ),
        (
            "lockctl revoke k --reason x --hash x",
            "sixteen hexadecimal digits",
        ),
        ("lockctl revoke --reason x --holder ''", "identifies nobody"),
        (
            "lockctl revoke --reason x --holder shared:",
            "every shared lock has this prefix",
        ),
        (
            "lockctl revoke --reason x --holder ' shared: '",
            "every shared lock has this prefix",
        ),
        ("lockctl revoke k --reason x --by ' '", "identifies nobody"),
        ("lockctl list --holder ''", "identifies nobody"),
        ("lockctl acl viewer --user ''", "identifies nobody"),
        ("lockctl list ''", "no key is empty"),
        ("lockctl watch ''", "no key is empty"),
        ("lockctl audit ''", "no key is empty"),
        ("lockctl revoke --reason x", "<KEY>"),
        (
            "lockctl revoke k --holder a --reason x",
            "cannot be used with",
        ),
        (
            "lockctl revoke --holder a --token 16 --reason x",
            "cannot be used with",
        ),
        (
            "lockctl revoke k --dry-run --reason x",
            "cannot be used with",
        ),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

/// A place in a file, and a command that is shown there.
struct Shown {
    place: String,
    command: String,
    /// Whether it is a line of its own, to be typed as it is.
    is_line: bool,
}

/// The commands in a text: lines of code, and code in sentences.
fn shown_in(name: &str, text: &str, shown: &mut Vec<Shown>) {
    let (mut is_code, is_page) = (false, name.ends_with(".md"));
    for (number, line) in (1..).zip(text.lines()) {
        is_code ^= is_page && line.trim_start().starts_with("```");
        let mut add = |command: &str, is_line| {
            if command.starts_with("lockctl ") {
                shown.push(Shown {
                    place: format!("{name}:{number}"),
                    command: command.to_owned(),
                    is_line,
                });
            }
        };
        if is_code {
            let code = line.split(" #").next().unwrap_or_default();
            add(code.trim().trim_start_matches("$ "), true);
        } else {
            line.split('`')
                .skip(1)
                .step_by(2)
                .for_each(|code| add(code, false));
        }
    }
}

fn shown_below(folder: &Path, shown: &mut Vec<Shown>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "shared" && !name.starts_with('.') {
            shown_below(&path, shown);
        } else if path.is_file() && (name.ends_with(".md") || name.ends_with(".rs")) {
            shown_in(&name, &fs::read_to_string(&path).unwrap(), shown);
        }
    }
}

/// A value for each placeholder of a page.
fn filled_in(word: &str) -> &str {
    let word = word.trim_start_matches('[').trim_end_matches(']');
    match word.split(['|', '\\']).next().unwrap_or(word) {
        "N" => "1795413408968292",
        "HEX" => "0123456789abcdef",
        "ROLE" => "service",
        "DURATION" => "1s",
        word => word,
    }
}

/// Whether words in a sentence name options of a command, without their values.
fn names_options(words: &[&str]) -> bool {
    let parser = parser();
    let has = |word: &&str| {
        let command = parser.find_subcommand(words[1]);
        let mut options = command.into_iter().flat_map(Parser::get_arguments);
        let name = word.strip_prefix("--");
        name.is_some() && options.any(|option| option.get_long() == name)
    };
    words[2..].iter().all(has)
}

/// A command can be typed as a page shows it, with a value for each placeholder.
#[test]
fn documented_commands_are_accepted() {
    let mut shown = Vec::new();
    shown_below(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
        &mut shown,
    );
    let mut whole = 0;
    for Shown {
        place,
        command,
        is_line,
    } in &shown
    {
        let words: Vec<String> = words(command);
        let words: Vec<&str> = words.iter().map(|word| filled_in(word)).collect();
        // Code in a sentence may only name a command, or only some of its options.
        let is_named = words.len() == 2 && !is_line;
        if command.contains('{') || words[1] == "help" || words[1].starts_with('-') {
            continue;
        }
        if is_named && parser().find_subcommand(words[1]).is_some() {
            continue;
        }
        if !is_line && names_options(&words) {
            continue;
        }
        whole += 1;
        let args = Args::parse(&words).unwrap_or_else(|error| panic!("{place}: {error}"));
        match args.command {
            Command::Run(run) => assert!(run.parts().is_ok(), "{place}: {command}"),
            // Documented commands give the token or the hash together with `--yes`.
            Command::Revoke(revoke) if revoke.holder.is_none() => {
                let is_seen = revoke.token.is_some() || revoke.hash.is_some();
                assert_eq!(is_seen, revoke.yes, "{place}: {command}");
            }
            _ => {}
        }
    }
    assert!(whole >= 20, "{whole} commands");
}
