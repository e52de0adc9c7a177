//! Stands in for TLS if the feature `tls` is disabled.

use std::io::{self, Read, Write};

use tokio::net::TcpStream;

use crate::backend::wire::error::WireError;
use crate::config::Options;
use crate::error::LockError;

/// Never created.
pub(in crate::backend::redis) enum Tls {}

impl Tls {
    pub(in crate::backend::redis) fn new(_host: &str, _: &Options) -> Result<Tls, LockError> {
        Err(LockError::invalid_options(
            "`rediss://` needs the feature `tls` of lock-runtime, which this program was built without",
        ))
    }

    pub(in crate::backend::redis) fn for_host(&self, _host: &str) -> Result<Tls, WireError> {
        match *self {}
    }

    pub(in crate::backend::redis) async fn connect(
        &self,
        _: TcpStream,
    ) -> Result<(TcpStream, Session), WireError> {
        match *self {}
    }
}

/// Never created.
pub(in crate::backend::redis) enum Session {}

impl Session {
    pub(in crate::backend::redis) fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(in crate::backend::redis) fn has_output(&self) -> bool {
        match *self {}
    }

    pub(in crate::backend::redis) fn write_to(&mut self, _: &mut impl Write) -> io::Result<usize> {
        match *self {}
    }

    pub(in crate::backend::redis) fn read_from(
        &mut self,
        _: &mut impl Read,
        _: &mut Vec<u8>,
    ) -> io::Result<usize> {
        match *self {}
    }
}

pub(in crate::backend::redis) fn refuse_unused(_: &Options) -> Result<(), LockError> {
    Ok(())
}

pub(in crate::backend::redis) fn classify(_: &io::Error) -> Option<WireError> {
    None
}
