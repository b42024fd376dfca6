use std::error::Error;
use std::fmt;

/// Why no survival model could be fitted. Every message says what to do about it, since a fit on
/// such data would be silent nonsense. Rows are counted from 1, as in a table without its header.
#[derive(Debug, Clone, PartialEq)]
pub enum SurvivalError {
    /// There is nothing to fit.
    Empty,
    /// Columns of different tables were mixed.
    Length {
        /// Which column is too short or too long.
        column: String,
        /// How many values it has.
        found: usize,
        /// How many durations there are.
        rows: usize,
    },
    /// A duration is a span of time.
    Duration {
        /// The row, from 1.
        row: usize,
        /// What it holds.
        value: f64,
    },
    /// The logarithm of 0 has no place in an accelerated failure time model.
    ZeroDuration {
        /// The row, from 1.
        row: usize,
    },
    /// Nobody can leave before entering.
    Entry {
        /// The row, from 1.
        row: usize,
        /// When it came under observation.
        entry: f64,
        /// When it left.
        duration: f64,
    },
    /// A row that counts for nothing or less.
    Weight {
        /// The row, from 1.
        row: usize,
        /// What it holds.
        value: f64,
    },
    /// Missing values must be dropped or filled before the fit, on purpose.
    Value {
        /// The column.
        covariate: String,
        /// The row, from 1.
        row: usize,
        /// What it holds.
        value: f64,
    },
    /// Two columns of one name could not be told apart in the result.
    Duplicate(String),
    /// A name that is not in the data or not of this model.
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A parameter that the model does not have, or that already depends on every covariate.
    NoParameter {
        /// Which model.
        model: &'static str,
        /// What was asked for.
        name: String,
    },
    /// Censored rows alone only say "longer than that".
    NoEvents,
    /// A ranking needs rows to rank.
    NoPairs,
    /// What was observed among rows with a prediction has no smooth curve.
    NoSmoothing,
    /// Rows that entered late have no censoring weights.
    LateEntries,
    /// A stratum of which the fit knows no baseline.
    Stratum(usize),
    /// A row can be predicted within one stratum only.
    SeveralStrata,
    /// A constant is already in the model as its intercept.
    Constant(String),
    /// The columns repeat each other, as all dummies of one factor do.
    Collinear {
        /// The later column.
        covariate: String,
        /// The earlier columns that give it.
        with: Vec<String>,
    },
    /// The likelihood grows without end along this column.
    Separation(String),
    /// The likelihood grows without end along a parameter: few rows, or many equal durations, say
    /// nothing about it.
    Endless {
        /// Which model.
        model: &'static str,
        /// Which of its parameters.
        parameter: &'static str,
    },
    /// The likelihood has no maximum, or none that could be reached.
    NotConverged {
        /// Which model.
        model: &'static str,
    },
    /// A penalty that would reward large coefficients.
    Penalty(f64),
    /// A time or probability at which nothing can be asked.
    Question {
        /// What was asked with it.
        what: &'static str,
        /// The number given.
        value: f64,
    },
}

impl fmt::Display for SurvivalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no rows; at least one duration is needed"),
            Self::Length { column, found, rows } => write!(f, "{column} has {found} values for {rows} durations"),
            Self::Duration { row, value } => write!(f, "row {row} lasts {value}; a duration is a finite number and not negative"),
            Self::ZeroDuration { row } => write!(f, "row {row} lasts 0; this model needs durations above 0: drop the row, or give it half the \
                clock's resolution"),
            Self::Entry { row, entry, duration } => write!(f, "row {row} enters at {entry} and leaves at {duration}; an entry lies in 0..duration"),
            Self::Weight { row, value } => write!(f, "row {row} weighs {value}; a weight is a finite number above 0"),
            Self::Value { covariate, row, value } => write!(f, "row {row} of {covariate} is {value}; drop or fill rows without a finite number"),
            Self::Duplicate(value) => write!(f, "two covariates are called {value}; rename one"),
            Self::Unknown { name, known } => write!(f, "nothing is called {name}; known are {}", known.join(", ")),
            Self::NoParameter { model, name } => write!(f, "{model} has no parameter {name} that could depend on covariates besides its first"),
            Self::NoEvents => f.write_str("no events: every row is censored; observe longer, or bound the rate instead"),
            Self::NoPairs => f.write_str("no two rows of which it is known which ended first"),
            Self::NoSmoothing => f.write_str("what was observed cannot be smoothed: too few events, or durations or predictions that \
                are all the same"),
            Self::LateEntries => f.write_str("rows that entered late have no inverse censoring weights"),
            Self::Stratum(value) => write!(f, "stratum {value} was not among the rows of the fit"),
            Self::SeveralStrata => f.write_str("the fit has several strata; say within which one to predict"),
            Self::Constant(value) => write!(f, "{value} is the same in every row; drop it"),
            Self::Collinear { covariate, with } => write!(f, "{covariate} follows from {}; drop one of them", with.join(", ")),
            Self::Separation(value) => write!(f, "{value} separates events from censored rows, so its coefficient is infinite; drop it, merge \
                its levels, or set a penalty"),
            Self::Endless { model, parameter } => write!(f, "{parameter} of {model} grows without end on these rows; use a model without it, or more \
                rows"),
            Self::NotConverged { model } => write!(f, "{model} did not converge; try fewer covariates, a penalty, or a simpler model"),
            Self::Penalty(value) => write!(f, "a penalty is a finite number and not negative, not {value}"),
            Self::Question { what, value } => write!(f, "{what} cannot be {value}"),
        }
    }
}

impl Error for SurvivalError {}
