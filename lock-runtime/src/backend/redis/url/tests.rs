use std::time::Duration;

use super::*;

fn parse(url: &str) -> Result<Target, LockError> {
    Target::parse(url, &Options::default())
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
fn sentinels_are_reached_over_tls_unless_the_url_says_otherwise() {
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
    assert!(Target::parse("rediss-sentinel://a#m", &strict).is_ok());
    let error = Target::parse("rediss-sentinel://a?sentinel_tls=false#m", &strict);
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
    ] {
        let error = refusal(url);
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn refusal_names_the_mistake() {
    assert!(refusal("redis://host?timeout=5").contains("wait_replicas and replica_timeout alone"));
    assert!(refusal("rediss://host#insecure").contains("always verified"));
    assert!(refusal("tcp://host").contains("must begin with redis://"));
    for (rest, words) in [
        ("host", "end with # and the name"),
        ("host#", "end with # and the name"),
        ("host?sentinelMasterId=a#b", "two names"),
        ("host?timeout=5#m", "takes the parameters"),
        ("host?sentinel_user=a&sentinel_user=b#m", "twice"),
        ("host?sentinel_tls=true#m", "sentinel_tls"),
        ("host#%zz", "percent"),
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
    for url in [
        "redis://127.0.0.1",
        "redis://host",
        "valkey://host",
        "redis-sentinel://host#name",
    ] {
        let error = Target::parse(url, &strict).err().expect(url);
        assert!(error.to_string().contains("requires TLS"), "{error}");
    }
    #[cfg(unix)]
    assert!(Target::parse("redis+unix:///run/redis.sock", &strict).is_ok());
}

fn quorum(url: &str, options: &Options) -> Result<QuorumTarget, LockError> {
    let target = QuorumTarget::parse(url, options)?;
    Ok(target.expect("it names a quorum"))
}

#[test]
fn quorum_url_names_three_five_seven_or_nine_nodes() {
    for number in 1..12 {
        let hosts: Vec<String> = (0..number).map(|it| format!("h{it}")).collect();
        let url = format!("redlock://{}", hosts.join(","));
        let is_parsed = quorum(&url, &Options::default()).is_ok();
        assert_eq!(is_parsed, [3, 5, 7, 9].contains(&number), "{number}");
    }
}

#[test]
fn node_of_a_quorum_url_has_the_first_login_or_its_own() {
    let url = "redlock://app:s3cr%40t@a,own:b@b:7,[::1]/2?restart_delay=300ms";
    let target = quorum(url, &Options::default()).unwrap();
    let node = |(address, login): &(Address, RedisConnectionInfo)| {
        let password = login.password().map(str::to_owned);
        (address.to_string(), password, login.db())
    };
    let nodes: Vec<_> = target.nodes.iter().map(node).collect();
    let expected = [("a:6379", "s3cr@t"), ("b:7", "b"), ("[::1]:6379", "s3cr@t")];
    let expected =
        expected.map(|(address, password)| (address.to_owned(), Some(password.to_owned()), 2));
    assert_eq!(nodes, expected);
    assert_eq!(target.restart_delay, Duration::from_millis(300));
}

#[test]
fn refusal_of_a_quorum_url_names_the_mistake_and_no_password() {
    for (rest, words) in [
        ("a,b", "3, 5, 7 or 9 nodes, and not 2"),
        ("a,b,a", "twice"),
        ("a,b,a:6379", "twice"),
        ("a,b,c?delay=1s", "restart_delay alone"),
        ("a,b,c?restart_delay=1", "a whole number with ms or s"),
        (
            "a,b,c?restart_delay=60s&restart_delay=60s",
            "restart_delay twice",
        ),
        ("a,b,c?wait_replicas=1", "restart_delay alone"),
        ("a,b,c#name", "takes nothing after `#`"),
        ("a,,c", "must"),
    ] {
        let parsed = quorum(&format!("redlock://app:s3cret@{rest}"), &Options::default());
        let error = parsed.err().expect(rest).to_string();
        assert!(error.contains(words), "{rest}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
    let strict = Options {
        require_tls: true,
        ..Options::default()
    };
    let error = quorum("redlock://a,b,c", &strict).err().unwrap();
    assert!(
        error.to_string().contains("instead of redlocks://"),
        "{error}"
    );
}
