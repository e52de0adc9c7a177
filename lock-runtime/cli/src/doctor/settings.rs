//! Judges a server's INFO.

use super::finding::Finding;
use super::info::Info;

/// The versions of Redis that have RESP3, which every client needs, but lack commands of the scripts. A server that reports an
/// older version is not Redis: Kvrocks reports 4.0.0.
const TOO_OLD: std::ops::Range<(u32, u32)> = (6, 0)..(6, 2);

/// Slower scripts are reported: no command should take a server longer (µs).
const SLOW: f64 = 1_000.0;

/// All findings that INFO allows.
pub(crate) fn of(info: &Info) -> Vec<Finding> {
    let findings = [
        version(info),
        eviction(info),
        memory(info),
        persistence(info),
        writes(info),
        replicas(info),
        cut_off(info),
        clients(info),
        scripts(info),
    ];
    findings.into_iter().flatten().collect()
}

fn version(info: &Info) -> Option<Finding> {
    let redis = info.text("redis_version")?;
    let shown = match info.text("valkey_version") {
        Some(valkey) => format!("Valkey {valkey}"),
        None => format!("Redis {redis}"),
    };
    let mut numbers = redis.split('.').map_while(|number| number.parse().ok());
    let number = (numbers.next()?, numbers.next().unwrap_or(0));
    if TOO_OLD.contains(&number) {
        return Some(Finding::fail("version", shown).since(
            "the scripts of locks need commands that came with Redis 6.2",
            "use Redis 6.2 or newer, or Valkey",
        ));
    }
    Some(Finding::ok("version", shown))
}

fn eviction(info: &Info) -> Option<Finding> {
    let policy = info.text("maxmemory_policy")?;
    let limit = info.number("maxmemory").unwrap_or(0);
    let change = "CONFIG SET maxmemory-policy noeviction";
    Some(match (policy, limit) {
        ("noeviction", _) => Finding::ok("eviction", policy),
        (_, 0) => Finding::warn("eviction", policy).since(
            "it takes effect once maxmemory is set: locks would be evicted, and then held by two callers",
            change,
        ),
        _ => Finding::fail("eviction", policy).since(
            "a full server evicts locks, which are then held by two callers",
            change,
        ),
    })
}

fn memory(info: &Info) -> Option<Finding> {
    let used = info.number("used_memory")?;
    let evicted = info.number("evicted_keys").unwrap_or(0);
    let limit = info.number("maxmemory").filter(|limit| *limit > 0);
    let shown = match limit {
        Some(limit) => format!("{} of {} MB", used >> 20, limit >> 20),
        None => format!("{} MB, no limit", used >> 20),
    };
    // Buffers for replicas do not count.
    let counted = used.saturating_sub(info.number("mem_not_counted_for_evict").unwrap_or(0));
    let full = limit.map_or(0, |limit| counted.saturating_mul(100) / limit);
    let refuses = full >= 100 && info.text("maxmemory_policy") == Some("noeviction");
    if evicted > 0 && !refuses {
        let shown = format!("{shown}, {evicted} keys evicted");
        return Some(Finding::warn("memory", shown).since(
            "locks may have been among them",
            "give locks a server of their own, with maxmemory-policy noeviction",
        ));
    }
    Some(match full {
        ..80 => Finding::ok("memory", shown),
        _ if refuses => Finding::fail("memory", shown).since(
            "the server is full: it refuses every lock (OOM)",
            "raise maxmemory, or move other data away",
        ),
        _ => Finding::warn("memory", shown).since(
            "a full server refuses new locks",
            "raise maxmemory, or move other data away",
        ),
    })
}

fn persistence(info: &Info) -> Option<Finding> {
    let is_appended = info.number("aof_enabled")? == 1;
    if is_appended {
        return Some(Finding::ok("persistence", "append-only file"));
    }
    Some(
        Finding::warn("persistence", "no append-only file").since(
            "a restart forgets locks: holders learn of it only at the next renewal, and others may get the lock before",
            "CONFIG SET appendonly yes, and appendfsync always",
        ),
    )
}

fn writes(info: &Info) -> Option<Finding> {
    let states = ["aof_last_write_status", "rdb_last_bgsave_status"];
    let failed = states
        .iter()
        .find(|state| info.text(state).is_some_and(|text| text != "ok"))?;
    Some(Finding::fail("disk", format!("{failed}: err")).since(
        "a server that cannot write its data refuses locks (MISCONF)",
        "check the server's log, and its disk",
    ))
}

fn replicas(info: &Info) -> Option<Finding> {
    let role = info.text("role")?;
    if role != "master" {
        return Some(Finding::fail("role", role).since(
            "a replica refuses every write, so it cannot grant a lock",
            "use the address of the primary, or of sentinels",
        ));
    }
    let count = info.number("connected_slaves").unwrap_or(0);
    Some(match count {
        0 => Finding::ok("role", "primary, no replicas"),
        _ => Finding::ok("role", format!("primary, {count} replicas")).since(
            "after a failover the new primary may lack the newest locks",
            "wait_replicas in the URL narrows this window; a fencing token closes it",
        ),
    })
}

/// Whether a primary stops granting locks once its replicas no longer hear it.
fn cut_off(info: &Info) -> Option<Finding> {
    let replicas = info
        .number("connected_slaves")
        .filter(|_| info.text("role") == Some("master"))?;
    // Present only if `min-replicas-to-write` is set.
    let heard = info.number("min_slaves_good_slaves");
    match (replicas, heard) {
        (_, Some(0)) => Some(Finding::fail("cut-off", "too few replicas answer").since(
            "the server refuses locks, renewals and releases (NOREPLICAS)",
            "bring replicas back, or CONFIG SET min-replicas-to-write 0",
        )),
        (0, None) => None,
        (_, Some(heard)) => Some(Finding::ok("cut-off", format!("{heard} replicas answer"))),
        (1, None) => Some(Finding::ok("cut-off", "min-replicas-to-write 0").since(
            "a primary that is cut off goes on granting locks while its replica is promoted",
            "add a second replica, and set min-replicas-to-write 1 with min-replicas-max-lag 1",
        )),
        (_, None) => Some(Finding::warn("cut-off", "min-replicas-to-write 0").since(
            "a primary that is cut off goes on granting locks while a replica is promoted",
            "CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag 1",
        )),
    }
}

fn clients(info: &Info) -> Option<Finding> {
    let (now, most) = (
        info.number("connected_clients")?,
        info.number("maxclients")?,
    );
    let shown = format!("{now} of {most} clients");
    Some(match now.saturating_mul(100) / most.max(1) {
        ..80 => Finding::ok("clients", shown),
        _ => Finding::warn("clients", shown).since(
            "a client beyond the limit is refused, and so are its locks",
            "raise maxclients, and the limit on open files",
        ),
    })
}

fn scripts(info: &Info) -> Option<Finding> {
    let micros = info.part("cmdstat_evalsha", "usec_per_call")?;
    let shown = format!("{micros:.0} µs a script");
    Some(if micros > SLOW {
        Finding::warn("scripts", shown).since(
            "while a script runs, all other clients wait",
            "SLOWLOG GET shows whose scripts these are; locks take some ten µs",
        )
    } else {
        Finding::ok("scripts", shown)
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    /// A server on which all is well.
    const FIT: &str = "redis_version:7.0.15\nmaxmemory_policy:noeviction\nmaxmemory:1000000000\nused_memory:1000000\n\
        evicted_keys:0\naof_enabled:1\naof_last_write_status:ok\nrdb_last_bgsave_status:ok\nrole:master\n\
        connected_slaves:0\nconnected_clients:3\nmaxclients:10000\ncmdstat_evalsha:calls=1,usec=20,usec_per_call=20.00\n";

    #[test]
    fn fit_server_has_no_complaint() {
        let findings = of(&Info::parse(FIT));
        assert_eq!(findings.len(), 7);
        for finding in findings {
            assert_eq!(finding.verdict, Verdict::Ok, "{finding}");
        }
    }

    #[test]
    fn each_unfit_setting_is_found_and_nothing_else() {
        for (line, check, verdict) in [
            ("redis_version:6.0.16", "version", Verdict::Fail),
            ("maxmemory_policy:allkeys-lru", "eviction", Verdict::Fail),
            ("evicted_keys:4", "memory", Verdict::Warn),
            ("used_memory:900000000", "memory", Verdict::Warn),
            ("used_memory:1000000000", "memory", Verdict::Fail),
            ("aof_enabled:0", "persistence", Verdict::Warn),
            ("aof_last_write_status:err", "disk", Verdict::Fail),
            ("rdb_last_bgsave_status:err", "disk", Verdict::Fail),
            ("role:slave", "role", Verdict::Fail),
            ("connected_slaves:2", "cut-off", Verdict::Warn),
            ("min_slaves_good_slaves:0", "cut-off", Verdict::Fail),
            ("connected_clients:9000", "clients", Verdict::Warn),
            (
                "cmdstat_evalsha:calls=1,usec=1,usec_per_call=2000.00",
                "scripts",
                Verdict::Warn,
            ),
        ] {
            let info = Info::parse(&format!("{FIT}{line}\n"));
            let unfit: Vec<_> = of(&info)
                .into_iter()
                .filter(|finding| finding.verdict != Verdict::Ok)
                .collect();
            let [finding] = &unfit[..] else {
                panic!("{line}: {unfit:?}");
            };
            assert_eq!((finding.check, finding.verdict), (check, verdict), "{line}");
            assert!(
                !finding.reason.is_empty() && !finding.change.is_empty(),
                "{finding}"
            );
        }
    }

    #[test]
    fn policy_without_a_limit_is_a_warning_and_valkey_is_named() {
        let text = FIT.replace("maxmemory:1000000000", "maxmemory:0");
        let info = Info::parse(&format!(
            "{text}maxmemory_policy:allkeys-lru\nvalkey_version:9.1.2\n"
        ));
        let findings = of(&info);
        assert_eq!(findings[0].value, "Valkey 9.1.2");
        assert_eq!(findings[1].verdict, Verdict::Warn);
    }
}
