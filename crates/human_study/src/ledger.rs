//! Who was shown what, and who answered what: the state that follows from the journal.

use crate::journal::{Event, Host, Purpose, TimedChoice};
use crate::stimulus::StimulusKind;
use crate::study::Study;
use std::collections::BTreeSet;

/// All that happened in a study so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The fingerprint of the protocol that it is served under.
    pub(crate) protocol: Option<String>,
    /// By number, from 0.
    pub(crate) participants: Vec<Participant>,
    /// Whose pictures were answered, in the order of the answers.
    answered: Vec<TrialPosition>,
    /// The secret part of the link by which anybody can join.
    pub(crate) invite: Option<String>,
}

/// A picture that somebody was given, by its position in the study.
#[derive(Debug, Clone, Copy)]
struct TrialPosition {
    who: u32,
    batch: u32,
    trial: u32,
}

/// An answer, and whether it counts.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// The participant's number.
    pub(crate) who: usize,
    /// The picture's place in the index.
    pub(crate) stimulus: usize,
    pub(crate) answer: &'a TimedChoice,
    /// Why it does not count, where it does not.
    pub(crate) left_out: Option<LeftOut>,
}

/// Somebody who takes part.
#[derive(Debug)]
pub(crate) struct Participant {
    pub(crate) token: String,
    pub(crate) by: Host,
    pub(crate) consented: bool,
    pub(crate) batches: Vec<Batch>,
}

/// Pictures that somebody was given.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) purpose: Purpose,
    pub(crate) trials: Vec<Trial>,
}

/// One picture that somebody was given.
#[derive(Debug)]
pub(crate) struct Trial {
    /// Its place in the index.
    pub(crate) stimulus: usize,
    pub(crate) state: State,
}

/// How far a trial is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum State {
    /// Not shown yet.
    Open,
    /// Shown; without an answer it stays so, since nobody sees a picture twice.
    Begun,
    /// Answered.
    Answered(TimedChoice),
}

/// Why an answer does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// Its picture was part of the test.
    Qualification,
    /// Its picture was a check.
    Check,
    /// Its participant missed too many checks.
    Careless,
    /// Its picture was shown for too long or too short.
    Mistimed,
}

impl LeftOut {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Qualification => "qualification",
            Self::Check => "check",
            Self::Careless => "careless",
            Self::Mistimed => "mistimed",
        }
    }
}

impl Trial {
    fn is_right(&self, study: &Study) -> bool {
        matches!(&self.state, State::Answered(answer) if study.is_right(self.stimulus, answer))
    }
}

impl Batch {
    /// The first picture that was not shown yet.
    pub(crate) fn next(&self) -> Option<usize> {
        self.trials.iter().position(|trial| trial.state == State::Open)
    }
}

impl Participant {
    /// Whether a test was passed. A picture that was left without an answer is a wrong one, or a
    /// page that is loaded again at every hard picture would pass.
    pub(crate) fn is_qualified(&self, study: &Study) -> bool {
        self.tests().any(|batch| {
            let right = batch.trials.iter().filter(|trial| trial.is_right(study)).count();
            let all = batch.trials.len();
            batch.next().is_none() && all > 0 && right as f64 >= study.protocol.pass * all as f64
        })
    }

    /// The picture that somebody may be looking at right now, by batch and place in it: the last
    /// one that was shown, without an answer so far.
    pub(crate) fn under_way(&self) -> Option<(usize, usize)> {
        let batch = self.batches.len().checked_sub(1)?;
        let trials = &self.batches[batch].trials;
        let last = trials.iter().rposition(|trial| trial.state != State::Open)?;
        (trials[last].state == State::Begun).then_some((batch, last))
    }

    /// Whether answers to pictures that were given may still come.
    pub(crate) fn is_in_a_batch(&self) -> bool {
        let open = self.batches.last().is_some_and(|batch| batch.next().is_some());
        open || self.under_way().is_some()
    }

    /// How many tests were taken.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter().filter(|batch| batch.purpose == Purpose::Qualification)
    }

    /// How many batches of the study were taken.
    pub(crate) fn rounds(&self) -> usize {
        self.batches.len() - self.tests().count()
    }

    /// Whether too many checks were missed: two, and more than a quarter. A careful person misses
    /// one now and then, since a picture is gone in a blink. One that was left without an answer
    /// is missed, as soon as it cannot be under way any more.
    pub(crate) fn is_careless(&self, study: &Study) -> bool {
        let under_way = self.under_way();
        let rounds = self.batches.iter().enumerate();
        let rounds = rounds.filter(|(_, batch)| batch.purpose == Purpose::Study);
        let mut all = 0;
        let mut missed = 0;
        for (number, batch) in rounds {
            for (at, trial) in batch.trials.iter().enumerate() {
                let shown = trial.state != State::Open && under_way != Some((number, at));
                if shown && study.stimuli[trial.stimulus].kind == StimulusKind::Easy {
                    all += 1;
                    missed += usize::from(!trial.is_right(study));
                }
            }
        }
        missed >= 2 && 4 * missed > all
    }

    /// Every picture that was given, in order.
    pub(crate) fn given(&self) -> impl Iterator<Item = usize> + '_ {
        self.batches.iter().flat_map(|batch| &batch.trials).map(|trial| trial.stimulus)
    }
}

/// What a participant is called in tables; the link is a secret.
pub(crate) fn name(participant: usize) -> String {
    format!("p{:03}", participant + 1)
}

impl Ledger {
    /// The state after all events of a journal.
    pub(crate) fn of(events: &[Event], study: &Study) -> Result<Self, String> {
        let mut ledger = Self::default();
        for (at, event) in events.iter().enumerate() {
            ledger.apply(event, study).map_err(|what| format!("line {} {what}", at + 1))?;
        }
        Ok(ledger)
    }

    /// Applies an event. One that cannot have happened is an error and changes nothing.
    pub(crate) fn apply(&mut self, event: &Event, study: &Study) -> Result<(), &'static str> {
        match event {
            Event::Opened { protocol } => self.protocol = Some(protocol.clone()),
            Event::Invited { invite } => self.invite = Some(invite.clone()),
            Event::Joined { participant, token, by } => {
                if *participant as usize != self.participants.len() {
                    return Err("lets somebody join out of turn");
                }
                let token = token.clone();
                let by = *by;
                let batches = Vec::new();
                self.participants.push(Participant { token, by, consented: false, batches });
            }
            Event::Consented { participant } => self.who(*participant)?.consented = true,
            Event::Dealt { participant, purpose, pictures } => {
                let found: Option<Vec<usize>> =
                    pictures.iter().map(|file| study.find(file)).collect();
                let found = found.ok_or("names a picture that the study does not have")?;
                let trials = found
                    .into_iter()
                    .map(|stimulus| Trial { stimulus, state: State::Open })
                    .collect();
                self.who(*participant)?.batches.push(Batch { purpose: *purpose, trials });
            }
            &Event::Begun { participant: who, batch, trial } => {
                let trial = self.trial(TrialPosition { who, batch, trial })?;
                if trial.state != State::Open {
                    return Err("shows a picture twice");
                }
                trial.state = State::Begun;
            }
            &Event::Answered { participant: who, batch, trial, answer } => {
                let place = TrialPosition { who, batch, trial };
                let trial = self.trial(place)?;
                if trial.state != State::Begun {
                    return Err("answers a picture that was not shown, or was answered before");
                }
                if answer.choice >= study.protocol.choices.len() {
                    return Err("answers what is none of the choices");
                }
                trial.state = State::Answered(answer);
                self.answered.push(place);
            }
        }
        Ok(())
    }

    fn who(&mut self, participant: u32) -> Result<&mut Participant, &'static str> {
        self.participants.get_mut(participant as usize).ok_or("names somebody who never joined")
    }

    fn trial(
        &mut self,
        TrialPosition { who, batch, trial }: TrialPosition,
    ) -> Result<&mut Trial, &'static str> {
        let batch = self.who(who)?.batches.get_mut(batch as usize);
        let trial = batch.and_then(|batch| batch.trials.get_mut(trial as usize));
        trial.ok_or("names a picture that was never given")
    }

    /// Whether somebody has been given pictures, so that the protocol is fixed.
    pub(crate) fn is_under_way(&self) -> bool {
        self.participants.iter().any(|one| !one.batches.is_empty())
    }

    /// By picture, how many answers count.
    pub(crate) fn counts(&self, study: &Study) -> Vec<u32> {
        let mut counts = vec![0; study.stimuli.len()];
        for entry in self.answers(study) {
            counts[entry.stimulus] += u32::from(entry.left_out.is_none());
        }
        counts
    }

    /// Every answer in the order in which they came.
    pub(crate) fn answers<'a>(&'a self, study: &'a Study) -> impl Iterator<Item = Entry<'a>> {
        let careless = self.participants.iter().map(|one| one.is_careless(study));
        let careless: Vec<bool> = careless.collect();
        self.answered.iter().filter_map(move |place| {
            let who = place.who as usize;
            let batch = &self.participants[who].batches[place.batch as usize];
            let Trial { stimulus, state } = &batch.trials[place.trial as usize];
            let State::Answered(answer) = state else { return None };
            let left_out = if batch.purpose == Purpose::Qualification {
                Some(LeftOut::Qualification)
            } else if study.stimuli[*stimulus].kind == StimulusKind::Easy {
                Some(LeftOut::Check)
            } else if careless[who] {
                Some(LeftOut::Careless)
            } else if !study.is_timely(answer) {
                Some(LeftOut::Mistimed)
            } else {
                None
            };
            Some(Entry { who, stimulus: *stimulus, answer, left_out })
        })
    }

    /// Pictures of the data set that somebody has met, in whichever version.
    pub(crate) fn met<'a>(&self, who: usize, study: &'a Study) -> BTreeSet<&'a str> {
        let given = self.participants[who].given();
        given.map(|at| study.stimuli[at].image.as_str()).collect()
    }
}
