//! The campaign file that users start from.

/// A commented campaign file for a model and a data set, as `faultlens init` writes it.
pub fn example(model: &str, data: &str) -> String {
    // In this order what is filled in is never taken for a place to fill.
    TEMPLATE.replacen("{data}", &quoted(data), 1).replacen("{model}", &quoted(model), 1)
}

/// Text as YAML: plain where nobody could read it as something else, else in quotes.
pub fn quoted(text: &str) -> String {
    let starts = text.starts_with(|char: char| char.is_ascii_alphabetic())
        || ["/", "./", "../"].iter().any(|start| text.starts_with(start));
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_ascii_lowercase().as_str());
    if starts
        && !word
        && !text.ends_with(':')
        && text.chars().all(|char: char| char.is_ascii_alphanumeric() || "_./:-".contains(char))
    {
        return text.to_owned();
    }
    // What JSON escapes, double quotes of YAML read the same.
    serde_json::Value::from(text).to_string()
}

const TEMPLATE: &str = r#"# A Faultlens campaign: ask once undisturbed, disturb, ask again, judge the difference.
# Run it with: faultlens run THIS-FILE. The same command resumes it after a break.
# Paths start from the folder of this file. What has a # before it is optional.
# Editors with a YAML language server help with this file once its schema is there (faultlens schema >
# campaign.schema.json) and one # before the next line is gone.
## yaml-language-server: $schema=campaign.schema.json

# What reports call the campaign, and where all random numbers come from.
# name: my campaign
# seed: 1
# How many threads work (by default one per core), and where the run is written.
# threads: 2
# output: runs/my-campaign

# The models that are asked: ONNX files, or world:NAME for a model that comes with Faultlens.
targets:
  - model: {model}
    # What reports call it; needed where two files have the same name.
    # name: baseline
    # How images become the input and what the output means, where the model does not say it
    # itself; faultlens ask shows what is guessed.
    # input: {size: [224, 224], resize: {short_side: 256}, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
    # output: {kind: logits, softmax: true}
    # A file that names the classes.
    # labels: labels.txt
    # What is done to images before the model sees them; faultlens list defences shows all. The
    # same model without it as another target tells what it is worth.
    # defences: [median_filter]
  # A service behind HTTP instead of a model, see docs/services.md:
  # - service: {provider: rekognition, task: labels, limits: {rate: 5, calls: 3000}}

# The images that are shown: a data set, or world:signs:200 for pictures that Faultlens draws.
cases:
  data: {data}
  # The format where it is not recognised, one part of a set that has several, and the column
  # that holds labels in a CSV file.
  # format: coco
  # part: test
  # label_column: label
  # Only some cases. how: random (as they come) or balanced (every class equally often).
  sample: {count: 50, how: random}

# What is disturbed. A list or a range of whole numbers sweeps: every value is a fault point of its
# own. trials is the number of trials per case and point. faultlens list shows all faults.
faults:
  # Inside the model: any bit of any operator's output.
  - fault: bit_flip
    trials: 10
  # Inside the model: the high bits of weights, in some operators only.
  # - fault: bit_flip
  #   in: weights
  #   bit: [23, 30, 31]
  #   operators: [Conv, Gemm]
  #   trials: 20
  # What the model sees.
  - fault: gaussian_noise
    severity: 1..5
  # What the model sees, with strengths drawn anew for every trial, as far as people cope with it.
  # - fault: frost
  #   tolerance: imagenet-car
  #   trials: 10
  # Several faults under one name; faultlens list presets shows all.
  # - preset: exponent_bits

# What insert_object puts into scenes: a pool that faultlens objects made, see docs/scenes.md.
# objects: pool

# Who judges an answer. same_top: the best class must stay among the best k; same_values: no
# number may move further than the tolerance.
oracle: {name: same_top, k: 1}
# Which trials the judgement counts for: golden_correct leaves out those whose undisturbed answer
# is wrong already; it needs labels.
# guards: [golden_correct]

# How intervals are made: wilson, or clopper_pearson, which is never too narrow; and which images
# they speak of: new_images, of which these are a sample, or these_images alone.
# intervals: {method: wilson, confidence: 0.95, population: new_images}

# Stop a fault point once its rate is known to plus or minus half_width, or cannot be with so few
# images; trials must then be left out above. at_most is the most trials per case.
# stop: {half_width: 0.01, at_most: 200}

# Limits with a verdict each. faultlens check ends with 0 if all are met, 1 if one is not, 3 if
# the interval of one straddles its limit. failed is changed, crashed and timed_out together.
# requirements:
#   - rate: changed
#     at_most: 0.05
#     where: {fault: bit_flip}
#     name: flips are mostly unchanged

# What must stay under changes that people tolerate, see docs/requirements.md: right answers
# (correctness), or the same answers (prediction, which needs no labels).
# preserve:
#   - what: correctness
#     tolerance: imagenet-car

# Of which trials it is recorded how much people notice of what was done to the image: every, or
# needed, which saves time with large images.
# visual_change: every

# Groups of cases that answers should be as good for, by columns of the data set.
# fairness: {by: [sex, race], privileged: [male, white], positive: face}

# Where raw answers of services are filed, so that no call is paid twice.
# answers: runs/answers

# The target whose errors under faults in images the others' are divided by (mCE).
# reference: baseline

# Trials that were found once and must stay as good as golden.
# pinned: pins.yaml

# How many examples are kept per fault point.
# examples: 3
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_could_be_misread_is_quoted() {
        for text in ["model.onnx", "world:signs:200", "../a-b/c_d.onnx", "/data/set"] {
            assert_eq!(quoted(text), text);
        }
        for text in ["a b", "1", "no", "x: y", "x:", "", "-a", "ä", "a#b", "\\\"", ".5", "{data}"]
        {
            let written = quoted(text);
            assert!(written.starts_with('"') && written.ends_with('"'), "{written}");
        }
    }
}
