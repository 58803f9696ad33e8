//! The order of everything: interleaved, so that what changes on the machine meanwhile meets all of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use kubewright_bench::process::cpu_of;
use kubewright_bench::progress;
use kubewright_bench::report::measured::{WRITES, number};
use kubewright_bench::results::{Case, Profile, Results, Subject};

use crate::limit;
use crate::objects::Object;
use crate::programs::Programs;
use crate::reactor::Reactor;
use crate::recorded::{Recorder, Templates};
use crate::rig::{Rig, within_limit};
use crate::session::Out;
use crate::{Part, counting, instructions, sizes, starts, timing};

/// From so many objects on, all phases are run.
const ALL_PHASES: usize = 1_000;

/// What is to be measured, and what was.
pub(crate) struct Run {
    pub(crate) programs: Programs,
    pub(crate) operators: Vec<Subject>,
    pub(crate) parts: Vec<Part>,
    pub(crate) objects: Vec<usize>,
    pub(crate) rounds: usize,
    pub(crate) rest: u32,
    pub(crate) output: PathBuf,
    pub(crate) results: Results,
}

impl Run {
    /// Everything with one way of running etcd.
    pub(crate) async fn profile(&mut self, profile: Profile) -> anyhow::Result<()> {
        if self.wants(Part::Sizes) {
            sizes::measure(&self.programs.clone(), &mut self.out(profile, 0, Subject::Ours, 0))?;
            self.save()?;
        }
        if self.wants(Part::Start) {
            self.starts(profile).await?;
        }
        if self.wants(Part::Timing) || self.wants(Part::Backlog) {
            self.timing(profile).await?;
        }
        if self.wants(Part::Counting) {
            self.counting(profile).await?;
        }
        if self.wants(Part::Instructions) {
            let rig = Rig::start(&self.programs, profile, false).await?;
            let mut out = self.out(profile, instructions::OBJECTS, Subject::Ours, 0);
            instructions::measure(&rig, &mut out).await?;
            rig.stop().await?;
            self.save()?;
        }
        Ok(())
    }

    async fn starts(&mut self, profile: Profile) -> anyhow::Result<()> {
        for round in 0..self.rounds {
            for subject in self.operators.clone() {
                let rig = Rig::start(&self.programs, profile, false).await?;
                rig.settle().await?;
                starts::measure(&rig, &mut self.out(profile, 0, subject, round)).await?;
                rig.stop().await?;
                self.save()?;
            }
        }
        Ok(())
    }

    async fn timing(&mut self, profile: Profile) -> anyhow::Result<()> {
        let templates = record(&self.programs, profile).await?;
        let at_once = limit::sweep(&self.programs, &templates, profile).await?;
        for objects in self.objects.clone() {
            for round in 0..self.rounds {
                let rate = self.limit(profile, objects, round, &templates, at_once).await?;
                for subject in self.operators.clone() {
                    self.operator(profile, objects, round, subject, rate).await?;
                }
                if self.has_all_phases(objects) {
                    self.reactor(profile, objects, round, &templates, rate).await?;
                }
            }
        }
        Ok(())
    }

    /// The null writer. Answers with how many writes a second it had accepted.
    async fn limit(
        &mut self,
        profile: Profile,
        objects: usize,
        round: usize,
        templates: &Templates,
        at_once: usize,
    ) -> anyhow::Result<f64> {
        let rig = Rig::start(&self.programs, profile, false).await?;
        let created = rig.create("cache", objects).await?;
        let _watched_as_others_are = rig.caches().await?;
        let before = cpu_of(std::process::id())?;
        let took = limit::run(&rig, templates, &created, at_once).await?.as_secs_f64();
        let cpu = cpu_of(std::process::id())?.saturating_sub(before).as_secs_f64();
        rig.until_children(objects).await?;
        rig.stop().await?;
        let rate = WRITES * number(objects) / took;
        let mut out = self.out(profile, objects, Subject::NullWriter, round);
        out.add("limit", "seconds", took);
        out.add("limit", "writes_per_second", rate);
        out.add("limit", "concurrency", number(at_once));
        out.add("limit", "cpu_seconds", cpu);
        self.save()?;
        Ok(rate)
    }

    async fn operator(
        &mut self,
        profile: Profile,
        objects: usize,
        round: usize,
        subject: Subject,
        rate: f64,
    ) -> anyhow::Result<()> {
        let all_phases = self.has_all_phases(objects);
        let rig = Rig::start(&self.programs, profile, false).await?;
        let created = rig.create("cache", objects).await?;
        let mut out = self.out(profile, objects, subject, round);
        let mut process = timing::backlog(&rig, &created, &mut out).await?;
        if all_phases {
            process = timing::restart(&rig, process, &mut out).await?;
            timing::update(&rig, &created, &mut out).await?;
            timing::drifts(&rig, &created, &mut out).await?;
            timing::live(&rig, rate, &mut out).await?;
            timing::delete(&rig, &mut process, &created, &mut out).await?;
        }
        process.stop().await?;
        rig.stop().await?;
        self.save()
    }

    /// The ideal reactor: what waits for an event cannot be quicker.
    async fn reactor(
        &mut self,
        profile: Profile,
        objects: usize,
        round: usize,
        templates: &Templates,
        rate: f64,
    ) -> anyhow::Result<()> {
        let rig = Rig::start(&self.programs, profile, false).await?;
        let reactor = Reactor::start(&rig, templates).await?;
        let created = rig.create("cache", objects).await?;
        within_limit("the reactor's backlog", rig.until_children(objects)).await?;
        rig.settle().await?;
        let mut out = self.out(profile, objects, Subject::IdealReactor, round);
        timing::drifts(&rig, &created, &mut out).await?;
        timing::live(&rig, rate, &mut out).await?;
        drop(reactor);
        rig.stop().await?;
        self.save()
    }

    async fn counting(&mut self, profile: Profile) -> anyhow::Result<()> {
        for objects in self.objects.clone() {
            for subject in self.operators.clone() {
                let began = Instant::now();
                let rig = Rig::start(&self.programs, profile, true).await?;
                let created = rig.create("cache", objects).await?;
                // The two Go operators differ in their workers only, which rest alike.
                let rests =
                    self.rest > 0 && self.is_largest(objects) && subject != Subject::GoTuned;
                let rest = rests.then(|| Duration::from_mins(1) * self.rest);
                let mut scratch = Results::default();
                let case = Case { profile, objects, subject };
                let mut beside = Out { results: &mut scratch, case, round: 0 };
                let mut out = self.out(profile, objects, subject, 0);
                counting::all(&rig, &created, rest, &mut out, &mut beside).await?;
                rig.stop().await?;
                self.save()?;
                progress(&format!("counted in {:.0} s", began.elapsed().as_secs_f64()));
            }
        }
        Ok(())
    }

    fn out(&mut self, profile: Profile, objects: usize, subject: Subject, round: usize) -> Out<'_> {
        Out { results: &mut self.results, case: Case { profile, objects, subject }, round }
    }

    fn wants(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    fn has_all_phases(&self, objects: usize) -> bool {
        objects >= ALL_PHASES && self.wants(Part::Timing)
    }

    fn is_largest(&self, objects: usize) -> bool {
        self.objects.iter().all(|other| *other <= objects)
    }

    fn save(&self) -> anyhow::Result<()> {
        self.results.write(&self.output)
    }
}

/// What ours sends for one object.
async fn record(programs: &Programs, profile: Profile) -> anyhow::Result<Templates> {
    let rig = Rig::start(programs, profile, false).await?;
    let object = Object { namespace: "bench-9".to_owned(), name: "the-recorded-one".to_owned() };
    let mut caches = rig.caches().await?;
    let directory = rig.directory("recorded")?;
    let kubeconfig = directory.join("kubeconfig");
    let recorder = Recorder::start(rig.operator_client.clone(), &kubeconfig).await?;
    let mut process = rig.operator_through(Subject::Ours, "recorded", &kubeconfig)?;
    process.until_ready().await?;
    crate::wire::send(&rig.client, object.create()).await?.accepted()?;
    let converged = async {
        loop {
            let seen = caches.next().await?;
            if seen.is_converged() {
                return Ok(seen.uid);
            }
        }
    };
    let uid = within_limit("recording", converged).await?;
    process.until_quiet().await?;
    process.stop().await?;
    let templates = Templates::new(&recorder.calls(), object, uid)?;
    rig.stop().await?;
    Ok(templates)
}
