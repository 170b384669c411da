//! What a drawing shows: marks in units of its canvas, and of each what it stands for. How that looks is the writer's business, which is
//! one for pages and for files: [`super::svg`].

use askama::Template;

use super::phrase::Phrase;
use super::scale::{CANVAS, Readout, Tick};

/// Across and down.
pub(super) type Point = (f64, f64);
/// Lines through points; from one line to the next nothing is drawn.
pub(super) type Path = Vec<Vec<Point>>;

/// A drawing over the whole canvas of [`CANVAS`], which is stretched to its place: texts stand beside it and keep their size.
#[derive(Template)]
#[template(path = "plot.html")]
pub(super) struct Scene {
    /// Its name on the page.
    pub(super) id: String,
    /// What it is called, for who hears it.
    pub(super) title: Phrase,
    pub(super) description: Description,
    /// Whether it is as high as a drawing that stands alone, and not one of many.
    pub(super) tall: bool,
    /// What the page's script needs to tell values; none where it tells none.
    pub(super) readout: Option<Readout>,
    pub(super) marks: Vec<Mark>,
    /// What stands beside points.
    pub(super) labels: Vec<(Point, Phrase)>,
    /// The figures of the upright axis.
    pub(super) ticks: Vec<Tick>,
    /// The figures of the level axis.
    pub(super) across: Vec<Tick>,
}

/// What is to be heard of a drawing beside its title.
pub(super) enum Description {
    /// Its title says all.
    None,
    /// The page says it in the element of this name, which is the drawing's with a `d` behind.
    Beside,
    /// This is said in the drawing itself.
    Within(Phrase),
}

// Its template escapes what it prints.
impl askama::filters::HtmlSafe for Scene {}

impl Description {
    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl Scene {
    /// A drawing that has no marks yet.
    pub(super) fn new(id: String, title: Phrase, description: Description, ticks: Vec<Tick>) -> Self {
        let (marks, labels, across) = (Vec::new(), Vec::new(), Vec::new());
        Self { id, title, description, tall: true, readout: None, marks, labels, ticks, across }
    }

    pub(super) fn push(&mut self, role: Role, shape: Shape) {
        self.marks.push(Mark { role, shape, title: None });
    }

    /// A mark that says something where the pointer rests on it.
    pub(super) fn push_titled(&mut self, role: Role, shape: Shape, title: Phrase) {
        self.marks.push(Mark { role, shape, title: Some(title) });
    }

    /// Lines across at the figures of the upright axis.
    pub(super) fn rules(&mut self) {
        let rule = |tick: &Tick| Mark::new(Role::Rule, level(0.0, CANVAS.0, tick.y()));
        self.marks.extend(self.ticks.iter().map(rule));
    }

    /// The upright and the level axis.
    pub(super) fn axes(&mut self) {
        self.push(Role::Axis, Shape::Path(vec![vec![(0.0, 0.0), (0.0, CANVAS.1), (CANVAS.0, CANVAS.1)]]));
    }

    /// What the marks of this role go through.
    #[cfg(test)]
    pub(super) fn paths(&self, role: Role) -> Path {
        let of_role = self.marks.iter().filter(|mark| mark.role == role);
        let path = |mark: &Mark| match &mark.shape {
            Shape::Path(path) => path.clone(),
            Shape::Dot(at) => vec![vec![*at]],
            _ => Vec::new(),
        };
        of_role.flat_map(path).collect()
    }
}

/// A line from one place to another at one height.
pub(super) fn level(from: f64, to: f64, y: f64) -> Shape {
    Shape::Path(vec![vec![(from, y), (to, y)]])
}

/// A line from the top of the canvas to its bottom.
pub(super) fn upright(x: f64) -> Shape {
    Shape::Path(vec![vec![(x, 0.0), (x, CANVAS.1)]])
}

/// A rectangle as high as the canvas.
pub(super) fn column(left: f64, width: f64) -> Shape {
    Shape::Rectangle(Place { left, top: 0.0, width, height: CANVAS.1 })
}

/// One mark.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) role: Role,
    pub(super) shape: Shape,
    /// What is shown where the pointer rests on it.
    pub(super) title: Option<Phrase>,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    Path(Path),
    Rectangle(Place),
    Dot(Point),
    /// A text, which begins, ends or has its middle at its place: `start`, `end`, `middle`.
    Text {
        at: Point,
        anchor: &'static str,
        text: Phrase,
    },
    /// Marks that belong together.
    Group(Vec<Mark>),
}

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    Axis,
    /// What leads the eye from a figure of an axis.
    Rule,
    /// Between the parts of a drawing.
    Border,
    Median,
    Interval,
    /// The level between two changes.
    Level,
    /// What lies beside a repeat's measured part.
    Aside,
    /// So many values.
    Count,
    /// A bar that stands beside others: one's own, or another's.
    Bar {
        own: bool,
    },
    BarInterval,
    /// A change by its verdict, hollow where the two did not take turns; and the interval of one.
    Effect {
        verdict: &'static str,
        hollow: bool,
    },
    EffectInterval(&'static str),
    /// The line with this number in the drawing's key; the same with what is below it shaded, and with what is below it filled.
    Line(usize),
    Outline(usize),
    Area(usize),
    /// The intervals of a line's points.
    Whisker(usize),
    /// A piece of a line, or of an area, beside its name.
    KeyLine(usize),
    KeyArea(usize),
    /// A point of a line, hollow where it is none of those that the line joins.
    Dot {
        line: usize,
        hollow: bool,
    },
    /// A repeat: `valid`, `warmup`, `invalid`, `failed`; and where it is on an axis of time.
    Repeat(&'static str),
    Band(&'static str),
    /// Where something happened: `phase`, `operation`, `fault`, `recovery`, `gate`, `better`, `worse`; what its number stands on, and what stands there.
    Flag(&'static str),
    FlagGround(&'static str),
    OnFlag,
    FlagNumber,
    /// A figure of a heat map, by its step of colour, and its parts.
    Heat(Option<usize>),
    HeatGround(Option<usize>),
    HeatFigure(Option<usize>),
    HeatVerdict(Option<usize>),
    HeatLabel,
    /// The title of a sheet, that of a part of it, and other texts.
    Title,
    PartTitle,
    Said,
    Quiet,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Place {
    /// Where on it a point of the canvas is.
    pub(super) fn at(self, (x, y): Point) -> Point {
        (self.x(x), self.y(y))
    }

    pub(super) fn x(self, x: f64) -> f64 {
        self.left + x / CANVAS.0 * self.width
    }

    pub(super) fn y(self, y: f64) -> f64 {
        self.top + y / CANVAS.1 * self.height
    }
}

impl Mark {
    pub(super) fn new(role: Role, shape: Shape) -> Self {
        Self { role, shape, title: None }
    }

    pub(super) fn text(role: Role, at: Point, anchor: &'static str, text: Phrase) -> Self {
        Self::new(role, Shape::Text { at, anchor, text })
    }

    /// The same elsewhere.
    pub(super) fn moved(&self, to: &dyn Fn(Point) -> Point) -> Self {
        let shape = match &self.shape {
            Shape::Path(path) => {
                Shape::Path(path.iter().map(|line| line.iter().map(|point| to(*point)).collect()).collect())
            }
            Shape::Rectangle(place) => {
                let (left, top) = to((place.left, place.top));
                let (right, bottom) = to((place.left + place.width, place.top + place.height));
                Shape::Rectangle(Place { left, top, width: right - left, height: bottom - top })
            }
            Shape::Dot(at) => Shape::Dot(to(*at)),
            Shape::Text { at, anchor, text } => Shape::Text { at: to(*at), anchor, text: text.clone() },
            Shape::Group(marks) => Shape::Group(marks.iter().map(|mark| mark.moved(to)).collect()),
        };
        Self { role: self.role, shape, title: self.title.clone() }
    }
}
