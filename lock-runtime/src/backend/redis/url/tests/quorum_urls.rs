//! Tests the URLs of quorums.

use std::time::Duration;

use super::*;

fn quorum(url: &str, options: &Options) -> Result<QuorumTarget, LockError> {
    let target = QuorumTarget::of(&Parts::of(trim(url)?)?, options)?;
    Ok(target.expect("the URL of a quorum"))
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
fn nodes_of_a_quorum_url_share_a_login_or_each_has_its_own() {
    let node = |(address, login): &(Address, RedisConnectionInfo)| {
        let login = [login.username(), login.password()];
        (
            address.to_string(),
            login.map(|it| it.unwrap_or_default().to_owned()),
        )
    };
    for (hosts, logins) in [
        ("app:s3cr%40t@a,b:7,[::1]", [["app", "s3cr@t"]; 3]),
        (
            "app:s3cr%40t@a,:b@b:7,own:c%2C@[::1]",
            [["app", "s3cr@t"], ["", "b"], ["own", "c,"]],
        ),
    ] {
        let url = format!("redlock://{hosts}/2?restart_delay=300ms");
        let target = quorum(&url, &Options::default()).unwrap();
        let nodes: Vec<_> = target.nodes.iter().map(node).collect();
        let names = ["a:6379", "b:7", "[::1]:6379"].map(str::to_owned);
        let logins = logins.map(|login| login.map(str::to_owned));
        let expected: Vec<_> = names.into_iter().zip(logins).collect();
        assert_eq!(nodes, expected);
        assert!(target.nodes.iter().all(|(_, login)| login.db() == 2));
        assert_eq!(target.restart_delay, Duration::from_millis(300));
    }
    for hosts in [
        "u:x@a,v:y@b,c",
        "a,b,u:x@c",
        "u:x@a,v@b,w:y@c",
        "svc:12,w,y@a,b,c",
    ] {
        let error = quorum(&format!("redlock://{hosts}"), &Options::default());
        let text = error.err().expect(hosts).to_string();
        assert!(text.contains("`,` %2C"), "{hosts}: {text}");
    }
}

#[test]
fn refusal_of_a_quorum_url_names_the_mistake_and_no_password() {
    for (rest, words) in [
        ("a,b", "3, 5, 7 or 9 nodes, and not 2"),
        ("a,b,a", "twice"),
        ("a,b,a:6379", "twice"),
        ("a,b,c?delay=1s", "no parameters but restart_delay"),
        ("a,b,c?restart_delay=1", "a whole number with ms or s"),
        (
            "a,b,c?restart_delay=60s&restart_delay=60s",
            "the parameter restart_delay twice",
        ),
        ("a,b,c?wait_replicas=1", "no parameters but restart_delay"),
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
