//! The object detector of IBM's Model Asset eXchange: a form in, boxes as fractions of the image
//! out.

use super::super::connector::Connector;
use super::super::credential::Headers;
use super::super::definition::{OpenContext, Prices, Service};
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::super::spec::ServiceSpec;
use super::super::task::Task;
use super::super::wire_format::{EncodedImage, Prediction, Wire, WireError};
use super::filter::LabelFilter;
use super::form;
use super::http_error::{describe_body, first_line, from_status};
use super::image_limits::ImageLimits;
use super::parse::{self, bounded, json, malformed, score};
use faultlens_core::{Image, TargetError};
use serde::Deserialize;

/// The IBM MAX object detector.
pub(super) const IBM: Service = Service {
    name: "ibm",
    about: "the IBM MAX object detector, which runs wherever its container does: objects",
    tasks: &[Task::Objects],
    endpoint: None,
    rate: None,
    prices: Some(Prices::FREE),
    min_side: 1,
    max_bytes: 64 << 20,
    open,
};

/// The object detector's wire format.
struct Ibm {
    filter: LabelFilter,
}

fn open(spec: &ServiceSpec, context: &OpenContext<'_>) -> Result<Connector, ServiceError> {
    Ok(Connector {
        wire: Box::new(Ibm { filter: LabelFilter::new(spec, &[])? }),
        credential: Box::new(Headers::token(context.environment)),
        endpoint: IBM.endpoint_of(spec, None)?.address(),
        task: context.task,
        rate: None,
        price: None,
    })
}

impl Wire for Ibm {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        ImageLimits::of(&IBM).check(encoded)?;
        let (content, body) = form::with_image("image", encoded);
        let threshold = self.filter.min_confidence;
        let query = if threshold > 0.0 { format!("?threshold={threshold}") } else { String::new() };
        Ok(Request {
            method: "POST",
            path: format!("/model/predict{query}"),
            headers: vec![("content-type".to_owned(), content)],
            body,
        })
    }

    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError> {
        if response.status != 200 {
            let error: ErrorBody = serde_json::from_slice(&response.body).unwrap_or_default();
            let own = if error.message.is_empty() { error.status } else { error.message };
            let message = if own.is_empty() { describe_body(&response.body) } else { own };
            return Err(from_status(response, &message));
        }
        let body: PredictResponse = json(&response.body)?;
        if body.status != "ok" {
            return malformed(format!("the status {:?}", first_line(&body.status)));
        }
        let mut found = Vec::new();
        for object in bounded(body.predictions)? {
            let [top, left, bottom, right] = object.detection_box;
            let bounds = parse::bounds([left, top, right, bottom], image)?;
            found.push((parse::name(object.label)?, score(object.probability, 1.0)?, bounds));
        }
        Ok(Prediction { response: self.filter.detections(found), version: None })
    }
}

#[derive(Deserialize)]
struct PredictResponse {
    status: String,
    predictions: Vec<DetectedObject>,
}

#[derive(Deserialize)]
struct DetectedObject {
    label: String,
    probability: f64,
    /// Top, left, bottom and right.
    detection_box: [f64; 4],
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorBody {
    status: String,
    message: String,
}
