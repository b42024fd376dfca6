//! The attributes of trials that requirements and groups can name.

/// What is always there to group by, with its meaning.
pub const ATTRIBUTES: &[(&str, &str)] = &[
    ("answer", "the answer under the fault"),
    ("bit", "the bit that a model fault changed, where it was a single one"),
    ("case", "the case's name"),
    ("fault", "the fault's name"),
    ("golden", "the undisturbed answer"),
    ("kind", "the kind of operator that a model fault hit"),
    ("label", "the case's true class"),
    ("layer", "the number of the layer that a model fault hit; 0 is what comes before the first"),
    ("operator", "the operator that a model fault hit"),
    ("outcome", "what became of the trial"),
    ("point", "the fault with its settings"),
    ("position", "the hit operator's place in the order of execution"),
    ("target", "the target's name"),
    ("value", "the value inside the model that was hit"),
];
