//! A service as a target.

use super::call::{
    Budget, Cache, CallCounts, CallLog, Caller, InFlight, Query, Reply, RequestHash,
};
use super::connector::Connector;
use super::endpoint::Endpoint;
use super::error::ServiceError;
use super::message::{HttpResponse, Request};
use super::registry;
use super::spec::{Limits, ServiceSpec};
use super::sync::lock;
use super::task::Task;
use super::wire_format::EncodedImage;
use crate::hex::hex;
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
pub struct CallStats {
    /// Queries of this process that were answered from the cache.
    pub cached: u64,
    /// Calls of this process.
    pub process: CallCounts,
    /// Calls of the whole campaign, as far as its call log goes back.
    pub campaign: CallCounts,
}

impl CallStats {
    /// The calls of the whole campaign by their result, each with its name.
    pub fn counts(&self) -> [(&'static str, u64); 10] {
        let counts = &self.campaign;
        [
            ("calls", counts.calls),
            ("repeats", counts.repeats),
            ("answered", counts.answered),
            ("refused", counts.refused),
            ("throttled", counts.throttled),
            ("server errors", counts.server_errors),
            ("lost", counts.lost),
            ("timed out", counts.timed_out),
            ("denied", counts.denied),
            ("unfinished", counts.unfinished),
        ]
    }
}

/// A rate-limited service whose answers are cached: the same query is paid for once, even if the
/// process is killed in between.
pub struct ServiceTarget {
    spec: ServiceSpec,
    caller: Caller,
    price: Option<f64>,
    key: String,
    cache: Mutex<Option<Arc<Cache>>>,
    in_flight: InFlight,
    cached: AtomicU64,
    versions: Mutex<BTreeSet<String>>,
    /// Whether only cached answers are given.
    calls_ended: AtomicBool,
    class_names: Option<Labels>,
}

impl ServiceTarget {
    /// Opens the service that a spec names; relative paths in it start from `base`. No call is
    /// made yet.
    pub fn open(spec: &ServiceSpec, base: &Path) -> Result<Self, ServiceError> {
        let connector = registry::open(spec, base)?;
        let mut resolved = spec.clone();
        resolved.certificate = spec.certificate.as_ref().map(|path| base.join(path));
        let mut target = Self::new(&resolved, connector)?;
        if let Some(path) = spec.labels.class_names() {
            let names = read_labels(&labels_from(base, path));
            let names = names.map_err(|error| ServiceError::Setting(error.to_string()))?;
            target.class_names = Some(names);
        }
        Ok(target)
    }

    /// A target from a given connector; paths in the spec are taken as they are.
    pub fn new(spec: &ServiceSpec, connector: Connector) -> Result<Self, ServiceError> {
        let limits = &spec.limits;
        let endpoint = Endpoint::parse(&connector.endpoint)?;
        // Nobody is paid for what this machine answers itself.
        let free = endpoint.is_loopback().then_some(0.0);
        let price = limits.price.or(connector.price).or(free);
        check_limits(limits, price)?;
        let key = key(spec, connector.task, endpoint.address())?;
        let log = CallLog::new(&key[..16], Budget::new(limits, price.unwrap_or(0.0)));
        let certificate = spec.certificate.as_deref();
        let caller = Caller::new(connector, endpoint, limits, certificate, log)?;
        Ok(Self {
            spec: spec.clone(),
            caller,
            price,
            key,
            cache: Mutex::default(),
            in_flight: InFlight::default(),
            cached: AtomicU64::new(0),
            versions: Mutex::default(),
            calls_ended: AtomicBool::new(false),
            class_names: None,
        })
    }

    /// Caches answers in a folder and logs calls to a file from now on; both may be shared with
    /// other targets. Earlier calls in the file count towards the budgets.
    pub fn attach(&self, cache: &Path, log: &Path) -> Result<(), ServiceError> {
        let cache = Cache::open(cache)?;
        self.caller.log().attach(log)?;
        *lock(&self.cache) = Some(Arc::new(cache));
        Ok(())
    }

    /// A hash of all that decides answers; limits, credentials and certificates do not.
    pub fn key(&self) -> String {
        self.key.clone()
    }

    /// Every call so far.
    pub fn call_stats(&self) -> CallStats {
        let (process, campaign) = self.caller.log().counts();
        CallStats { cached: self.cached.load(Ordering::Relaxed), process, campaign }
    }

    /// The versions of models that have answered, as far as the service reports them: more than
    /// one means that it changed meanwhile.
    pub fn versions(&self) -> BTreeSet<String> {
        lock(&self.versions).clone()
    }

    /// How many calls are in flight at once, at most; more threads only wait.
    pub fn concurrency(&self) -> usize {
        self.spec.limits.concurrency
    }

    /// Whether the service counts as down, so that it is not asked any more: as many queries in a
    /// row had no reply as `limits.give_up_after` says.
    pub fn is_down(&self) -> bool {
        self.caller.is_down()
    }

    /// The price of a call, where it is known.
    pub fn price(&self) -> Option<f64> {
        self.price
    }

    /// Gives only cached answers from now on.
    pub fn end_calls(&self) {
        self.calls_ended.store(true, Ordering::Relaxed);
    }

    /// How it is described.
    pub fn spec(&self) -> &ServiceSpec {
        &self.spec
    }

    /// The names of the classes, where it answers with tensors.
    pub fn labels(&self) -> Option<&Labels> {
        self.class_names.as_ref()
    }

    /// What the service is asked for.
    pub fn task(&self) -> Task {
        self.caller.connector().task
    }

    /// Asks again although an answer is cached, and returns whether it is still the same; `None`
    /// where none is cached. The cached one stays.
    pub fn ask_again(&self, image: &Image) -> Result<Option<bool>, TargetError> {
        let (request, hash) = self.request(image)?;
        let Some(before) = self.cached_reply(&hash, image)? else { return Ok(None) };
        let query = Query { request: &request, hash: &hash, image, store: &|_, _| Ok(()) };
        let now = self.caller.ask(&query)?;
        self.note_version(&now);
        let is_same = match (&before, &now) {
            (Reply::Prediction(before), Reply::Prediction(now)) => {
                before.response.digest() == now.response.digest()
            }
            (Reply::Rejected(_), Reply::Rejected(_)) => true,
            _ => false,
        };
        Ok(Some(is_same))
    }

    /// A second answer to the same image, cached beside the first: a service that gives the same
    /// answer twice is deterministic.
    pub fn second(&self, image: &Image) -> Result<Response, TargetError> {
        let (request, hash) = self.request(image)?;
        self.answer(image, &request, hash.again())
    }

    /// The cached answer, or else the service's.
    fn answer(
        &self,
        image: &Image,
        request: &Request,
        hash: RequestHash,
    ) -> Result<Response, TargetError> {
        let _guard = self.in_flight.enter(hash);
        let reply = match self.cached_reply(&hash, image)? {
            Some(reply) => {
                self.cached.fetch_add(1, Ordering::Relaxed);
                reply
            }
            None if self.calls_ended.load(Ordering::Relaxed) => {
                return Err(TargetError::Closed("the answer is not cached".to_owned()));
            }
            None => {
                let store =
                    |response: &HttpResponse, reply: &Reply| self.store(&hash, response, reply);
                self.caller.ask(&Query { request, hash: &hash, image, store: &store })?
            }
        };
        self.note_version(&reply);
        match reply {
            Reply::Prediction(prediction) => Ok(prediction.response),
            Reply::Rejected(why) => Err(TargetError::Rejected(why)),
        }
    }

    /// The request for an image, and its key in the cache.
    fn request(&self, image: &Image) -> Result<(Request, RequestHash), TargetError> {
        let (bytes, media_type) = self.spec.codec.encode(image)?;
        let encoded = EncodedImage { bytes: &bytes, media_type, image };
        let mut request = self.caller.connector().wire.request(&encoded)?;
        let endpoint = self.caller.endpoint();
        request.path = endpoint.path(&request.path);
        let hash = RequestHash::of(endpoint.origin(), &request);
        Ok((request, hash))
    }

    fn cache(&self) -> Option<Arc<Cache>> {
        lock(&self.cache).clone()
    }

    /// The cached reply; a file that cannot be understood counts as none.
    fn cached_reply(
        &self,
        hash: &RequestHash,
        image: &Image,
    ) -> Result<Option<Reply>, TargetError> {
        let Some(cache) = self.cache() else { return Ok(None) };
        let response = cache.get(hash).map_err(|error| {
            let path = cache.path(hash);
            let path = path.display();
            TargetError::Closed(format!("cannot read the cached answer ({error}): {path}"))
        })?;
        Ok(response.and_then(|response| self.caller.read(&response, image).ok()))
    }

    fn store(
        &self,
        hash: &RequestHash,
        response: &HttpResponse,
        reply: &Reply,
    ) -> Result<(), String> {
        let Some(cache) = self.cache() else { return Ok(()) };
        let version = match reply {
            Reply::Prediction(prediction) => prediction.version.as_deref(),
            Reply::Rejected(_) => None,
        };
        cache.put(hash, &self.spec.provider, version, response).map_err(|error| {
            let path = cache.path(hash);
            let path = path.display();
            format!(
                "cannot cache an answer ({error}); make room and run the same command to resume: \
                 {path}"
            )
        })
    }

    fn note_version(&self, reply: &Reply) {
        if let Reply::Prediction(prediction) = reply
            && let Some(version) = &prediction.version
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

/// Checks what a connector's own price and limits may break; [`ServiceSpec::check`] has more.
fn check_limits(limits: &Limits, price: Option<f64>) -> Result<(), ServiceError> {
    let is_amount = |sum: f64| sum.is_finite() && sum >= 0.0;
    let why = if limits.concurrency == 0 {
        "limits.concurrency must be 1 or more"
    } else if !limits.money.is_none_or(is_amount) || !price.is_none_or(is_amount) {
        "limits.money and limits.price must be amounts of 0 or more"
    } else if limits.money.is_some() && price.is_none() {
        "limits.money needs limits.price, since no price list knows this service"
    } else {
        return Ok(());
    };
    Err(ServiceError::Setting(why.to_owned()))
}

/// The hash of all that decides answers, whatever form the spec was written in.
fn key(spec: &ServiceSpec, task: Task, endpoint: String) -> Result<String, ServiceError> {
    let decisive = ServiceSpec {
        task: Some(task),
        endpoint: Some(endpoint),
        profile: None,
        certificate: None,
        limits: Limits::default(),
        ..spec.clone()
    };
    let mut json = decisive.to_stable_json()?;
    if let Some(keys) = json.as_object_mut() {
        keys.remove("manners");
    }
    Ok(hex(&Sha256::digest(json.to_string())))
}
