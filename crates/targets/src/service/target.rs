//! A service that answers images.

use super::budget::Budget;
use super::cache::Cache;
use super::caller::{Caller, Heard, Question};
use super::connector::Connector;
use super::endpoint::Endpoint;
use super::error::ServiceError;
use super::hash::{RequestHash, hex};
use super::ledger::{Ledger, Tally};
use super::pace::lock;
use super::price::list_price;
use super::registry;
use super::spec::ServiceSpec;
use super::under_way::UnderWay;
use super::wire::{Answer, Picture, Request, Task};
use crate::onnx::{labels_from, read_labels};
use faultlens_core::{Image, Response, Target, TargetError};
use faultlens_vision::Labels;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Every call, and the answers that needed none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Questions of this process that a filed answer was there for.
    pub cached: u64,
    /// Calls of this process.
    pub process: Tally,
    /// Calls of the whole campaign, as far as its ledger goes back.
    pub campaign: Tally,
}

impl Account {
    /// The calls of the whole campaign by what came of them, each with its name.
    pub fn counts(&self) -> [(&'static str, u64); 10] {
        let Tally { calls, repeats, answered, refused, throttled, .. } = self.campaign;
        let Tally { server_errors, lost, timed_out, denied, unfinished, .. } = self.campaign;
        [
            ("calls", calls),
            ("repeats", repeats),
            ("answered", answered),
            ("refused", refused),
            ("throttled", throttled),
            ("server errors", server_errors),
            ("lost", lost),
            ("timed out", timed_out),
            ("denied", denied),
            ("unfinished", unfinished),
        ]
    }
}

/// A service, asked politely: the same question is paid for once, whatever happens in between.
pub struct ServiceTarget {
    spec: ServiceSpec,
    caller: Caller,
    price: Option<f64>,
    key: String,
    cache: Mutex<Option<Arc<Cache>>>,
    under_way: UnderWay,
    cached: AtomicU64,
    versions: Mutex<BTreeSet<String>>,
    /// Whether only filed answers are given.
    ended: AtomicBool,
    labels: Option<Labels>,
}

impl ServiceTarget {
    /// Opens the service that a spec names; paths in it are from `base`. Nothing is asked yet.
    pub fn open(spec: &ServiceSpec, base: &Path) -> Result<Self, ServiceError> {
        let connector = registry::open(spec, base)?;
        let certificate = spec.certificate.as_ref().map(|path| base.join(path));
        let labels = spec.labels.as_ref().map(|path| read_labels(&labels_from(base, path)));
        let labels =
            labels.transpose().map_err(|error| ServiceError::Setting(error.to_string()))?;
        Ok(Self { labels, ..Self::new(&ServiceSpec { certificate, ..spec.clone() }, connector)? })
    }

    /// A target from a connector at hand; paths in the spec are taken as they are.
    pub fn new(spec: &ServiceSpec, connector: Connector) -> Result<Self, ServiceError> {
        let manners = &spec.manners;
        let endpoint = Endpoint::parse(&connector.endpoint)?;
        // What this machine answers itself, nobody is paid for.
        let listed = || match endpoint.is_loopback() {
            true => Some(0.0),
            false => list_price(&spec.of, connector.task),
        };
        let price = manners.price.or(connector.price).or_else(listed);
        check_manners(spec, price)?;
        let key = key(spec, connector.task, endpoint.address())?;
        let ledger = Ledger::new(&key[..16], Budget::new(manners, price.unwrap_or(0.0)));
        let certificate = spec.certificate.as_deref();
        let caller = Caller::new(connector, endpoint, manners, certificate, ledger)?;
        Ok(Self {
            spec: spec.clone(),
            caller,
            price,
            key,
            cache: Mutex::default(),
            under_way: UnderWay::default(),
            cached: AtomicU64::new(0),
            versions: Mutex::default(),
            ended: AtomicBool::new(false),
            labels: None,
        })
    }

    /// Files answers in a folder and accounts for calls in a file from now on; both may be shared
    /// with other targets. What the file says of earlier calls counts for the budgets.
    pub fn attach(&self, cache: &Path, ledger: &Path) -> Result<(), ServiceError> {
        let cache = Cache::open(cache)?;
        self.caller.ledger().attach(ledger)?;
        *lock(&self.cache) = Some(Arc::new(cache));
        Ok(())
    }

    /// A hash of all that decides answers; manners, credentials and certificates do not.
    pub fn key(&self) -> String {
        self.key.clone()
    }

    /// Every call so far.
    pub fn account(&self) -> Account {
        let (process, campaign) = self.caller.ledger().sums();
        Account { cached: self.cached.load(Ordering::Relaxed), process, campaign }
    }

    /// The versions of models that have answered, as far as the service says them: more than one
    /// means that it changed meanwhile.
    pub fn versions(&self) -> BTreeSet<String> {
        lock(&self.versions).clone()
    }

    /// How many calls are under way at once, at most; more threads only wait.
    pub fn concurrency(&self) -> usize {
        self.spec.manners.concurrency
    }

    /// What a call costs, where anybody knows.
    pub fn price(&self) -> Option<f64> {
        self.price
    }

    /// Gives only filed answers from now on.
    pub fn end_calls(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// How it is described.
    pub fn spec(&self) -> &ServiceSpec {
        &self.spec
    }

    /// The classes' names, where it answers tensors.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    /// What the service is asked for.
    pub fn task(&self) -> Task {
        self.caller.connector().task
    }

    /// Asks again although an answer is filed, and says whether it still means the same; `None`
    /// where none is filed. The filed one stays.
    pub fn ask_again(&self, image: &Image) -> Result<Option<bool>, TargetError> {
        let (request, hash) = self.request(image)?;
        let Some(before) = self.filed(&hash, image)? else { return Ok(None) };
        let keep = |_: &Answer, _: &Heard| Ok(());
        let now =
            self.caller.ask(&Question { request: &request, hash: &hash, image, keep: &keep })?;
        self.note_version(&now);
        Ok(Some(match (&before, &now) {
            (Heard::Said(before), Heard::Said(now)) => {
                before.response.digest() == now.response.digest()
            }
            (Heard::Refused(_), Heard::Refused(_)) => true,
            _ => false,
        }))
    }

    /// A second answer to the same image, filed beside the first: whoever gives the same answer
    /// twice is steady.
    pub fn second(&self, image: &Image) -> Result<Response, TargetError> {
        let (request, hash) = self.request(image)?;
        self.answer(image, &request, hash.again())
    }

    /// The answer on file, or else the service's.
    fn answer(
        &self,
        image: &Image,
        request: &Request,
        hash: RequestHash,
    ) -> Result<Response, TargetError> {
        let _alone = self.under_way.enter(hash);
        let heard = match self.filed(&hash, image)? {
            Some(heard) => {
                self.cached.fetch_add(1, Ordering::Relaxed);
                heard
            }
            None if self.ended.load(Ordering::Relaxed) => {
                return Err(TargetError::Closed("the answer is not on file".to_owned()));
            }
            None => {
                let keep = |answer: &Answer, heard: &Heard| self.file(&hash, answer, heard);
                self.caller.ask(&Question { request, hash: &hash, image, keep: &keep })?
            }
        };
        self.note_version(&heard);
        match heard {
            Heard::Said(said) => Ok(said.response),
            Heard::Refused(why) => Err(TargetError::Rejected(why)),
        }
    }

    /// The question that an image makes, and what it is filed under.
    fn request(&self, image: &Image) -> Result<(Request, RequestHash), TargetError> {
        let (bytes, media) = self.spec.codec.encode(image)?;
        let picture = Picture { bytes: &bytes, media, image };
        let mut request = self.caller.connector().wire.request(&picture)?;
        let endpoint = self.caller.endpoint();
        request.path = endpoint.path(&request.path);
        let hash = RequestHash::of(endpoint.origin(), &request);
        Ok((request, hash))
    }

    fn cache(&self) -> Option<Arc<Cache>> {
        lock(&self.cache).clone()
    }

    /// What was heard before; a file that cannot be understood counts as none.
    fn filed(&self, hash: &RequestHash, image: &Image) -> Result<Option<Heard>, TargetError> {
        let Some(cache) = self.cache() else { return Ok(None) };
        let answer = cache.get(hash).map_err(|error| {
            let path = cache.path(hash);
            let path = path.display();
            TargetError::Closed(format!("cannot read the filed answer ({error}): {path}"))
        })?;
        Ok(answer.and_then(|answer| self.caller.read(&answer, image).ok()))
    }

    fn file(&self, hash: &RequestHash, answer: &Answer, heard: &Heard) -> Result<(), String> {
        let Some(cache) = self.cache() else { return Ok(()) };
        let version = match heard {
            Heard::Said(said) => said.version.as_deref(),
            Heard::Refused(_) => None,
        };
        cache.put(hash, &self.spec.of, version, answer).map_err(|error| {
            let path = cache.path(hash);
            let path = path.display();
            format!("cannot file an answer ({error}); make room and run again to go on: {path}")
        })
    }

    fn note_version(&self, heard: &Heard) {
        if let Heard::Said(said) = heard
            && let Some(version) = &said.version
        {
            let mut versions = lock(&self.versions);
            if !versions.contains(version) {
                versions.insert(version.clone());
            }
        }
    }
}

impl Target for ServiceTarget {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        let (request, hash) = self.request(image)?;
        self.answer(image, &request, hash)
    }
}

fn check_manners(spec: &ServiceSpec, price: Option<f64>) -> Result<(), ServiceError> {
    let manners = &spec.manners;
    let wrong = |what: &str| Err(ServiceError::Setting(what.to_owned()));
    let amount = |amount: f64| amount.is_finite() && amount >= 0.0;
    if manners.concurrency == 0 {
        return wrong("manners.concurrency must be 1 or more");
    }
    if !manners.money.is_none_or(amount) || !price.is_none_or(amount) {
        return wrong("manners.money and manners.price must be amounts of 0 or more");
    }
    if manners.money.is_some() && price.is_none() {
        return wrong("manners.money needs manners.price, since no list says what a call costs");
    }
    Ok(())
}

/// Whatever decides answers, in a form that does not depend on how the spec was written.
fn key(spec: &ServiceSpec, task: Task, endpoint: String) -> Result<String, ServiceError> {
    let decisive = ServiceSpec {
        task: Some(task),
        endpoint: Some(endpoint),
        profile: None,
        certificate: None,
        manners: super::spec::Manners::default(),
        ..spec.clone()
    };
    let mut value = serde_json::to_value(decisive)
        .map_err(|error| ServiceError::Setting(format!("the service's settings: {error}")))?;
    if let Some(map) = value.as_object_mut() {
        map.remove("manners");
    }
    Ok(hex(&Sha256::digest(value.to_string())))
}
