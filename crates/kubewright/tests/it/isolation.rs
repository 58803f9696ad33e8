//! One object that panics, hangs or fails costs nobody else anything.

use kubewright::RECONCILED;
use kubewright::conditions::find;
use kubewright::kube::api::PostParams;
use kubewright_testenv::Env;

use crate::books::{Book, book, moody, passes_of};
use crate::running;

/// Waits until the library's condition has this status and reason, and gives its message.
async fn reconciled(env: &Env, name: &str, status: &str, reason: &str) -> String {
    env.eventually(&format!("{name} is {status}/{reason}"), async || {
        let book = env.api::<Book>().get(name).await.map_err(|error| error.to_string())?;
        let conditions = book.status.unwrap_or_default().conditions;
        let condition = find(&conditions, RECONCILED).ok_or("no condition yet")?;
        if (condition.status.as_str(), condition.reason.as_str()) == (status, reason) {
            Ok(condition.message.clone())
        } else {
            Err(format!("{condition:?}"))
        }
    })
    .await
}

#[kubewright_testenv::test]
async fn a_book_is_reconciled_and_says_so(env: Env) {
    let operator = running::books(&env).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let writes = running::settled(|| operator.writes(&env)).await;
    assert_eq!(writes.len(), 3, "{writes:#?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_panicking_a_hanging_and_a_failing_object_leave_the_others_alone(env: Env) {
    let operator = running::books(&env).await;
    for mood in ["panic", "hang", "fail"] {
        env.create(moody(mood, mood)).await;
    }
    env.create(book("good")).await;
    reconciled(&env, "good", "True", "Reconciled").await;
    assert!(reconciled(&env, "panic", "False", "Panicked").await.contains("asked to"));
    reconciled(&env, "hang", "False", "TimedOut").await;
    assert!(reconciled(&env, "fail", "False", "Moody").await.contains("\"fail\""));
    env.create(book("later")).await;
    reconciled(&env, "later", "True", "Reconciled").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_terminal_error_is_not_tried_again_until_something_changes(env: Env) {
    let operator = running::books(&env).await;
    env.create(moody("sulking", "terminal")).await;
    reconciled(&env, "sulking", "False", "Moody").await;
    let key = format!("{}/sulking", env.namespace());
    assert_eq!(running::settled(|| passes_of(&key)).await, 1);
    let mut cheered = env.api::<Book>().get("sulking").await.unwrap();
    cheered.spec.mood.clear();
    env.api::<Book>().replace("sulking", &PostParams::default(), &cheered).await.unwrap();
    reconciled(&env, "sulking", "True", "Reconciled").await;
    operator.stop().await;
}
