//! IBM's Model Asset Exchange object detector: a form in, boxes as shares of the image out.

use super::super::credential::Headers;
use super::super::registry::{Opening, Service};
use super::super::{Connector, ServiceError, ServiceSpec};
use super::reading::{self, Limits, Wanted, bounded, broken, json, score};
use super::{Answer, Picture, Problem, Request, Said, Task, Wire, form, problem};
use faultlens_core::{Image, TargetError};
use serde::Deserialize;

/// The IBM MAX object detector.
pub(in super::super) const IBM: Service = Service {
    name: "ibm",
    about: "the IBM MAX object detector, which runs wherever its container does: objects",
    tasks: &[Task::Objects],
    endpoint: None,
    rate: None,
    least_side: 1,
    most_bytes: 64 << 20,
    open,
};

/// The object detector's wire format.
struct Ibm {
    wanted: Wanted,
}

fn open(spec: &ServiceSpec, opening: &Opening<'_>) -> Result<Connector, ServiceError> {
    Ok(Connector {
        wire: Box::new(Ibm { wanted: Wanted::new(spec, &[]) }),
        credential: Box::new(Headers::token(opening.environment)),
        endpoint: IBM.endpoint_of(spec, None)?.address(),
        task: opening.task,
        rate: None,
        price: None,
    })
}

impl Wire for Ibm {
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        Limits::of(&IBM).check(picture)?;
        let (content, body) = form::with_picture("image", picture);
        let least = Some(self.wanted.least).filter(|&least| least > 0.0);
        let query = least.map(|least| format!("?threshold={least}")).unwrap_or_default();
        Ok(Request {
            method: "POST",
            path: format!("/model/predict{query}"),
            headers: vec![("content-type".to_owned(), content)],
            body,
        })
    }

    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem> {
        if answer.status != 200 {
            let fault: Complaint = serde_json::from_slice(&answer.body).unwrap_or_default();
            let own = if fault.message.is_empty() { fault.status } else { fault.message };
            let words = if own.is_empty() { problem::of_body(&answer.body) } else { own };
            return Err(problem::of_status(answer, &words));
        }
        let body: Body = json(&answer.body)?;
        if body.status != "ok" {
            return broken(format!("the status {:?}", problem::first_line(&body.status)));
        }
        let one = |found: Found| {
            let [top, left, bottom, right] = found.detection_box;
            let bounds = reading::bounds([left, top, right, bottom], image)?;
            Ok((reading::name(found.label)?, score(found.probability, 1.0)?, bounds))
        };
        let found = bounded(body.predictions)?.into_iter().map(one);
        let response = self.wanted.detections(found.collect::<Result<_, Problem>>()?);
        Ok(Said { response, version: None })
    }
}

#[derive(Deserialize)]
struct Body {
    status: String,
    predictions: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    label: String,
    probability: f64,
    /// Top, left, bottom and right.
    detection_box: [f64; 4],
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Complaint {
    status: String,
    message: String,
}
