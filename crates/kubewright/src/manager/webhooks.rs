//! Starts what webhooks take: the server, and what keeps its certificate. Nothing if there are none.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::info;

use super::{Manager, RunError};
use crate::generate::webhook::{Webhook, called, hosts, secret_name};
use crate::health::Health;
use crate::server;
use crate::webhook::{Current, Hook, Keeper, Phase, Routes, Standing, Timing, Trust, found, serve};

/// How long a pod that goes is called all the same: nodes hear of it one after the other.
const LINGER: Duration = Duration::from_secs(5);
/// Longer than any call may take.
const UNDER_WAY: Duration = Duration::from_secs(10);

/// The server while it runs; it ends when this is dropped.
pub(super) struct Serving {
    phase: watch::Sender<Phase>,
    server: JoinSet<()>,
}

impl Manager {
    /// From now on callers look for somebody else.
    pub(super) fn turn_callers_away(&self) {
        if let Some(serving) = &self.serving {
            serving.phase.send_replace(Phase::Leaving);
        }
    }

    /// Answers calls under way; and those of some seconds from `begun` on, if it `is_replaced` by a pod that callers
    /// have yet to hear of.
    pub(super) async fn hand_over(&mut self, begun: Instant, is_replaced: bool) {
        let Some(Serving { phase, mut server }) = self.serving.take() else { return };
        if is_replaced && self.shared.flags.own_deployment.is_some() {
            sleep_until(begun + LINGER).await;
        }
        phase.send_replace(Phase::Closed);
        let _ = timeout(UNDER_WAY, server.join_next()).await;
    }

    /// Every replica answers, leading or not.
    pub(super) async fn serve_webhooks(
        &mut self,
        hooks: Vec<Hook>,
        health: &Health,
        watches: Client,
        namespace: &str,
    ) -> Result<(), RunError> {
        let (flags, Some(metrics)) = (&self.shared.flags, self.shared.metrics.webhooks()) else {
            return Ok(());
        };
        let bound = server::bind(&flags.webhook_bind_address).await;
        let Some(listener) = bound.map_err(|source| RunError::Server(Box::new(source)))? else {
            return Ok(());
        };
        let address = listener.local_addr().map(|address| address.to_string());
        info!(name = "webhook", address = address.unwrap_or_default(), "starting server");
        let about: Vec<Webhook> = hooks.iter().map(|hook| hook.about.clone()).collect();
        let (current, standing) = (Arc::new(Current::default()), Standing::new());
        let routes = Arc::new(Routes::new(hooks, &metrics));
        let (asked, places) = (standing.clone(), routes.places());
        health.live("webhook", move || places.check());
        health.ready("webhook", move || asked.get());
        let (phase, seen) = watch::channel(Phase::Open);
        let mut server = JoinSet::new();
        server.spawn(serve(listener, current.clone(), routes, seen));
        self.serving = Some(Serving { phase, server });
        if let Some(files) = found(flags) {
            self.background.spawn(files.follow(current, standing, metrics));
            return Ok(());
        }
        let operator = self.shared.registry.manager.to_string();
        let keeper = Keeper {
            client: self.client.clone(),
            namespace: namespace.to_owned(),
            secret: secret_name(&operator),
            hosts: hosts(&operator, namespace),
            trust: Trust::new(self.client.clone(), &operator, namespace, called(&operator, &about)),
            operator,
            current,
            standing,
            clock: self.shared.clock.clone(),
            timing: Timing::default(),
            metrics,
            memory: None,
        };
        self.background.spawn(keeper.run(watches));
        Ok(())
    }
}
