//! One file per provider, and what their responses have in common.

mod azure;
mod filter;
mod form;
mod google;
mod http;
mod http_error;
mod ibm;
mod image_limits;
mod json_path;
mod kserve;
mod moderation;
mod parse;
mod rekognition;
mod tensor;

use super::definition::Service;

/// Every service. Add yours here.
pub const SERVICES: &[Service] =
    &[rekognition::REKOGNITION, google::GOOGLE, azure::AZURE, ibm::IBM, kserve::KSERVE, http::HTTP];

#[cfg(test)]
mod tests {
    use super::super::task::Task;
    use super::*;

    #[test]
    fn a_task_with_a_price_of_its_own_is_found_first() {
        for (name, task, wanted) in [
            ("google", Task::Objects, Some(0.002_25)),
            ("google", Task::Moderation, Some(0.001_5)),
            ("rekognition", Task::Celebrities, Some(0.001)),
            ("azure", Task::Faces, Some(0.001)),
            ("kserve", Task::Tensors, Some(0.0)),
            ("http", Task::Labels, None),
        ] {
            let service = SERVICES.iter().find(|service| service.name == name).unwrap();
            assert_eq!(service.prices.map(|prices| prices.of(task)), wanted, "{name} {task:?}");
        }
    }
}
