//! What is done to an operator, and what is measured meanwhile.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::ensure;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_bench::bars::Bars;
use kubewright_bench::process::Process;
use kubewright_bench::progress;
use kubewright_bench::requests::{Mark, Requests};
use kubewright_testenv::progress::Progress;
use kubewright_testenv::{Disturbed, Environment, Identity};

use crate::objects::Objects;
use crate::subject::Subject;

/// What 10,000 objects with one child each may take, in MiB, and how much more for a moment.
const MEMORY: (usize, f64) = (10_000, 44.0);
const PEAK: f64 = 1.3;
/// Renewals of the lease in a minute, and of each watch.
const IDLE: (f64, f64) = (12.5, 0.25);
/// Nothing that works takes this long.
const RELIST_LIMIT: Duration = Duration::from_mins(2);

/// The user that the operator is, so that its requests can be told from others.
const USER: &str = "operator";
const OPERATOR: Identity<'_> = Identity::User { name: USER, groups: &["system:masters"] };

/// An operator to be measured.
pub(crate) struct Phases {
    pub(crate) subject: Subject,
    pub(crate) program: PathBuf,
    pub(crate) definition: CustomResourceDefinition,
}

impl Phases {
    /// Only the start with `count` objects that nobody has looked at yet.
    pub(crate) async fn backlog(&self, count: usize, bars: &mut Bars) -> anyhow::Result<()> {
        let environment = environment().await?;
        self.converge(&environment, count, bars).await?;
        environment.stop().await?;
        Ok(())
    }

    /// All phases with `count` objects.
    pub(crate) async fn all(
        &self,
        count: usize,
        idle_minutes: u32,
        bars: &mut Bars,
    ) -> anyhow::Result<()> {
        let environment = environment().await?;
        self.converge(&environment, count, bars).await?;
        let way = environment.disturbed(OPERATOR).await?;
        let (mut process, steady) = self.restart(&environment, &way, count, bars).await?;
        if idle_minutes > 0 {
            self.idle(&environment, &mut process, idle_minutes, bars).await?;
        }
        self.relist(&environment, &way, &mut process, steady, bars).await?;
        process.stop().await?;
        environment.stop().await?;
        Ok(())
    }

    /// Starts with `count` new objects, and ends when all have what they need.
    async fn converge(
        &self,
        environment: &Environment,
        count: usize,
        bars: &mut Bars,
    ) -> anyhow::Result<()> {
        let definition = self.definition.clone();
        let objects = Objects::create(environment, definition, self.subject, count).await?;
        let (mark, began) = (Mark::now(environment)?, Instant::now());
        let kubeconfig = environment.kubeconfig_as(OPERATOR).await?;
        let mut process = self.start(environment, &kubeconfig)?;
        objects.until_converged().await?;
        let took = began.elapsed().as_secs_f64();
        process.until_quiet().await?;
        let phase = format!("backlog of {count}");
        let requests = Requests::since(environment, mark, USER)?;
        progress(&format!("{phase}: {}", requests.by_verb()));
        let (object, child) = objects.sizes().await?;
        bars.note(format!("{phase}: object, Deployment"), format!("{object} B, {child} B"));
        bars.note(format!("{phase}: time"), format!("{took:.1} s"));
        let cpu = process.cpu()?.as_secs_f64();
        bars.note(format!("{phase}: computing time"), format!("{cpu:.2} s"));
        let memory = process.memory()?;
        let text = format!("{:.1} MiB, {:.1} MiB", memory.now, memory.peak);
        bars.note(format!("{phase}: memory, peak"), text);
        let writes = count * (self.subject.children() + 1);
        bars.exactly(format!("{phase}: writes"), requests.writes(), writes);
        bars.exactly(format!("{phase}: reads of single objects"), requests.gets(), 0);
        process.stop().await
    }

    /// Starts with everything as it should be. Answers with the memory that it then keeps.
    async fn restart(
        &self,
        environment: &Environment,
        way: &Disturbed,
        count: usize,
        bars: &mut Bars,
    ) -> anyhow::Result<(Process, f64)> {
        let mark = Mark::now(environment)?;
        let mut process = self.start(environment, &way.kubeconfig)?;
        let ready = process.until_ready().await?.as_secs_f64();
        process.until_quiet().await?;
        let requests = Requests::since(environment, mark, USER)?;
        progress(&format!("restart: {}", requests.by_verb()));
        bars.note("restart: until ready", format!("{ready:.2} s"));
        bars.note("restart: computing time", format!("{:.2} s", process.cpu()?.as_secs_f64()));
        bars.exactly("restart: writes", requests.writes(), 0);
        self.lists("restart", &requests, bars);
        let memory = process.memory()?;
        if count == MEMORY.0 && self.subject.children() == 1 {
            bars.at_most("restart: memory", memory.now, MEMORY.1, "MiB");
        } else {
            bars.note("restart: memory", format!("{:.2} MiB", memory.now));
        }
        bars.at_most("restart: peak of memory", memory.peak, PEAK * memory.now, "MiB");
        Ok((process, memory.now))
    }

    /// Nothing happens.
    async fn idle(
        &self,
        environment: &Environment,
        process: &mut Process,
        minutes: u32,
        bars: &mut Bars,
    ) -> anyhow::Result<()> {
        progress(&format!("idle for {minutes} min"));
        let (mark, before) = (Mark::now(environment)?, process.cpu()?);
        tokio::time::sleep(Duration::from_mins(1) * minutes).await;
        let spent = process.cpu()?.saturating_sub(before).as_secs_f64() * 1e3 / f64::from(minutes);
        let requests = Requests::since(environment, mark, USER)?;
        progress(&format!("idle: {}", requests.by_verb()));
        let rate = f64::from(u32::try_from(requests.count())?) / f64::from(minutes);
        let watches = u32::try_from(self.subject.resources().len())?;
        bars.at_most("idle: requests", rate, IDLE.0 + IDLE.1 * f64::from(watches), "/min");
        bars.exactly("idle: writes but the lease", requests.writes(), 0);
        bars.note("idle: computing time", format!("{spent:.1} ms/min"));
        bars.note("idle: memory at the end", format!("{:.2} MiB", process.memory()?.now));
        Ok(())
    }

    /// The server says on every watch that it has forgotten where that was.
    async fn relist(
        &self,
        environment: &Environment,
        way: &Disturbed,
        process: &mut Process,
        steady: f64,
        bars: &mut Bars,
    ) -> anyhow::Result<()> {
        let (mark, began, before) = (Mark::now(environment)?, Instant::now(), process.cpu()?);
        process.forget_peak()?;
        let expired = way.proxy.expire_watches();
        progress(&format!("{expired} watches expired"));
        let requests = loop {
            process.until_quiet().await?;
            let requests = Requests::since(environment, mark, USER)?;
            let is_listed = |resource: &&str| requests.lists(resource).0 > 0;
            if self.subject.resources().iter().all(is_listed) {
                break requests;
            }
            ensure!(began.elapsed() < RELIST_LIMIT, "not listed again: {}", requests.by_verb());
        };
        bars.exactly("relist: writes", requests.writes(), 0);
        self.lists("relist", &requests, bars);
        let spent = process.cpu()?.saturating_sub(before).as_secs_f64();
        bars.note("relist: computing time", format!("{spent:.2} s"));
        let memory = process.memory()?;
        bars.at_most("relist: peak of memory", memory.peak, PEAK * steady, "MiB");
        bars.note("relist: memory afterwards", format!("{:.2} MiB", memory.now));
        Ok(())
    }

    fn lists(&self, phase: &str, requests: &Requests, bars: &mut Bars) {
        for resource in self.subject.resources() {
            let (lists, pages) = requests.lists(resource);
            bars.exactly(format!("{phase}: lists of {resource} ({pages} pages)"), lists, 1);
        }
    }

    fn start(&self, environment: &Environment, kubeconfig: &Path) -> anyhow::Result<Process> {
        let arguments = ["--leader-elect", "--leader-election-namespace", "default"];
        Process::start(&self.program, kubeconfig, environment.directory(), &arguments)
    }
}

async fn environment() -> anyhow::Result<Environment> {
    Ok(Environment::builder().progress(Progress::Silent).start().await?)
}
