//! Locks on a cluster of three primaries, each with a replica.

mod half_moved;
mod names;
mod nodes;
mod operators;
mod rights;
mod virtual_address;

use harness::RedisCluster;

/// Keys such that each primary of a cluster has two.
fn keys_of_each(cluster: &RedisCluster) -> Vec<[String; 2]> {
    let numbers = 0..;
    let mut keys: Vec<Vec<String>> = vec![Vec::new(); 3];
    for number in numbers {
        let key = format!("order:{number}");
        let of_node = &mut keys[cluster.first_owner(&format!("lock:{key}"))];
        if of_node.len() < 2 {
            of_node.push(key);
        }
        if keys.iter().all(|keys| keys.len() == 2) {
            break;
        }
    }
    let pair = |keys: Vec<String>| keys.try_into().expect("there are two");
    keys.into_iter().map(pair).collect()
}

/// Whether a node has a record; the record's slot may belong to another node.
fn has(cluster: &RedisCluster, node: usize, record: &str) -> bool {
    let slot = cluster.slot(record).to_string();
    let keys: Vec<String> = cluster.ask(node, &["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
    keys.iter().any(|key| key == record)
}
