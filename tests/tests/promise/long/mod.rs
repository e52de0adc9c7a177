//! Clients in other languages, whose packages are installed from their registries: the long form alone.

mod node_redisson;
mod packages;
mod redis_py;
mod redlock_clients;
