//! Users with the permissions of a role on all servers of a deployment, and the work of that role.

use std::collections::BTreeSet;

use lock_runtime::inspect::{Revocation, Revoked};
use lock_runtime::{Acquire, LockClient, LockClientBuilder, LockError, LockGuard, LockRecord};
use redis::Value;

use crate::acl::{
    NAME, OPERATOR_RIGHTS, PASSWORD, REDISSON_OPERATOR_RIGHTS, REDISSON_RIGHTS,
    REDISSON_VIEWER_RIGHTS, RIGHTS, VIEWER_RIGHTS,
};
use crate::scene::{KEY, LONG, all_entries, all_locks, ask, hold, patient, served, soon};
use crate::server::RedisServer;
use crate::wait::eventually;

/// The rights of each role in one kind of deployment.
#[derive(Clone, Debug)]
pub struct Rights {
    /// For a service, which takes locks.
    pub service: Vec<&'static str>,
    /// For a viewer.
    pub viewer: Vec<&'static str>,
    /// For an operator, who revokes locks.
    pub operator: Vec<&'static str>,
}

impl Rights {
    /// For one server, and for deployments that need no additional rights.
    pub fn of_server() -> Rights {
        Rights::with(&[], &[])
    }

    /// The same with additional rights for a service, and for viewers and operators.
    pub fn with(service: &[&'static str], look: &[&'static str]) -> Rights {
        Rights {
            service: [RIGHTS, service].concat(),
            viewer: [VIEWER_RIGHTS, look].concat(),
            operator: [VIEWER_RIGHTS, OPERATOR_RIGHTS, look].concat(),
        }
    }

    /// For locks in Redisson's record.
    pub fn in_redissons_record() -> Rights {
        Rights {
            service: REDISSON_RIGHTS.to_vec(),
            viewer: REDISSON_VIEWER_RIGHTS.to_vec(),
            operator: [REDISSON_RIGHTS, REDISSON_OPERATOR_RIGHTS].concat(),
        }
    }
}

/// The servers of a deployment, and their URL.
#[derive(Debug)]
pub struct Users<'a> {
    servers: &'a [RedisServer],
    url: String,
    record: LockRecord,
    rights: Rights,
}

impl<'a> Users<'a> {
    /// Users whose locks are in this record. The URL has no user.
    pub fn of(servers: &'a [RedisServer], url: String, record: LockRecord, rights: Rights) -> Self {
        let users = Self {
            servers,
            url,
            record,
            rights,
        };
        users.make("service", &users.rights.service);
        users
    }

    /// Creates a user with only these rights on each server. Forgets earlier refusals.
    fn make(&self, name: &str, rights: &[&str]) {
        let user = ["ACL", "SETUSER", name, "reset", "on", ">s3cret"];
        for server in self.servers {
            let connection = &mut server.connection();
            ask::<()>(connection, &[&user[..], rights].concat());
            ask::<()>(connection, &["ACL", "LOG", "RESET"]);
        }
    }

    fn client(&self, name: &str) -> LockClient {
        let builder = self.builder(name, "s3cret");
        builder.build().expect("the settings are valid")
    }

    fn builder(&self, name: &str, password: &str) -> LockClientBuilder {
        let login = format!("://{name}:{password}@");
        let url = self.url.replacen("://", &login, 1);
        patient(url).record(self.record)
    }

    /// The client of a new viewer, who lacks only this right.
    pub fn viewer(&self, without: Option<&str>) -> LockClient {
        self.make("viewer", &less(&self.rights.viewer, without));
        self.client("viewer")
    }

    fn operator(&self, without: Option<&str>) -> LockClient {
        self.make("operator", &less(&self.rights.operator, without));
        self.client("operator")
    }

    /// The commands that servers have refused to this user. Some refusals are harmless: a client
    /// then does not warn of a server that evicts, uses a script instead of compare-and-delete, and
    /// reads each node of a cluster twice, which Redis 6.2 logs without the subcommand.
    fn refused(&self, user: &str) -> BTreeSet<String> {
        let mut refused = BTreeSet::new();
        for server in self.servers {
            let log: Vec<Vec<Value>> = ask(&mut server.connection(), &["ACL", "LOG"]);
            let of_user = log.iter().filter(|entry| field(entry, "username") == user);
            refused.extend(of_user.map(|entry| field(entry, "object")));
        }
        let harmless = ["info", "delifeq", "delex", "cluster|nodes", "cluster"];
        refused.retain(|command| !harmless.contains(&&**command));
        // A client of a quorum marks new nodes, and one that may not leaves that to others.
        if user == "viewer" {
            refused.remove("eval");
        }
        refused
    }

    /// A service with these rights takes a lock, keeps it and hands it over; nothing is refused.
    pub async fn service_takes_locks(&self) {
        let [one, other] = [(); 2].map(|()| self.client("service"));
        let guard = soon(hold(&one)).await;
        guard.renew().await.expect("it is held");
        let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
        self.wait_for_waiter().await;
        guard.release().await.expect("it was held");
        let next = served(waiting).await;
        next.release().await.expect("it was held");
        assert_eq!(self.refused("service"), BTreeSet::new());
    }

    /// Waiters for Redisson's record are not on the server, but listen to a channel there.
    async fn wait_for_waiter(&self) {
        let admin = self.admin();
        eventually("waiter", LONG, async || match self.record {
            LockRecord::Redisson => {
                let channels = ["PUBSUB", "CHANNELS", "*"];
                let mut servers = self.servers.iter();
                servers.any(|server| {
                    let heard: Vec<String> = ask(&mut server.connection(), &channels);
                    heard.iter().any(|channel| channel.contains(KEY))
                })
            }
            _ => {
                let state = admin.inspect(KEY).await;
                state.is_ok_and(|state| state.waiter_count() == 1)
            }
        })
        .await;
    }

    fn admin(&self) -> LockClient {
        let builder = self.builder(NAME, PASSWORD);
        builder.build().expect("the settings are valid")
    }

    /// A viewer looks at locks but cannot change them. Returns the commands that the viewer can do
    /// without.
    pub async fn viewer_looks_and_no_more(&self) -> Vec<&'static str> {
        let [one, other] = [(); 2].map(|()| self.client("service"));
        let guard = soon(hold(&one)).await;
        // It waits while the viewer tries to do without each right.
        let waiting = tokio::spawn(other.lock(KEY).wait(10 * LONG).acquire());
        self.wait_for_waiter().await;
        let viewer = self.viewer(None);
        let builder = self.builder("viewer", "s3cret");
        builder.connect().await.expect("the viewer may connect");
        look(&viewer).await.expect("the viewer may inspect");
        assert_eq!(self.refused("viewer"), BTreeSet::new());
        cannot_change(&viewer, &guard).await;
        let mut unused = Vec::new();
        for right in commands_of(&self.rights.viewer) {
            let viewer = self.viewer(Some(right));
            let seen = look(&viewer).await;
            unused.extend((seen.is_ok() && self.refused("viewer").is_empty()).then_some(right));
        }
        guard.release().await.expect("no viewer took it");
        let next = served(waiting).await;
        next.release().await.expect("it was held");
        unused
    }

    /// An operator looks at locks and revokes them, and appears in the audit. Returns the commands
    /// that the operator can do without.
    pub async fn operator_revokes(&self) -> Vec<&'static str> {
        let operator = self.operator(None);
        self.revoke_all(&operator).await.expect("it may revoke");
        assert_eq!(self.refused("operator"), BTreeSet::new());
        let entries = all_entries(operator.audit()).await;
        assert!(entries.iter().all(|entry| entry.user == "operator"));
        let mut unused = Vec::new();
        for right in commands_of(&self.rights.operator) {
            let operator = self.operator(Some(right));
            let revoked = self.revoke_all(&operator).await;
            let is_unused = revoked.is_ok() && self.refused("operator").is_empty();
            unused.extend(is_unused.then_some(right));
        }
        unused
    }

    /// Revokes a lock from a holder of each kind that has a waiter of the other kind, and from a
    /// holder without waiters.
    async fn revoke_all(&self, operator: &LockClient) -> Result<(), LockError> {
        let kinds = if self.have_readers() { 2 } else { 1 };
        for is_reader in [false, true].into_iter().take(kinds) {
            let [one, other] = [(); 2].map(|()| self.client("service"));
            let guard = self.lock_of(&one, is_reader).await.expect("it is free");
            let waiting = tokio::spawn(self.lock_of(&other, !is_reader).acquire());
            self.wait_for_waiter().await;
            self.forget_scripts();
            let revoked = revoke(operator).await;
            let released = guard.release().await;
            let next = served(waiting).await;
            next.release().await.expect("it was held");
            revoked?;
            assert!(released.expect_err("it was revoked").is_lost());
        }
        let guard = soon(hold(&self.client("service"))).await;
        let revoked = revoke(operator).await;
        let released = guard.release().await;
        revoked?;
        assert!(released.expect_err("it was revoked").is_lost());
        look(operator).await
    }

    /// The printed rights suffice for locks in Redisson's record. An operator there also has a
    /// service's rights, and uses some of them.
    pub async fn assert_rights_in_redissons_record(&self) {
        self.service_takes_locks().await;
        assert_eq!(self.viewer_looks_and_no_more().await, [""; 0]);
        let mut unused = self.operator_revokes().await;
        unused.retain(|right| REDISSON_OPERATOR_RIGHTS.contains(right));
        assert_eq!(unused, [""; 0]);
    }

    fn lock_of(&self, client: &LockClient, is_reader: bool) -> Acquire {
        let lock = client.lock(KEY).wait(LONG);
        match self.have_readers() {
            false => lock,
            true if is_reader => lock.read(),
            true => lock.write(),
        }
    }

    fn have_readers(&self) -> bool {
        self.record == LockRecord::Native && !self.url.starts_with("redlock:")
    }

    /// Then a script is sent by its source.
    fn forget_scripts(&self) {
        for server in self.servers {
            ask::<()>(&mut server.connection(), &["SCRIPT", "FLUSH"]);
        }
    }
}

/// Every command of a viewer.
async fn look(viewer: &LockClient) -> Result<(), LockError> {
    viewer.ping().await?;
    viewer.inspect(KEY).await?;
    all_locks(viewer.locks()).await?;
    let mut audit = viewer.audit();
    while audit.next_page().await?.is_some() {}
    Ok(())
}

/// Sees the holder, and revokes its lock.
async fn revoke(operator: &LockClient) -> Result<(), LockError> {
    let state = operator.inspect(KEY).await?;
    let seen = state.holders[0].reference.expect("it can be revoked");
    let revocation = Revocation::new("ann", "stuck");
    let revoked = operator.revoke(KEY, seen, revocation).await?;
    assert!(matches!(revoked, Revoked::Done(_)), "{revoked:?}");
    Ok(())
}

/// A viewer's forbidden commands fail with a clear error.
async fn cannot_change(viewer: &LockClient, guard: &LockGuard) {
    let error = viewer.lock("free").try_acquire().await.unwrap_err();
    assert!(error.is_rejected(), "{error}");
    let error = viewer.lock(KEY).wait(LONG).acquire().await.unwrap_err();
    assert!(error.is_rejected(), "{error}");
    let state = viewer.inspect(KEY).await.expect("the viewer may inspect");
    let seen = state.holders[0].reference.expect("it could be revoked");
    for revocation in [
        Revocation::new("eve", "mine"),
        Revocation::new("eve", "mine").without_audit(),
    ] {
        let error = viewer.revoke(KEY, seen, revocation).await.unwrap_err();
        assert!(error.is_rejected(), "{error}");
    }
    guard.renew().await.expect("it is held still");
    let free = viewer
        .inspect("free")
        .await
        .expect("the viewer may inspect");
    assert!(!free.is_held(), "{free:?}");
}

fn commands_of(rights: &[&'static str]) -> impl Iterator<Item = &'static str> {
    let rights = rights.iter().copied();
    rights.filter(|right| right.starts_with('+'))
}

fn less<'r>(rights: &[&'r str], without: Option<&str>) -> Vec<&'r str> {
    let rights = rights.iter().copied();
    rights.filter(|right| Some(*right) != without).collect()
}

/// A field of an entry in the ACL log.
fn field(entry: &[Value], name: &str) -> String {
    let text = |value| redis::from_redis_value_ref::<String>(value).unwrap_or_default();
    let pair = entry.chunks(2).find(|pair| text(&pair[0]) == name);
    text(&pair.expect("an entry has this field")[1])
}
