//! Clients in other languages, whose packages are installed from their registries, in the long form only.

mod node_redisson;
mod packages;
mod redis_py;
mod redlock_clients;
