//! Reports a connection's events, from the background.
//!
//! A subscriber may block, and callers that notice the end of a connection wait for the next one. So the background
//! makes the reports, in the order of these events.

use std::sync::Arc;
use std::time::Instant;

use super::Shared;
use crate::backend::redis::connect::{AttemptProgress, SetupError};
use crate::backend::redis::connection::Connection;
use crate::telemetry;

impl Shared {
    /// Reports a new connection. Runs in the background.
    pub(super) fn report_connected(&self, connection: &Connection) {
        let connected = self.outage.lock().end(Instant::now());
        telemetry::connections(&connection.server, 1.0);
        telemetry::connected(
            &connection.server,
            connection.version.as_deref(),
            connected.attempts,
            connected.away,
            connected.is_reported,
        );
    }

    /// Reports a failed attempt to connect. Runs in the background.
    pub(super) fn report_failed(&self, progress: &AttemptProgress, error: &SetupError) {
        let server = progress
            .server()
            .unwrap_or_else(|| self.locator.name().into());
        let failures = self.outage.lock().note_failure();
        match error {
            SetupError::Failed(error) => {
                telemetry::connection_failed(&server, error, failures);
            }
            SetupError::UnfitServer(error) => {
                let failures = self.pause.lock().note_lost();
                telemetry::server_unfit(&server, error, failures);
            }
        }
    }

    /// Reports the end of a connection that was not closed on purpose.
    pub(super) fn report_lost(self: &Arc<Shared>, connection: &Connection, reason: String) {
        let (shared, server, now) = (self.clone(), connection.server.clone(), Instant::now());
        self.settings.background.spawn(async move {
            let failures = shared.pause.lock().note_lost();
            let is_reported = failures.is_power_of_two();
            shared.outage.lock().begin(now, is_reported);
            telemetry::connections(&server, -1.0);
            telemetry::connection_lost(&server, &reason, failures);
        });
    }

    /// Reports that a connection was closed because it is no longer needed.
    pub(super) fn report_closed(&self, connection: &Connection) {
        let server = connection.server.clone();
        let report = async move { telemetry::connections(&server, -1.0) };
        self.settings.background.spawn(report);
    }
}
