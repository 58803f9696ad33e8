//! The beginning of an operator.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use kubewright_testenv::Env;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_faults::label;

use crate::stage::Stage;

const LATE: Duration = Duration::from_secs(4);

/// The list of one kind comes late; when it came, and when the first write was sent.
#[derive(Default)]
struct LateList {
    began: Mutex<Option<Instant>>,
    first_write: Mutex<Option<Instant>>,
}

impl Hook for LateList {
    fn request(&self, asked: &Asked) -> RequestFault {
        if label::is_write(asked) {
            self.first_write.lock().unwrap().get_or_insert_with(Instant::now);
        }
        let place = label::place(&asked.path);
        let is_list = place.resource == "services" && !asked.query.contains("watch=");
        if is_list && place.name.is_empty() {
            self.began.lock().unwrap().get_or_insert_with(Instant::now);
            return RequestFault::Delay(LATE);
        }
        RequestFault::Pass
    }
}

#[kubewright_testenv::test]
async fn s6_nothing_is_written_before_all_kinds_are_listed(env: Env) {
    let hook = Arc::new(LateList::default());
    let stage = Stage::new(&env, hook.clone(), &[]).await;
    stage.create("a", 1).await;
    stage.settled().await;
    let (began, first) = (hook.began.lock().unwrap().unwrap(), hook.first_write.lock().unwrap());
    let waited = first.unwrap().duration_since(began);
    assert!(waited >= LATE, "it wrote {waited:?} after it asked for the Services");
    stage.stands();
}
