//! A fault of each kind, each on another write or event of the creation of a cache.

use std::time::Duration;

use kubewright_testenv::Env;
use memcached_faults::plan::{Fault, Plan, Scenario, Target};
use memcached_faults::report::{Recorded, carry_out, record};
use memcached_faults::run::Patience;
use memcached_faults::world::World;

/// On a machine that does other things beside.
const PATIENCE: Patience =
    Patience { converge: Duration::from_secs(30), silence: Duration::from_secs(5) };
const BESIDE: usize = 12;

/// For each fault one plan, going around through the targets; those that take long only in `make faults`.
fn chosen(recorded: &Recorded) -> Vec<Plan> {
    let of = |fault: Fault| recorded.plans.iter().filter(move |plan| plan.fault == fault);
    let writes = Fault::OF_WRITES.into_iter().filter(|fault| *fault != Fault::LeaderChange);
    let all = writes.chain(Fault::OF_EVENTS).enumerate();
    all.filter_map(|(number, fault)| {
        let count = of(fault).count();
        of(fault).nth(number % count.max(1)).cloned()
    })
    .collect()
}

#[kubewright_testenv::test(controllers)]
async fn a_cache_is_created_whatever_happens_meanwhile(env: Env) {
    let world = World::new(env.environment()).await.unwrap();
    let recorded = record(&world, Scenario::Create, PATIENCE).await.unwrap();
    let mut plans = chosen(&recorded);
    // Every write is cut off in the middle, too.
    let in_the_middle = |plan: &&Plan| {
        plan.fault == Fault::KillAfterSend && matches!(plan.target, Target::Write { .. })
    };
    plans.extend(recorded.plans.iter().filter(in_the_middle).cloned());
    plans.sort();
    plans.dedup();
    let count = plans.len();
    let verdicts = carry_out(&world, &[recorded], plans, PATIENCE, BESIDE).await;
    let wrong: Vec<_> = verdicts
        .iter()
        .filter(|verdict| !verdict.wrong.is_empty())
        .map(|verdict| format!("{}: {}", verdict.plan, verdict.wrong.join("; ")))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let fired = verdicts.iter().filter(|verdict| verdict.fired).count();
    // How many events there are depends on what the controllers see at once; the writes are always the same.
    assert!(fired * 4 >= count * 3, "{fired} of {count} faults came about");
    eprintln!("plans: {count} run, {count} held; {fired} faults came about");
}
