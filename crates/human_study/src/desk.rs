//! The desk of a study: lets people in, deals pictures, takes answers. Every event is in the
//! journal on disk before a request is answered.

use crate::deal;
use crate::error::StudyError;
use crate::journal::{Event, Host, Journal, Purpose};
use crate::ledger::{Ledger, Participant, State, name};
use crate::step::{Answer, Begin, Next, Recorded, Step};
use crate::stimulus;
use crate::study::Study;
use ring::rand::{SecureRandom as _, SystemRandom};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// After this time without a request, a participant's open pictures are dealt to others.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// More people than any study has; keeps an invitation that got around from filling the disk.
const MAX_PEOPLE: usize = 100_000;

/// Why a request of the page is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The link is not one of this study.
    #[error("this link is not known")]
    Unknown,
    /// The request does not fit the participant's progress, as from a second window.
    #[error("this does not fit what came before; reload the page")]
    Late,
    /// The request makes no sense.
    #[error("{0}")]
    Nonsense(&'static str),
    /// It cannot be written down.
    #[error(transparent)]
    Study(#[from] StudyError),
}

/// A link to hand out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name of its participant in tables.
    pub participant: String,
    /// Its secret part.
    pub token: String,
}

/// A study that is under way.
#[derive(Debug)]
pub struct Desk {
    study: Study,
    ledger: Ledger,
    journal: Journal,
    by_token: BTreeMap<String, usize>,
    heard: BTreeMap<usize, Instant>,
    random: SystemRandom,
    /// Held for as long as the desk is open.
    _lock: File,
}

impl Desk {
    /// Opens a study to go on with it. Only one process can.
    pub fn open(dir: &Path) -> Result<Self, StudyError> {
        let study = Study::open(dir)?;
        stimulus::all_there(dir, &study.stimuli)?;
        let lock = lock(dir)?;
        let (journal, events) = Journal::open(dir)?;
        let ledger = ledger(&events, &study)?;
        let people = || ledger.participants.iter().enumerate();
        let by_token = people().map(|(at, one)| (one.token.clone(), at)).collect();
        // Nobody knows when they were heard of last; their pictures stay theirs for a while.
        let in_a_batch = people().filter(|(_, one)| one.is_in_a_batch());
        let heard = in_a_batch.map(|(at, _)| (at, Instant::now())).collect();
        let random = SystemRandom::new();
        let mut desk = Self { study, ledger, journal, by_token, heard, random, _lock: lock };
        let protocol = desk.study.protocol.fingerprint();
        if desk.ledger.protocol.as_ref() != Some(&protocol) {
            desk.commit(&[Event::Opened { protocol }])?;
        }
        Ok(desk)
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.study
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The personal links of this many participants, who are added where they are missing. Those
    /// who joined by the invitation are not among them: their links are theirs alone.
    pub fn links(&mut self, people: usize) -> Result<Vec<Link>, StudyError> {
        let missing = people.saturating_sub(self.to_hand_out().count());
        self.has_room_for(missing)?;
        for _ in 0..missing {
            self.admit(Host::Operator)?;
        }
        Ok(self.to_hand_out().take(people).collect())
    }

    fn to_hand_out(&self) -> impl Iterator<Item = Link> {
        let people = self.ledger.participants.iter().enumerate();
        people
            .filter(|(_, one)| one.by == Host::Operator)
            .map(|(number, one)| Link { participant: name(number), token: one.token.clone() })
    }

    /// The secret part of the link by which anybody can join.
    pub fn invite(&mut self) -> Result<String, StudyError> {
        if let Some(invite) = &self.ledger.invite {
            return Ok(invite.clone());
        }
        let invite = self.secret()?;
        self.commit(&[Event::Invited { invite: invite.clone() }])?;
        Ok(invite)
    }

    /// Adds a participant who has the invitation; the secret part of their own link.
    pub fn join(&mut self) -> Result<String, StudyError> {
        self.admit(Host::Invitation)
    }

    fn admit(&mut self, by: Host) -> Result<String, StudyError> {
        self.has_room_for(1)?;
        let number = self.ledger.participants.len();
        let token = self.secret()?;
        let joined = Event::Joined { participant: number as u32, token: token.clone(), by };
        self.commit(&[joined])?;
        self.by_token.insert(token.clone(), number);
        Ok(token)
    }

    fn has_room_for(&self, more: usize) -> Result<(), StudyError> {
        if self.ledger.participants.len().saturating_add(more) > MAX_PEOPLE {
            let why = format!("a study has at most {MAX_PEOPLE} participants");
            return Err(StudyError::Request(why));
        }
        Ok(())
    }

    fn secret(&self) -> Result<String, StudyError> {
        let mut bytes = [0; 16];
        let drawn = self.random.fill(&mut bytes);
        drawn.map_err(|_| std::io::Error::other("the system gives no random numbers"))?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Writes events to the journal, and only then applies them.
    fn commit(&mut self, events: &[Event]) -> Result<(), StudyError> {
        self.journal.append(events)?;
        for event in events {
            let what = self.ledger.apply(event, &self.study);
            what.map_err(|what| StudyError::damaged(what, &self.study.dir))?;
        }
        Ok(())
    }

    pub(crate) fn is_invite(&self, invite: &str) -> bool {
        self.ledger.invite.as_deref() == Some(invite)
    }

    pub(crate) fn who(&mut self, token: &str) -> Result<usize, Refusal> {
        let who = self.by_token.get(token).copied().ok_or(Refusal::Unknown)?;
        self.heard.insert(who, Instant::now());
        Ok(who)
    }

    /// How far a participant is.
    pub fn step(&mut self, token: &str) -> Result<Step, Refusal> {
        let who = self.who(token)?;
        Ok(self.progress(who))
    }

    fn progress(&self, who: usize) -> Step {
        let participant = &self.ledger.participants[who];
        let protocol = &self.study.protocol;
        let open = participant.batches.last().is_some_and(|batch| batch.next().is_some());
        let left = if participant.is_careless(&self.study) { 0 } else { self.left(who) };
        let rounds = participant.rounds();
        Step {
            next: self.next(participant, left),
            choices: protocol.choices.clone(),
            shown_ms: protocol.shown_ms,
            mask_ms: protocol.mask_ms,
            batch: protocol.batch,
            qualification: protocol.qualification,
            rounds: rounds - usize::from(open && rounds > 0),
            of: rounds + left.div_ceil(protocol.fresh()),
        }
    }

    fn next(&self, participant: &Participant, left: usize) -> Next {
        let passed = participant.is_qualified(&self.study);
        let number = participant.batches.len();
        let Some(batch) = participant.batches.last() else {
            return if left == 0 { Next::End { passed: true } } else { Next::Welcome };
        };
        if let Some(first) = batch.next() {
            return Next::Trials {
                batch: (number - 1) as u32,
                purpose: batch.purpose,
                first: first as u32,
                pictures: batch.trials[first..]
                    .iter()
                    .map(|trial| self.study.stimuli[trial.stimulus].file.clone())
                    .collect(),
                all: batch.trials.len(),
            };
        }
        let again = participant.tests().count() < self.study.protocol.tries as usize;
        if left > 0 && (passed || again) {
            return Next::Pause { after: batch.purpose, passed };
        }
        Next::End { passed }
    }

    /// How many pictures of the study this person could still be shown.
    fn left(&self, who: usize) -> usize {
        let met = self.ledger.met(who, &self.study);
        let taken = self.taken(who);
        let wanted = self.study.wanted().filter(|&at| taken[at] < self.study.protocol.answers);
        let images = wanted.map(|at| self.study.stimuli[at].image.as_str());
        images.filter(|image| !met.contains(image)).collect::<std::collections::BTreeSet<_>>().len()
    }

    /// By picture, how many answers there are, or others are about to give.
    fn taken(&self, who: usize) -> Vec<u32> {
        let mut taken = self.ledger.counts(&self.study);
        for other in (0..self.ledger.participants.len())
            .filter(|&at| at != who)
            .filter(|at: &usize| self.heard.get(at).is_some_and(|at| at.elapsed() < PATIENCE))
        {
            let Some(batch) = self.ledger.participants[other].batches.last() else { continue };
            for trial in &batch.trials {
                taken[trial.stimulus] += u32::from(!matches!(trial.state, State::Answered(_)));
            }
        }
        taken
    }

    /// Somebody wants the next pictures: after the instructions, or after a pause.
    pub fn go_on(&mut self, token: &str) -> Result<Step, Refusal> {
        let who = self.who(token)?;
        let participant = who as u32;
        let (consent, purpose) = match self.progress(who).next {
            Next::Welcome => (true, Purpose::Qualification),
            Next::Pause { passed: false, .. } => (false, Purpose::Qualification),
            Next::Pause { passed: true, .. } => (false, Purpose::Study),
            // A second click, or another window: nothing changes.
            Next::Trials { .. } | Next::End { .. } => return Ok(self.progress(who)),
        };
        let dealt = match purpose {
            Purpose::Qualification => deal::test(who, &self.ledger, &self.study),
            Purpose::Study => deal::batch(who, &self.ledger, &self.taken(who), &self.study),
        };
        let pictures = dealt.into_iter().map(|at| self.study.stimuli[at].file.clone()).collect();
        let mut events = vec![Event::Dealt { participant, purpose, pictures }];
        if consent {
            events.insert(0, Event::Consented { participant });
        }
        self.commit(&events)?;
        Ok(self.progress(who))
    }

    /// A picture is about to be shown; it never will be again to this person. The same one again,
    /// from a page that heard nothing, begins once.
    pub fn begin(&mut self, token: &str, Begin { batch, trial }: Begin) -> Result<(), Refusal> {
        let who = self.who(token)?;
        let asker = &self.ledger.participants[who];
        if asker.under_way() == Some((batch as usize, trial as usize)) {
            return Ok(());
        }
        let batches = &asker.batches;
        let last = batches.len().checked_sub(1).ok_or(Refusal::Late)?;
        if last != batch as usize || batches[last].next() != Some(trial as usize) {
            return Err(Refusal::Late);
        }
        let participant = who as u32;
        Ok(self.commit(&[Event::Begun { participant, batch, trial }])?)
    }

    /// Takes an answer. The same one again, from a page that heard nothing, is taken once.
    pub fn answer(&mut self, token: &str, answer: Answer) -> Result<Recorded, Refusal> {
        let Answer { batch, trial, answer } = answer;
        let who = self.who(token)?;
        let millis = [answer.millis, answer.shown_ms, answer.frame_ms];
        if !millis.iter().all(|ms| (0.0..=1e9).contains(ms)) {
            return Err(Refusal::Nonsense("times are milliseconds from 0"));
        }
        if answer.choice >= self.study.protocol.choices.len() {
            return Err(Refusal::Nonsense("the choices are 0 and 1"));
        }
        let given = self.ledger.participants[who].batches.get(batch as usize);
        let given =
            given.and_then(|given| Some((given.purpose, given.trials.get(trial as usize)?)));
        let (purpose, shown) = given.ok_or(Refusal::Late)?;
        let stimulus = shown.stimulus;
        let state = shown.state;
        match state {
            State::Answered(before) if before == answer => {}
            State::Begun => {
                let participant = who as u32;
                self.commit(&[Event::Answered { participant, batch, trial, answer }])?;
            }
            State::Open | State::Answered(_) => return Err(Refusal::Late),
        }
        let test = purpose == Purpose::Qualification;
        Ok(Recorded { truth: test.then(|| self.study.stimuli[stimulus].truth.clone()) })
    }

    /// The file of a picture that a participant is about to see. Nobody else gets it, and nobody
    /// gets it later.
    pub fn picture(&mut self, token: &str, file: &str) -> Result<PathBuf, Refusal> {
        let who = self.who(token)?;
        let stimulus = self.study.find(file).ok_or(Refusal::Late)?;
        let batch = self.ledger.participants[who].batches.last().ok_or(Refusal::Late)?;
        let theirs = batch.trials.iter().any(|one| {
            one.stimulus == stimulus && (matches!(one.state, State::Open | State::Begun))
        });
        if !theirs {
            return Err(Refusal::Late);
        }
        Ok(self.study.stimuli[stimulus].path(&self.study.dir))
    }
}

/// The state so far. An error where the events happened under another protocol: the answers would
/// be read as something else than was answered.
pub(crate) fn ledger(events: &[Event], study: &Study) -> Result<Ledger, StudyError> {
    let ledger = Ledger::of(events, study).map_err(|what| StudyError::damaged(what, &study.dir))?;
    let same = ledger.protocol.as_ref() == Some(&study.protocol.fingerprint());
    if same || !ledger.is_under_way() {
        Ok(ledger)
    } else {
        Err(StudyError::Altered(study.dir.clone()))
    }
}

/// Takes the study for as long as the file lives; the system frees it however the process ends.
pub(crate) fn lock(dir: &Path) -> Result<File, StudyError> {
    let path = dir.join("lock");
    let failed = || StudyError::io("lock the study", &path);
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(&path).map_err(failed())?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StudyError::Busy(dir.to_path_buf())),
        Err(TryLockError::Error(error)) => Err(failed()(error)),
    }
}
