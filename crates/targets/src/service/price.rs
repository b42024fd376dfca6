//! What calls cost, by the providers' lists. Prices change and depend on region, tier and
//! contract: they are there to foresee a bill, to be checked against [`SOURCES`].

use super::wire::Task;

/// When the figures were noted.
pub const AS_OF: &str = "2026-11";

/// Where the lists are.
pub const SOURCES: &[&str] = &[
    "https://aws.amazon.com/rekognition/pricing/",
    "https://cloud.google.com/vision/pricing",
    "https://azure.microsoft.com/pricing/details/cognitive-services/computer-vision/",
    "https://azure.microsoft.com/pricing/details/cognitive-services/face-api/",
];

/// A line of the lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// The service, by its name in the registry.
    pub service: &'static str,
    /// The task that has a price of its own; nothing: all others.
    pub task: Option<Task>,
    /// US dollars per call, in the first tier that is paid for.
    pub dollars: f64,
}

/// List prices; what runs on a machine of one's own costs nothing here.
pub const PRICES: &[Price] = &[
    Price { service: "rekognition", task: None, dollars: 0.001 },
    Price { service: "google", task: Some(Task::Objects), dollars: 0.002_25 },
    Price { service: "google", task: None, dollars: 0.001_5 },
    Price { service: "azure", task: None, dollars: 0.001 },
    Price { service: "ibm", task: None, dollars: 0.0 },
    Price { service: "kserve", task: None, dollars: 0.0 },
];

/// What a call costs by the lists; `None` where they do not know the service.
pub fn list_price(service: &str, task: Task) -> Option<f64> {
    let mut lines = PRICES.iter().filter(|price| price.service == service);
    lines.find(|price| price.task.is_none_or(|own| own == task)).map(|price| price.dollars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_with_a_price_of_its_own_is_found_first() {
        for (service, task, wanted) in [
            ("google", Task::Objects, Some(0.002_25)),
            ("google", Task::Moderation, Some(0.001_5)),
            ("rekognition", Task::Celebrities, Some(0.001)),
            ("kserve", Task::Tensors, Some(0.0)),
            ("http", Task::Labels, None),
            ("nobody", Task::Labels, None),
        ] {
            assert_eq!(list_price(service, task), wanted, "{service} {task:?}");
        }
    }
}
