//! Where the columns of a table stand in the lines of a report.

/// Where a column stands in a line: what is before it, its width, and what is behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub before: String,
    pub width: usize,
    pub side: Side,
    pub after: &'static str,
    /// What stands for nothing. Nothing of no width leaves nothing of what is around it, either.
    pub none: &'static str,
    /// Digits behind the point, where they are not those of the column; `None` for a whole number without a point.
    pub digits: Digits,
}

/// The side on which the cells of a column are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// How a number is shown in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// With so many digits behind the point.
    Fixed(usize),
    /// A whole number without a point, others with two digits.
    Fitting,
    /// As in a table: with the digits and the sign of its unit, and its interval.
    OfUnit,
}

impl Place {
    /// Words on the left of so many columns.
    pub fn align_left(width: usize) -> Place {
        Place { before: String::new(), width, side: Side::Left, after: "", none: "", digits: Digits::Fitting }
    }

    /// Numbers on the right of so many columns, behind a blank.
    pub fn align_right(width: usize, digits: Digits) -> Place {
        Place { before: " ".to_owned(), width, side: Side::Right, after: "", none: "", digits }
    }

    /// The same behind other words.
    #[must_use]
    pub fn with_prefix(self, before: impl Into<String>) -> Place {
        Place { before: before.into(), ..self }
    }

    /// The same with this for nothing.
    #[must_use]
    pub fn with_none(self, none: &'static str) -> Place {
        Place { none, ..self }
    }

    /// The same with a unit.
    #[must_use]
    pub fn with_unit(self, after: &'static str) -> Place {
        Place { after, ..self }
    }
}
