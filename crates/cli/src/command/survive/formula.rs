//! Formulas of covariates, as users of R write them.

use anyhow::{bail, ensure};
use faultlens::report::plain;

/// Columns of a spline; more would follow noise.
const MAX_FREEDOM: usize = 10;

/// One column, as it enters a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// As it stands: numbers, or levels where it holds text.
    Column(String),
    /// Levels, whatever it holds.
    Factor(String),
    /// A number put through a function.
    Mapped(String, Map),
    /// A natural cubic spline with so many columns.
    Spline(String, usize),
}

/// A function of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    Log,
    Sqrt,
    Power(i32),
}

impl Map {
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Self::Log => value.ln(),
            Self::Sqrt => value.sqrt(),
            Self::Power(power) => value.powi(power),
        }
    }
}

impl Atom {
    /// The column that it is made of.
    pub(super) fn column(&self) -> &str {
        match self {
            Self::Column(name)
            | Self::Factor(name)
            | Self::Mapped(name, _)
            | Self::Spline(name, _) => name,
        }
    }

    /// How its coefficients are called.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Column(name) | Self::Factor(name) => name.clone(),
            Self::Mapped(name, Map::Log) => format!("log({name})"),
            Self::Mapped(name, Map::Sqrt) => format!("sqrt({name})"),
            Self::Mapped(name, Map::Power(power)) => format!("{name}^{power}"),
            Self::Spline(name, _) => format!("ns({name})"),
        }
    }
}

/// What explains durations: terms, each a product of columns; and which columns tell strata and
/// clusters apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Formula {
    pub(super) terms: Vec<Vec<Atom>>,
    pub(super) strata: Option<String>,
    pub(super) cluster: Option<String>,
}

impl Formula {
    /// The columns one by one.
    pub(super) fn of_columns<'a>(names: impl Iterator<Item = &'a String>) -> Self {
        let terms = names.map(|name| vec![Atom::Column(name.clone())]).collect();
        Self { terms, ..Self::default() }
    }

    /// Reads `age + factor(sex) * ns(dose, 3) + strata(site) + cluster(id)`.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let right = match text.split_once('~') {
            Some((left, _)) if !left.trim().is_empty() => {
                bail!("--formula starts behind ~; durations and events are --duration and --event")
            }
            Some((_, right)) => right,
            None => text,
        };
        let mut reader = Reader { left: right.trim() };
        let mut formula = Self::default();
        loop {
            formula.add(reader.product()?)?;
            if reader.left.is_empty() {
                break;
            }
            ensure!(reader.take('+'), "--formula: + is needed before \"{}\"", plain(reader.left));
        }
        formula.refuse_levels_without_their_own_term()?;
        Ok(formula)
    }

    /// Adds what stands between two signs of addition.
    fn add(&mut self, product: Product) -> anyhow::Result<()> {
        match product {
            Product::Strata(name) => {
                ensure!(self.strata.is_none(), "--formula has strata() twice; merge the columns");
                self.strata = Some(name);
            }
            Product::Cluster(name) => {
                ensure!(self.cluster.is_none(), "--formula has cluster() twice; keep one");
                self.cluster = Some(name);
            }
            Product::Terms(terms) => {
                for term in terms {
                    if !self.terms.iter().any(|other| same(other, &term)) {
                        self.terms.push(term);
                    }
                }
            }
        }
        Ok(())
    }

    /// Products of levels are products of their columns of 0 and 1, which mean what they say only
    /// beside the levels themselves.
    fn refuse_levels_without_their_own_term(&self) -> anyhow::Result<()> {
        for term in self.terms.iter().filter(|term| term.len() > 1) {
            for atom in term {
                let own = std::slice::from_ref(atom);
                ensure!(
                    self.terms.iter().any(|other| same(other, own)),
                    "--formula has a product with {0} but not {0} itself; write * in place of :",
                    plain(&atom.label())
                );
            }
        }
        Ok(())
    }

    /// Every column, in the order in which they are named.
    pub(super) fn columns(&self) -> Vec<&str> {
        let mut out: Vec<&str> = Vec::new();
        for atom in self.terms.iter().flatten() {
            if !out.contains(&atom.column()) {
                out.push(atom.column());
            }
        }
        out
    }

    /// The columns that are levels, whatever they hold.
    pub(super) fn factors(&self) -> Vec<String> {
        let mut out = Vec::new();
        for atom in self.terms.iter().flatten() {
            if let Atom::Factor(name) = atom {
                out.push(name.clone());
            }
        }
        out
    }
}

/// Whether two terms are products of the same columns.
fn same(a: &[Atom], b: &[Atom]) -> bool {
    a.len() == b.len() && a.iter().all(|atom| b.contains(atom))
}

/// What stands between two signs of addition.
enum Product {
    Terms(Vec<Vec<Atom>>),
    Strata(String),
    Cluster(String),
}

/// One factor of a product.
enum Factor {
    Atom(Atom),
    Strata(String),
    Cluster(String),
}

struct Reader<'a> {
    left: &'a str,
}

impl Reader<'_> {
    /// Takes a sign, and the spaces around it, if it comes next.
    fn take(&mut self, sign: char) -> bool {
        self.left = self.left.trim_start();
        let Some(rest) = self.left.strip_prefix(sign) else { return false };
        self.left = rest.trim_start();
        true
    }

    /// Factors joined by `:`, their product alone, or `*`, each of them and all their products.
    fn product(&mut self) -> anyhow::Result<Product> {
        let mut terms = match self.factor()? {
            Factor::Strata(name) => return Ok(Product::Strata(name)),
            Factor::Cluster(name) => return Ok(Product::Cluster(name)),
            Factor::Atom(atom) => vec![vec![atom]],
        };
        loop {
            let crossed = self.take('*');
            if !crossed && !self.take(':') {
                return Ok(Product::Terms(terms));
            }
            let Factor::Atom(atom) = self.factor()? else {
                bail!("--formula: strata() and cluster() stand alone, between signs of addition");
            };
            let mut products = Vec::new();
            for term in &terms {
                ensure!(!term.contains(&atom), "--formula has {} squared", plain(&atom.label()));
                products.push([term.as_slice(), std::slice::from_ref(&atom)].concat());
            }
            if crossed {
                terms.push(vec![atom]);
                terms.extend(products);
            } else {
                // A : binds to the last factor of what stands before it.
                terms.pop();
                terms.extend(products.pop());
            }
        }
    }

    fn factor(&mut self) -> anyhow::Result<Factor> {
        let function = self.name()?;
        if !self.take('(') {
            return Ok(Factor::Atom(Atom::Column(function)));
        }
        let column = self.name()?;
        let factor = match function.as_str() {
            "strata" => Factor::Strata(column),
            "cluster" => Factor::Cluster(column),
            "factor" | "C" => Factor::Atom(Atom::Factor(column)),
            "log" => Factor::Atom(Atom::Mapped(column, Map::Log)),
            "sqrt" => Factor::Atom(Atom::Mapped(column, Map::Sqrt)),
            "I" => {
                ensure!(self.take('^'), "--formula: I() takes a power, such as I(age^2)");
                let power = self.whole("a power", 2, 5)?;
                Factor::Atom(Atom::Mapped(column, Map::Power(power as i32)))
            }
            "ns" => {
                ensure!(self.take(','), "--formula: ns() takes its columns, such as ns(age, 3)");
                Factor::Atom(Atom::Spline(column, self.whole("ns()", 2, MAX_FREEDOM)?))
            }
            other => bail!(
                "--formula knows no {}(); there are factor, ns, log, sqrt, I, strata, cluster",
                plain(other)
            ),
        };
        ensure!(self.take(')'), "--formula: ) is needed before \"{}\"", plain(self.left));
        Ok(factor)
    }

    /// A name: letters, digits, dots and underscores, or anything between backticks.
    fn name(&mut self) -> anyhow::Result<String> {
        self.left = self.left.trim_start();
        if let Some(quoted) = self.left.strip_prefix('`') {
            let Some((name, rest)) = quoted.split_once('`') else {
                bail!("--formula: a ` is not closed");
            };
            self.left = rest.trim_start();
            return Ok(name.to_owned());
        }
        let part = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
        let end = self.left.find(|c| !part(c)).unwrap_or(self.left.len());
        let (name, rest) = self.left.split_at(end);
        ensure!(
            !name.is_empty(),
            "--formula: a column is needed before \"{}\" (other names between backticks)",
            plain(self.left)
        );
        self.left = rest.trim_start();
        Ok(name.to_owned())
    }

    fn whole(&mut self, what: &str, min: usize, max: usize) -> anyhow::Result<usize> {
        let text = self.name()?;
        match text.parse() {
            Ok(number) if (min..=max).contains(&number) => Ok(number),
            _ => {
                bail!("--formula: {what} takes a number from {min} to {max}, not {}", plain(&text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<String> {
        let formula = Formula::parse(text).unwrap();
        let label = |term: &Vec<Atom>| term.iter().map(Atom::label).collect::<Vec<_>>().join(":");
        formula.terms.iter().map(label).collect()
    }

    #[test]
    fn products_are_spelt_out() {
        assert_eq!(labels("age+sex"), ["age", "sex"]);
        assert_eq!(labels("~ a * b"), ["a", "b", "a:b"]);
        assert_eq!(labels("b + a + a:b + b:a"), ["b", "a", "a:b"]);
        assert_eq!(labels("a*b*c"), ["a", "b", "a:b", "c", "a:c", "b:c", "a:b:c"]);
        assert_eq!(
            labels("log(x) + I(y^2) + ns( `odd name` , 3)"),
            ["log(x)", "y^2", "ns(odd name)"]
        );
    }

    #[test]
    fn strata_and_clusters_are_no_terms() {
        let formula = Formula::parse("a + strata(site) + cluster(id) + factor(b)").unwrap();
        assert_eq!(formula.strata.as_deref(), Some("site"));
        assert_eq!(formula.cluster.as_deref(), Some("id"));
        assert_eq!(formula.columns(), ["a", "b"]);
        assert_eq!(formula.factors(), ["b"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("Surv(t, e) ~ a", "--duration"),
            ("a b", "+ is needed"),
            ("a +", "a column is needed"),
            ("a:b", "write * in place of :"),
            ("a * strata(b)", "stand alone"),
            ("ns(a, 99)", "from 2 to 10"),
            ("spline(a)", "knows no spline()"),
            ("log(a", ") is needed"),
            ("`a", "not closed"),
            ("a * a", "squared"),
        ] {
            let error = Formula::parse(text).err().unwrap().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
