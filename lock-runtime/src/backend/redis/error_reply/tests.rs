use super::*;

/// Decodes an error from its line.
fn error(line: &str) -> RedisError {
    let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
    value.extract_error().unwrap_err()
}

fn classified(line: &str) -> WireError {
    match classify(&error(line)) {
        ErrorClass::Final(error) => error,
        ErrorClass::NoScript => panic!("{line} is classified as NOSCRIPT"),
        ErrorClass::Reconnect(_) => panic!("{line} reconnects"),
        ErrorClass::Redirected(_) => panic!("{line} redirects"),
        ErrorClass::SlotMoves(_) | ErrorClass::NotNow(_) => panic!("{line} is repeated"),
    }
}

#[test]
fn refusals_are_final_and_keep_their_text() {
    for line in [
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "NOPERM User app has no permissions to run the 'evalsha' command",
        "ERR The user executing the script can't run this command or subcommand",
        "ERR ACL failure in script: User app has no permissions to run the 'zadd' command",
        "ERR ACL failure in script: No permissions to access a key",
        "LOCKQUEUEFULL too many waiters",
        "LOCKFENCE the fence is not a number below 2^53 - 32",
    ] {
        let WireError::Refused(text) = classified(line) else {
            panic!("{line} is not refused")
        };
        assert_eq!(text.to_string(), line.trim_end_matches('.'));
        // From a script: Redis 7 and 8, and Valkey 8, name it by its digest; Valkey 9 does not.
        for script in [
            &*format!("{SHA}, on @user_script:33."),
            "on @user_script:33.",
        ] {
            let in_script = classified(&format!("{line} script: {script}"));
            assert_eq!(in_script.to_string(), line.trim_end_matches('.'));
        }
    }
}

#[test]
fn login_that_is_refused_is_final_and_one_that_was_forgotten_is_made_again() {
    for line in [
        "NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair or user is disabled.",
    ] {
        let error = error(line);
        assert!(
            matches!(classify(&error), ErrorClass::Reconnect(_)),
            "{line}"
        );
        let WireError::Refused(text) = describe_setup(&error, Some("s3cret")) else {
            panic!("{line} is not refused")
        };
        assert_eq!(text.to_string(), line.trim_end_matches('.'));
    }
}

#[test]
fn login_that_cannot_be_checked_for_a_moment_is_made_again() {
    for (line, is_final) in [
        ("WRONGPASS invalid username-password pair", true),
        ("NOAUTH Authentication required.", true),
        ("NOPERM this user has no permissions", true),
        ("NOPROTO unsupported protocol version", true),
        ("DENIED Redis is running in protected mode", true),
        ("ERR unknown command 'HELLO'", true),
        // Services, and servers older than the code WRONGPASS.
        ("ERR invalid password", true),
        ("ERR invalid username-password pair", true),
        (
            "ERR Invalid username-password pair or user is disabled.",
            true,
        ),
        ("ERR syntax error", true),
        ("ERR Syntax error in HELLO option 'AUTH'", true),
        ("ERR the authentication backend is not available", false),
        ("ERR try again later", false),
        ("LOADING Redis is loading the dataset in memory", false),
    ] {
        let described = describe_login(&error(line), Some("s3cret"));
        let is_refused = matches!(described, WireError::Refused(_));
        assert_eq!(is_refused, is_final, "{line}: {described}");
    }
}

/// A code that nobody knows may be about rights.
#[test]
fn few_refusals_are_known_to_say_nothing_about_rights() {
    for (line, leaves_rights) in [
        (
            "OOM command not allowed when used memory > 'maxmemory'.",
            true,
        ),
        (
            &wrapped("@user_script: 40: -OOM command not allowed."),
            true,
        ),
        ("MISCONF Redis is unable to persist.", true),
        ("WRONGTYPE the key holds a list", true),
        ("LOCKQUEUEFULL too many waiters", true),
        ("NOPERM No permissions to access a key", false),
        (
            "ERR The user executing the script can't run this command",
            false,
        ),
        ("ERR unknown command 'EVALSHA'", false),
        ("NOTHERE OOM", false),
    ] {
        assert_eq!(
            leaves_rights_as_they_are(&error(line)),
            leaves_rights,
            "{line}"
        );
    }
}

#[test]
fn text_becomes_a_part_of_a_sentence() {
    let WireError::Refused(text) = classified(
        "WRONGTYPE Wrong kind of value script: 6940fcf406ef057d911de956, on @user_script:118.",
    ) else {
        panic!("not refused")
    };
    assert_eq!(text.to_string(), "WRONGTYPE Wrong kind of value");
    assert_eq!(
        sanitize("Parse error\nUnexpected `8`\n"),
        "Parse error Unexpected `8`"
    );
}

/// Returns the error of a command in a script, as Redis 6.2 reports it.
fn wrapped(text: &str) -> String {
    format!("ERR Error running script (call to f_{SHA}): @user_script:40: {text}")
}

#[test]
fn error_of_a_command_in_a_script_is_unwrapped() {
    for (line, text) in [
        (
            wrapped("WRONGTYPE Operation against a key holding the wrong kind of value"),
            "WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
        (
            wrapped("@user_script: 40: -OOM command not allowed when used memory > 'maxmemory'."),
            "OOM command not allowed when used memory > 'maxmemory'",
        ),
        (
            wrapped("ERR value is not an integer or out of range"),
            "ERR value is not an integer or out of range",
        ),
        (
            wrapped("@user_script: 40: The user executing the script can't run this command"),
            "ERR The user executing the script can't run this command",
        ),
        (
            wrapped("user_script:40: attempt to index local 'x' (a nil value)"),
            "ERR attempt to index local 'x' (a nil value)",
        ),
        (
            format!(
                "ERR user_script:9: attempt to call a nil value script: {SHA}, on @user_script:9."
            ),
            "ERR attempt to call a nil value",
        ),
        (
            "@user_script: 1: The user can't publish to the channel".to_owned(),
            "ERR The user can't publish to the channel",
        ),
    ] {
        let WireError::Refused(detail) = classified(&line) else {
            panic!("{line} is not refused")
        };
        assert_eq!(detail.to_string(), text);
    }
    let transient = wrapped("@user_script: 40: -NOREPLICAS Not enough good replicas to write.");
    assert!(matches!(classified(&transient), WireError::Unavailable(_)));
}

const OWNER: &str = "YUjQMhVbRDckXk5WZC0tRp";
const SHA: &str = "223c1f8f4cfba6f3375f8c4ec02b9de4361a5dea";

/// Errors of Redis 5 to 8, Valkey 8 and 9, and proxies in front of them. `{arguments}` stands for the arguments that
/// the server repeats.
const ERRORS: &[&str] = &[
    "ERR unknown command `EVALSHA`, with args beginning with: {arguments}",
    "ERR unknown command 'EVALSHA', with args beginning with: {arguments}",
    "ERR unknown command 'hello', with args beginning with: {arguments}",
    "ERR unknown command `HELLO`, with args beginning with: {arguments}",
    "ERR unknown subcommand 'FOO'. Try CLIENT HELP.",
    "ERR Unknown subcommand or wrong number of arguments for 'FOO'. Try CLIENT HELP.",
    "ERR wrong number of arguments for 'evalsha' command",
    "ERR Syntax error in HELLO option 'AUTH'",
    "ERR DB index is out of range",
    "ERR max number of clients reached",
    "ERR Protocol error: invalid bulk length",
    "ERR Unknown Redis command called from script script: {sha}, on @user_script:1.",
    "ERR Unknown command called from script script: on @user_script:1.",
    "ERR unknown subcommand 'FOO'. Try CLIENT HELP. script: on @user_script:1.",
    "ERR Wrong number of args calling Redis command from script script: {sha}, on @user_script:1.",
    "ERR value is not an integer or out of range script: {sha}, on @user_script:1.",
    "ERR user_script:1: x {arguments} script: {sha}, on @user_script:1.",
    "ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'",
    "ERR Error running script (call to f_{sha}): @user_script:1: WRONGTYPE Operation against a key",
    "ERR Error running script (call to f_{sha}): @user_script:1: @user_script: 1: -OOM command not \
     allowed when used memory > 'maxmemory'.",
    "ERR Error running script (call to f_{sha}): @user_script:1: user_script:1: x {arguments}",
    "ERR Error running script (call to f_{sha}",
    "@user_script: 1: The user executing the script can't access at least one of the keys",
    "ERR ACL failure in script: No permissions to access a key script: {sha}, on @user_script:1.",
    "ERR The user executing the script can't run this command script: {sha}, on @user_script:1.",
    "NOPERM this user has no permissions to run the 'evalsha' command or its subcommand",
    "NOPERM this user has no permissions to access one of the keys used as arguments",
    "NOPERM User app has no permissions to run the 'evalsha' command",
    "NOPERM No permissions to access a key",
    "NOPERM No permissions to access a channel",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> \
     AUTH <user> <pass> option can be used to authenticate the client",
    "NOPROTO unsupported protocol version",
    "MOVED 10564 127.0.0.1:7001",
    "ASK 10564 127.0.0.1:7001",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "CLUSTERDOWN Hash slot not served",
    "READONLY You can't write against a read only replica. script: {sha}, on @user_script:1.",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist.",
    "NOSCRIPT No matching script. Please use EVAL.",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "ERR upstream failure for {arguments}",
];

#[test]
fn arguments_of_commands_are_not_shown() {
    // Keys, and passwords that do not look like an owner, are recognized only by their position.
    for arguments in [
        format!("`{SHA}`, `1`, `lock:order:42`, `{OWNER}`, "),
        format!("'{SHA}' '1' 'lock:order:42' '{OWNER} api-7 (pid 4121)' '5000'"),
        "`3`, `AUTH`, `app`, `s3cret`, ".to_owned(),
    ] {
        for error_text in ERRORS {
            let has_position = error_text.contains(ARGUMENTS);
            let line = error_text
                .replace("{arguments}", &arguments)
                .replace("{sha}", SHA);
            let error = error(&line);
            let mut texts = vec![sanitize(&line), describe_setup(&error, None).to_string()];
            match classify(&error) {
                ErrorClass::NoScript | ErrorClass::Redirected(_) => {}
                ErrorClass::Reconnect(text)
                | ErrorClass::SlotMoves(text)
                | ErrorClass::NotNow(text) => texts.push(text),
                ErrorClass::Final(error) => texts.push(error.to_string()),
            }
            for text in texts {
                assert!(
                    !text.contains(OWNER) && !text.contains(&OWNER[8..]),
                    "{text}"
                );
                assert!(!text.contains(SHA), "{text}");
                assert!(
                    !text.contains("user_script") || text.contains("compiling"),
                    "{text}"
                );
                if has_position {
                    assert!(
                        !text.contains("order") && !text.contains("s3cret"),
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn word_that_may_be_a_secret_is_not_shown() {
    assert_eq!(
        without_secrets(&format!("for `{OWNER}`, {SHA}.")),
        "for `…`, …."
    );
    assert_eq!(without_secrets(&OWNER[1..]), &OWNER[1..]);
    assert_eq!(without_secrets("über 'maxmemory'"), "über 'maxmemory'");
}

#[test]
fn transient_errors_are_unavailable() {
    for line in [
        "BUSY Redis is busy running a script.",
        "NOREPLICAS Not enough good replicas to write.",
        "ERR max number of clients reached",
    ] {
        assert!(
            matches!(classified(line), WireError::Unavailable(_)),
            "{line}"
        );
    }
}

#[test]
fn command_that_was_not_carried_out_for_the_moment_is_repeated() {
    for line in [
        "LOADING Redis is loading the dataset in memory",
        "CLUSTERDOWN Hash slot not served",
        "MASTERDOWN Link with MASTER is down",
        "ERR Can not execute command because the cluster is down",
    ] {
        let class = classify(&error(line));
        assert!(matches!(class, ErrorClass::NotNow(_)), "{line}");
    }
    for line in [
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "ERR Script attempted to access a non local key in a cluster node script: 1",
    ] {
        let class = classify(&error(line));
        assert!(matches!(class, ErrorClass::SlotMoves(_)), "{line}");
    }
}

#[test]
fn redirection_names_its_node() {
    for (line, is_moved) in [
        ("MOVED 10564 127.0.0.1:7001", true),
        ("ASK 10564 127.0.0.1:7001", false),
    ] {
        let ErrorClass::Redirected(redirect) = classify(&error(line)) else {
            panic!("{line} does not redirect")
        };
        assert_eq!((redirect.slot, redirect.port), (10_564, 7001));
        assert_eq!(redirect.is_moved, is_moved);
    }
}

#[test]
fn replica_and_unknown_script_are_not_final() {
    let read_only = error("READONLY You can't write against a read only replica.");
    assert!(matches!(classify(&read_only), ErrorClass::Reconnect(_)));
    let waiting = error("ERR WAIT cannot be used with replica instances.");
    assert!(matches!(classify(&waiting), ErrorClass::Reconnect(_)));
    let wrapped = wrapped("@user_script: 40: -READONLY You can't write against a replica.");
    assert!(matches!(
        classify(&error(&wrapped)),
        ErrorClass::Reconnect(_)
    ));
    let unknown = error("NOSCRIPT No matching script. Please use EVAL.");
    assert!(matches!(classify(&unknown), ErrorClass::NoScript));
}

#[test]
fn wrong_password_is_refused() {
    let wrong = error("WRONGPASS invalid username-password pair or user is disabled.");
    assert!(matches!(
        describe_setup(&wrong, Some("x")),
        WireError::Refused(_)
    ));
}

/// Returns the text of a setup error, which must be a refusal.
fn refusal(error: &RedisError, password: Option<&str>) -> String {
    match describe_setup(error, password) {
        WireError::Refused(detail) => detail.to_string(),
        WireError::Unavailable(detail) => panic!("unavailable: {detail}"),
    }
}

#[test]
fn server_without_resp3_is_refused() {
    for line in [
        "NOPROTO unsupported protocol version",
        "NOPROTO sorry, this protocol version is not supported.",
        "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'app' 's3cret'",
        "ERR unknown command 'hello'",
        "ERR unknown command `hello`, with args beginning with: `3`, ",
    ] {
        assert_eq!(refusal(&error(line), None), NO_RESP3, "{line}");
    }
}

#[test]
fn missing_password_is_named() {
    let error = error("NOAUTH HELLO must be called with the client already authenticated");
    let missing = "the server wants a password, and the URL has none (NOAUTH)";
    assert_eq!(refusal(&error, None), missing);
    assert!(refusal(&error, Some("x")).starts_with("NOAUTH"));
}

/// The text of Redis 7.0 for a program on another machine.
const DENIED: &str = "DENIED Redis is running in protected mode because protected mode is enabled and no password is set \
                      for the default user. In this mode connections are only accepted from the loopback interface. If \
                      you want to connect from external computers to Redis you may adopt one of the following \
                      solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode no'";

#[test]
fn protected_mode_is_explained_in_a_sentence() {
    let text = refusal(&error(DENIED), None);
    assert!(
        text.starts_with("the server is in protected mode"),
        "{text}"
    );
    assert!(!text.contains("DENIED"), "{text}");
}

#[test]
fn option_that_a_server_does_not_know_is_explained() {
    for line in [
        "ERR syntax error",
        "ERR syntax error script: f_1, on @user_script:5.",
    ] {
        let WireError::Refused(text) = classified(line) else {
            panic!("{line} is not refused")
        };
        assert!(text.to_string().contains("lacks an option"), "{text}");
    }
    let other = "ERR Syntax error in HELLO option 'AUTH'";
    assert_eq!(classified(other).to_string(), other);
}

#[test]
fn text_of_a_server_is_bounded_and_plain() {
    let long = format!("MISCONF {}", "ein Satz. ".repeat(100));
    let text = classified(&long).to_string();
    assert_eq!(text.chars().count(), LONGEST + 1, "{text}");
    assert!(
        text.starts_with("MISCONF ein Satz. ein") && text.ends_with('…'),
        "{text}"
    );
    let colourful = sanitize("ERR \u{1b}[31mred\u{7}\u{9b}2J\tand\u{0}more");
    assert_eq!(colourful, "ERR [31mred 2J and more");
    let wide = sanitize(&"é".repeat(LONGEST + 1));
    assert_eq!(wide, format!("{}…", "é".repeat(LONGEST)));
}
