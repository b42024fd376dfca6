//! Survival models on a table, as users type them.

use std::path::PathBuf;

/// Fit survival models to a table of durations: how long until something fails
///
/// A row says how long something was observed (--duration) and whether the event ended the
/// observation (--event); other rows are censored. Every other column is a covariate: numbers as
/// they are, text as levels with the first one in sorted order as the reference. Rows with missing
/// values are left out and counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Models: exponential, weibull, lognormal, loglogistic, gengamma, cox, km (the curve alone),
all (fits all of them, compares them on held-out rows, and recommends one).

Examples:
  faultlens survive attacks.csv --duration seconds --event succeeded
  faultlens survive attacks.csv --duration seconds --event succeeded --model weibull --json
  faultlens survive attacks.csv --duration queries --event succeeded --drop seconds -o report.html
  faultlens survive attacks.csv --duration seconds --event succeeded --model km --strata defence
  faultlens survive attacks.csv --duration seconds --event succeeded --model cox \\
    --formula 'defence * ns(layers, 3) + strata(dataset) + cluster(model)' --predict new.csv")]
pub(crate) struct SurviveArgs {
    /// The table, a CSV file with a header
    pub(crate) data: PathBuf,
    /// The column with the durations, in any unit
    #[arg(long, value_name = "COLUMN")]
    pub(crate) duration: String,
    /// The column that says whether the event ended the duration: 1 or 0, true or false, yes or
    /// no [default: it always did]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) event: Option<String>,
    /// The model
    #[arg(long, value_name = "MODEL", default_value = "all")]
    pub(crate) model: String,
    /// How columns enter the model, such as 'age + factor(site) * ns(dose, 3) + strata(lab) +
    /// cluster(id)': sums of columns, products (a:b, or a*b with a and b), levels (factor), natural
    /// splines (ns), log, sqrt, I(x^2)
    #[arg(long, value_name = "TERMS", conflicts_with_all = ["covariates", "drop"])]
    pub(crate) formula: Option<String>,
    /// Only these covariates; `none` for none
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) covariates: Vec<String>,
    /// Columns that are not covariates
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Columns of numbers to treat as levels, such as a number of layers
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) levels: Vec<String>,
    /// Covariates of a parameter other than the first, such as rho=defence,layers; can be repeated
    #[arg(long, value_name = "PARAMETER=COLUMN,…", value_parser = ancillary)]
    pub(crate) ancillary: Vec<(String, Vec<String>)>,
    /// The column that says how many equal rows each row stands for
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,
    /// The column that says when each row came under observation
    #[arg(long, value_name = "COLUMN")]
    pub(crate) entry: Option<String>,
    /// With `km`: draw a curve for each level of this column, and test whether they differ (log-rank).
    /// With `cox`: give each level its own baseline hazard
    #[arg(long, value_name = "COLUMN")]
    pub(crate) strata: Option<String>,
    /// The column that says which rows belong together, such as those of one model: standard errors
    /// are robust, and rows are held out and drawn by cluster
    #[arg(long, value_name = "COLUMN")]
    pub(crate) cluster: Option<String>,
    /// Robust (sandwich) standard errors with every row as its own cluster
    #[arg(long, conflicts_with = "cluster")]
    pub(crate) robust: bool,
    /// Ridge penalty: half of it times the squared coefficients, per standard deviation of the
    /// covariate, is subtracted from the mean log-likelihood
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) penalty: f64,
    /// How Cox's model treats events at the same time
    #[arg(long, value_name = "METHOD", value_enum, default_value_t = TiesName::Efron)]
    pub(crate) ties: TiesName,
    /// The time at which predicted chances are compared with the data [default: the median
    /// duration of events]
    #[arg(long, value_name = "T")]
    pub(crate) time: Option<f64>,
    /// How observed chances are smoothed for this comparison
    #[arg(long, value_name = "METHOD", value_enum, default_value_t = SmoothingName::Flexible)]
    pub(crate) smoothing: SmoothingName,
    /// How often rows are drawn again for the interval of the ICI; 0 for no interval
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) resamples: usize,
    /// Predict the rows of this table, which needs the columns of the covariates only
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) predict: Option<PathBuf>,
    /// The share of rows held out for testing [default: 0.2 with `all`, else 0]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) test: Option<f64>,
    /// Fit times of different machines (column `machine`) together
    #[arg(long)]
    pub(crate) mixed_machines: bool,
    /// The seed of the split into training and test rows, and of the rows drawn again
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write a page with coefficients, curves, calibration and QQ plots
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object: {"coefficients", "log_likelihood", "aic", "bic", "concordance",
    /// "ici", "e50", …}
    #[arg(long)]
    pub(crate) json: bool,
}

/// What Cox's model does with events at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TiesName {
    /// Approximates the average over all orders of the events
    Efron,
    /// Every event of a time is compared with the whole risk set
    Breslow,
}

/// How observed chances are smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SmoothingName {
    /// By as many splines of prediction and time as the data support (hazard regression)
    Flexible,
    /// By a spline of time with three knots (lifelines' definition)
    Spline,
    /// By a straight line, for few events
    Straight,
}

fn ancillary(text: &str) -> Result<(String, Vec<String>), String> {
    let parts =
        text.split_once('=').filter(|(name, columns)| !name.is_empty() && !columns.is_empty());
    let Some((parameter, columns)) = parts else {
        return Err("PARAMETER=COLUMN,… is needed, such as rho=age,sex".to_owned());
    };
    Ok((parameter.to_owned(), columns.split(',').map(|column| column.trim().to_owned()).collect()))
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("a share from 0 to below 1 is needed, such as 0.2".to_owned()),
    }
}
