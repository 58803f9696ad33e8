//! Starts what webhooks take: the server, and what keeps its certificate. Nothing if there are none.

use std::sync::Arc;

use kube::Client;
use tracing::info;

use super::{Manager, RunError};
use crate::generate::webhook::{Webhook, called, hosts, secret_name};
use crate::health::Health;
use crate::server;
use crate::webhook::{Current, Hook, Keeper, Routes, Standing, Timing, Trust, found, serve};

impl Manager {
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
        self.background.spawn(serve(listener, current.clone(), routes));
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
