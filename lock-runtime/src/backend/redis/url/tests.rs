mod quorum_urls;

use super::*;

fn parse(url: &str) -> Result<Target, LockError> {
    target(url, &Options::default())
}

fn target(url: &str, options: &Options) -> Result<Target, LockError> {
    Target::of(&Parts::of(trim(url)?)?, options)
}

fn addresses(target: &Target) -> Vec<String> {
    match &target.servers {
        Servers::One(address) => vec![address.to_string()],
        Servers::Cluster(nodes)
        | Servers::Sentinels(Sentinels {
            addresses: nodes, ..
        }) => nodes.iter().map(Address::to_string).collect(),
    }
}

fn refusal(url: &str) -> String {
    let error = parse(url).err().expect(url);
    format!("{error} {error:?}")
}

#[test]
fn url_names_host_port_user_and_database() {
    let target = parse("redis://app:s3cret@10.0.0.7:6380/3").unwrap();
    assert_eq!(addresses(&target), ["10.0.0.7:6380"]);
    assert_eq!(target.login.username(), Some("app"));
    assert_eq!(target.login.password(), Some("s3cret"));
    assert_eq!(target.login.db(), 3);
    let target = parse("REDIS://[::1]").unwrap();
    assert_eq!(addresses(&target), ["[::1]:6379"]);
    assert_eq!(
        (target.login.username(), target.login.password()),
        (None, None)
    );
}

/// Other clients write URLs like these, and nobody misreads them.
#[test]
fn harmless_forms_of_a_url_are_accepted() {
    for (url, address, database) in [
        ("redis://h/2/", "h:6379", 2),
        ("redis://h/", "h:6379", 0),
        ("redis://h:/0", "h:6379", 0),
        ("redis://app:x@[::1]:/1/", "[::1]:6379", 1),
    ] {
        let target = parse(url).expect(url);
        assert_eq!(addresses(&target), [address], "{url}");
        assert_eq!(target.login.db(), database, "{url}");
    }
    #[cfg(unix)]
    for (url, path) in [
        (
            "redis+unix:///run/my redis/r.sock?db=1",
            "/run/my redis/r.sock",
        ),
        ("unix:///run/a=b.sock", "/run/a=b.sock"),
    ] {
        assert_eq!(addresses(&parse(url).expect(url)), [path]);
    }
    for url in [
        "redis://h/2//",
        "redis://h//",
        "redis://h::/0",
        "redis://h/2 /",
        "redis+unix:///run/a\tb.sock",
        "redis+unix:///run/r.sock?pass=a b",
    ] {
        assert!(parse(url).is_err(), "{url}");
    }
}

#[test]
fn cluster_url_names_some_of_its_nodes() {
    let target = parse("redis-cluster://app:s3cr%40t@10.0.0.7:7000,node-b,[::1]:7001/2").unwrap();
    assert!(matches!(target.servers, Servers::Cluster(_)));
    assert_eq!(
        addresses(&target),
        ["10.0.0.7:7000", "node-b:6379", "[::1]:7001"]
    );
    assert_eq!(target.login.password(), Some("s3cr@t"));
    assert_eq!(target.login.db(), 2);
    assert_eq!(
        addresses(&parse("VALKEY-CLUSTER://one").unwrap()),
        ["one:6379"]
    );
}

fn sentinels(url: &str) -> (Sentinels, RedisConnectionInfo) {
    match parse(url).unwrap() {
        Target {
            servers: Servers::Sentinels(sentinels),
            login,
        } => (sentinels, login),
        _ => panic!("{url} names no sentinels"),
    }
}

#[test]
fn sentinel_url_names_sentinels_and_the_primary() {
    let url = "redis-sentinel://app:s3cr%40t@10.0.0.7:5000,node-b,[::1]/2#my%20primary";
    assert_eq!(
        addresses(&parse(url).unwrap()),
        ["10.0.0.7:5000", "node-b:26379", "[::1]:26379"]
    );
    let (found, login) = sentinels(url);
    assert_eq!(found.name, "my primary");
    assert_eq!((login.password(), login.db()), (Some("s3cr@t"), 2));
    assert_eq!(found.login.password(), None);
    let url =
        "VALKEY-SENTINEL://[::1]:7?sentinelMasterId=m&sentinel_user=s&sentinel_password=a%2Fb";
    let (found, login) = sentinels(url);
    assert_eq!((found.name.as_str(), login.password()), ("m", None));
    assert_eq!(found.login.username(), Some("s"));
    assert_eq!(found.login.password(), Some("a/b"));
    assert_eq!(
        sentinels("redis-sentinel://h?sentinelMasterId=m#m").0.name,
        "m"
    );
}

#[cfg(feature = "tls")]
#[test]
fn sentinels_are_reached_over_tls_unless_the_url_disables_it() {
    let uses_tls = |address: &Address| matches!(address, Address::Tcp { tls: Some(_), .. });
    for (parameters, expected) in [("", true), ("?sentinel_tls=false", false)] {
        let (found, _) = sentinels(&format!("rediss-sentinel://a,b{parameters}#m"));
        assert!(
            found
                .addresses
                .iter()
                .all(|address| uses_tls(address) == expected)
        );
        assert!(uses_tls(&found.beside), "the primary");
    }
    let strict = Options {
        require_tls: true,
        ..Options::default()
    };
    assert!(target("rediss-sentinel://a#m", &strict).is_ok());
    let error = target("rediss-sentinel://a?sentinel_tls=false#m", &strict);
    assert!(
        error
            .err()
            .unwrap()
            .to_string()
            .contains("sentinel_tls=false")
    );
}

#[test]
fn user_and_password_are_decoded() {
    let target = parse("redis://a%40b:%23%3F%2F+%25%C3%A9@host").unwrap();
    assert_eq!(target.login.username(), Some("a@b"));
    assert_eq!(target.login.password(), Some("#?/+%é"));
    for (login, user, password) in [
        ("", None, None),
        (":", None, None),
        (":p", None, Some("p")),
        ("u:", Some("u"), Some("")),
        ("u:a:b", Some("u"), Some("a:b")),
    ] {
        let target = parse(&format!("redis://{login}@host")).unwrap();
        let found = (target.login.username(), target.login.password());
        assert_eq!(found, (user, password), "{login}");
    }
}

#[test]
fn white_space_around_a_url_is_ignored_and_refused_within() {
    for url in [
        "redis://h/2",
        "VALKEY://h",
        "redis-cluster://a,b",
        "redis-sentinel://a?wait_replicas=1#name",
        "redis+unix:///run/redis.sock?db=1",
    ] {
        for (before, after) in [("", "\n"), ("", "\r\n"), (" \t", ""), ("\n", " ")] {
            let padded = format!("{before}{url}{after}");
            assert_eq!(
                addresses(&parse(&padded).unwrap()),
                addresses(&parse(url).unwrap()),
                "{padded:?}"
            );
        }
        for blank in [" ", "\n", "\0", "\u{1b}", "\u{200b}", "\u{feff}"] {
            let inside = url.replacen("://", &format!("://{blank}"), 1);
            let text = parse(&inside).err().expect("a refusal").to_string();
            assert!(text.contains("written %20"), "{text}");
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }
    assert_eq!(sentinels("redis-sentinel://a#name\n").0.name, "name");
}

/// Returns the only password of a URL, or the first one.
fn password_of(url: &Parts) -> String {
    let of_login = url.hosts.first().and_then(|host| host.login.clone());
    let parameters = ["pass", "sentinel_password"];
    let mut of_parameters = parameters.iter().filter_map(|name| url.parameter(name));
    let of_login = of_login.and_then(|login| login.password);
    of_login
        .or_else(|| of_parameters.next().map(str::to_owned))
        .expect("the URL has a password")
}

/// The characters that separate parts of URLs, and some others.
const CHARACTERS: &str = ":/?#[]@!$&'()*+,;=%\"a1";

/// Whatever a password contains: if the URL is accepted, its servers and its password are as intended.
#[test]
fn no_part_of_a_password_is_taken_for_something_else() {
    let pairs = CHARACTERS
        .chars()
        .flat_map(|first| CHARACTERS.chars().map(move |second| (first, second)));
    let passwords = pairs.map(|(first, second)| format!("2{first}3{second}4"));
    let (mut refused, mut parsed) = (0, 0);
    for password in passwords {
        for (before, after) in [
            ("redis://app:", "@one"),
            ("redis-cluster://app:", "@one,two"),
            ("redis-sentinel://app:", "@one,two#name"),
            ("redis-sentinel://app:", "@one?sentinelMasterId=name"),
            ("redis-sentinel://one?sentinel_password=", "#name"),
            ("redlock://app:", "@one,two,three"),
            ("redlock://app:", "@one,b:x@two,c:y@three"),
            ("redis+unix:///one?pass=", ""),
        ] {
            let shown = |url: &str| {
                let url = Parts::of(url).ok()?;
                let names = url.hosts.iter().map(|host| (host.name.clone(), host.port));
                let names: Vec<_> = names.collect();
                Some((
                    (names, url.path.clone(), url.name.clone()),
                    password_of(&url),
                ))
            };
            let (meant, _) = shown(&format!("{before}x{after}")).expect(before);
            let url = format!("{before}{password}{after}");
            match shown(&url) {
                None => refused += 1,
                Some((found, read)) => {
                    parsed += 1;
                    assert_eq!(found, meant, "{url}");
                    assert!(password.contains('%') || read == password, "{url}: {read}");
                }
            }
        }
    }
    assert!(refused > 500 && parsed > 500, "{refused} {parsed}");
}

#[test]
fn user_without_a_password_is_named_to_the_server() {
    let target = parse("redis://app@host").unwrap();
    assert_eq!(target.login.username(), Some("app"));
    assert_eq!(target.login.password(), Some(""));
}

#[cfg(unix)]
#[test]
fn unix_url_names_path_user_and_database() {
    let url = "redis+unix:///run/my%20redis.sock?db=2&user=app&pass=a%26b+c";
    let target = parse(url).unwrap();
    assert_eq!(addresses(&target), ["/run/my redis.sock"]);
    assert_eq!(target.login.username(), Some("app"));
    assert_eq!(target.login.password(), Some("a&b+c"));
    assert_eq!(target.login.db(), 2);
}

#[test]
fn malformed_url_is_refused_without_repeating_its_password() {
    for url in [
        "redis://app:s3cret@host:port",
        "http://app:s3cret@host",
        "s3cret",
        "redis://app:s3cret@host/database",
        "redis://app:s3cret@host/-1",
        "redis://app:s3cret@",
        "redis://host?s3cret=1",
        "redis://app:s3cret#@host",
        "rediss://app:s3cret@host#insecure",
        "redis-cluster://app:s3cret@host:port",
        "redis-cluster://app:s3cret@one,,two",
        "redis-cluster://app:s3cret@one,two?x=1",
        "redis+unix-cluster://s3cret",
        "redis+unix-sentinel://s3cret#name",
        "redis-somewhere://s3cret@host",
        "redis-sentinel://app:s3cret@one,two",
        "redis-sentinel://app:s3cret@one,,two#name",
        "redis-sentinel://app:s3cret@host:port#name",
        "redis-sentinel://host?s3cret=1#name",
        "redis-sentinel://host?sentinel_password=s3cret#",
        "redis-sentinel://host?sentinel_password=s3cret%#name",
        "redis-sentinel://host?sentinelMasterId=s3cret#name",
        "redis+unix://s3cret/run/redis.sock",
        "redis+unix:///run/redis.sock?password=s3cret",
        "redis+unix:///run/redis.sock?pass=s3cret&db=-1",
        "redis+unix:///run/redis.sock?pass=s3cret#",
        "redis+unix:///run/redis.sock?pass=s3cret&pass=s3cret",
        "redis+unix:///run/redis.sock?db=1&db=1&pass=s3cret",
        "redis+unix:///run/%0as3cret.sock",
        "redis://app:s3%zzcret@host",
        "redis://app:s3cret@host:0",
        "redis://app:s3cret@::1",
        "redis://app:s3cret@[one]",
        "redis://app:s3cret@h\u{f6}st",
        "redis-sentinel://one#s3cret%0a",
    ] {
        let error = refusal(url);
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn refusal_names_the_mistake() {
    for (url, words) in [
        (
            "redis://host?timeout=5",
            "no parameters but wait_replicas, replica_timeout",
        ),
        ("rediss://host#insecure", "always verified"),
        ("tcp://host", "must begin with redis://"),
        ("", "must begin with redis://"),
        ("redis://one,two", "a redis:// URL names one server"),
        ("VALKEYS://one,two", "a valkeys:// URL names one server"),
        ("rediss://app:x@one:1,two:2", "redlock:// name several"),
        ("redis://", "must read redis://["),
        ("redis://app:2024/w@host", "`/` %2F"),
        ("redis://app:2024#w@host", "%23"),
        ("redis-cluster://a:x@one,b:y@two", "`@` is written %40"),
        ("redis-cluster://app:2,w@one,two", "`,` %2C"),
        (
            "redis-sentinel://app:2#w@one,two#name",
            "`#` in a password is written %23",
        ),
        ("redis://app:100%@host", "is written %25"),
        (
            "redis+unix:///r.sock?db=1&db=2",
            "has the parameter db twice",
        ),
        (
            "redis+unix:///r.sock&pass=x",
            "must read redis+unix:///path",
        ),
    ] {
        let text = refusal(url);
        assert!(text.contains(words), "{url}: {text}");
    }
    for (rest, words) in [
        ("host", "end with # and the name"),
        ("host#", "end with # and the name"),
        ("host?sentinelMasterId=a#b", "two names"),
        ("host?timeout=5#m", "no parameters but sentinelMasterId"),
        ("host?sentinel_user=a&sentinel_user=b#m", "twice"),
        ("host?sentinel_tls=true#m", "sentinel_tls"),
        ("host#%zz", "%25"),
    ] {
        let text = refusal(&format!("redis-sentinel://{rest}"));
        assert!(text.contains(words), "{rest}: {text}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn tls_url_without_the_feature_is_refused_by_its_name() {
    assert!(refusal("rediss://host").contains("the feature `tls`"));
}

#[test]
fn plain_tcp_is_refused_for_every_host_if_tls_is_required() {
    let strict = Options {
        require_tls: true,
        ..Options::default()
    };
    for (url, encrypted) in [
        ("redis://127.0.0.1", "rediss://"),
        ("VALKEY://host", "valkeys://"),
        ("redis-cluster://host", "rediss-cluster://"),
        ("redis-sentinel://host#name", "rediss-sentinel://"),
    ] {
        let error = target(url, &strict).err().expect(url).to_string();
        let (scheme, _) = url.split_once("://").expect("it has a scheme");
        let scheme = scheme.to_ascii_lowercase();
        let words = format!("begins with {scheme}:// instead of {encrypted}");
        assert!(error.contains(&words), "{error}");
    }
    #[cfg(unix)]
    assert!(target("redis+unix:///run/redis.sock", &strict).is_ok());
}
