use thiserror::Error;

/// Why no survival model could be fitted. Every message says what to do about it, since a fit on
/// such data would be silent nonsense. Rows are counted from 1, as in a table without its header.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SurvivalError {
    /// There is nothing to fit.
    #[error("no rows; at least one duration is needed")]
    Empty,
    /// Columns of different tables were mixed.
    #[error("{column} has {found} values for {rows} durations")]
    Length {
        /// Which column is too short or too long.
        column: String,
        /// How many values it has.
        found: usize,
        /// How many durations there are.
        rows: usize,
    },
    /// A duration is a span of time.
    #[error("row {row} lasts {value}; a duration is a finite number and not negative")]
    Duration {
        /// The row, from 1.
        row: usize,
        /// What it holds.
        value: f64,
    },
    /// The logarithm of 0 has no place in an accelerated failure time model.
    #[error(
        "row {row} lasts 0; this model needs durations above 0: drop the row, or give it half the \
         clock's resolution"
    )]
    ZeroDuration {
        /// The row, from 1.
        row: usize,
    },
    /// Nobody can leave before entering.
    #[error("row {row} enters at {entry} and leaves at {duration}; an entry lies in 0..duration")]
    Entry {
        /// The row, from 1.
        row: usize,
        /// When it came under observation.
        entry: f64,
        /// When it left.
        duration: f64,
    },
    /// A row that counts for nothing or less.
    #[error("row {row} weighs {value}; a weight is a finite number above 0")]
    Weight {
        /// The row, from 1.
        row: usize,
        /// What it holds.
        value: f64,
    },
    /// Missing values must be dropped or filled before the fit, on purpose.
    #[error("row {row} of {covariate} is {value}; drop or fill rows without a finite number")]
    Value {
        /// The column.
        covariate: String,
        /// The row, from 1.
        row: usize,
        /// What it holds.
        value: f64,
    },
    /// Two columns of one name could not be told apart in the result.
    #[error("two covariates are called {0}; rename one")]
    Duplicate(String),
    /// A name that is not in the data or not of this model.
    #[error("nothing is called {name}; known are {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A parameter that the model does not have, or that already depends on every covariate.
    #[error("{model} has no parameter {name} that could depend on covariates besides its first")]
    NoParameter {
        /// Which model.
        model: &'static str,
        /// What was asked for.
        name: String,
    },
    /// Censored rows alone only say "longer than that".
    #[error("no events: every row is censored; observe longer, or bound the rate instead")]
    NoEvents,
    /// A ranking needs rows to rank.
    #[error("no two rows of which it is known which ended first")]
    NoPairs,
    /// What was observed among rows with a prediction has no smooth curve.
    #[error(
        "what was observed cannot be smoothed: too few events, or durations or predictions that \
         are all the same"
    )]
    NoSmoothing,
    /// A constant is already in the model as its intercept.
    #[error("{0} is the same in every row; drop it")]
    Constant(String),
    /// The columns repeat each other, as all dummies of one factor do.
    #[error("{covariate} follows from {}; drop one of them", with.join(", "))]
    Collinear {
        /// The later column.
        covariate: String,
        /// The earlier columns that give it.
        with: Vec<String>,
    },
    /// The likelihood grows without end along this column.
    #[error(
        "{0} separates events from censored rows, so its coefficient is infinite; drop it, merge \
         its levels, or set a penalty"
    )]
    Separation(String),
    /// The likelihood grows without end along a parameter: few rows, or many equal durations, say
    /// nothing about it.
    #[error(
        "{parameter} of {model} grows without end on these rows; use a model without it, or more \
         rows"
    )]
    Endless {
        /// Which model.
        model: &'static str,
        /// Which of its parameters.
        parameter: &'static str,
    },
    /// The likelihood has no maximum, or none that could be reached.
    #[error("{model} did not converge; try fewer covariates, a penalty, or a simpler model")]
    NotConverged {
        /// Which model.
        model: &'static str,
    },
    /// A penalty that would reward large coefficients.
    #[error("a penalty is a finite number and not negative, not {0}")]
    Penalty(f64),
    /// A time or probability at which nothing can be asked.
    #[error("{what} cannot be {value}")]
    Question {
        /// What was asked with it.
        what: &'static str,
        /// The number given.
        value: f64,
    },
}
