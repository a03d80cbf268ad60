"""A table as data, and as LaTeX, CSV and Markdown. `page` writes it as HTML."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from recallseg.report.series import Value

Cell = Value | str | None


@dataclass(frozen=True)
class Row:
    """A line of a table: its label, and one cell per column."""

    label: str
    cells: tuple[Cell, ...]
    paper: bool = False
    """Whether these are the paper's numbers, not ours."""


@dataclass(frozen=True)
class Table:
    """Numbers in rows and columns, with columns in groups."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    groups: tuple[tuple[str, int], ...] = ()
    """Headings over columns, each with the number of columns it spans."""
    note: str = ""

    def best(self, column: int) -> Value | None:
        """The highest of our values in a column, bounds left out, if there are several."""
        ours = [row for row in self.rows if not row.paper and row.label != "Joint"]
        values = [cell for row in ours if isinstance(cell := row.cells[column], Value)]
        return max(values, key=lambda value: value.mean) if len(values) > 1 else None

    def headings(self) -> list[str]:
        """Each column's name with its group's."""
        groups = [name for name, span in self.groups for _ in range(span)]
        if not groups:
            return list(self.columns)
        return [f"{group} {name}" for group, name in zip(groups, self.columns, strict=True)]


def to_csv(tables: Sequence[Table]) -> str:
    """All tables one after the other, with an empty line between them; spreads have columns."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for number, table in enumerate(tables):
        if number:
            buffer.write("\n")
        heads = [name for head in table.headings() for name in (head, f"{head} spread")]
        writer.writerow([table.title, *heads])
        for row in table.rows:
            writer.writerow([_row_name(row), *(part for cell in row.cells for part in _pair(cell))])
    return buffer.getvalue()


def to_markdown(tables: Sequence[Table]) -> str:
    """All tables for a README."""
    return "\n".join(_markdown(table) for table in tables)


def to_latex(tables: Sequence[Table]) -> str:
    """All tables for a paper, with booktabs."""
    return "\n".join(_latex(table) for table in tables)


def _markdown(table: Table) -> str:
    def text(cell: object) -> str:
        return str(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")

    heads = ["", *table.headings()]
    lines = [f"### {text(table.title)}", "", _bar(map(text, heads)), _bar(["---"] * len(heads))]
    lines += [
        _bar([text(_row_name(row)), *_marked(table, row, text, "**{}**")]) for row in table.rows
    ]
    if table.note:
        lines += ["", text(table.note)]
    return "\n".join([*lines, ""])


def _latex(table: Table) -> str:
    def text(cell: object) -> str:
        return "".join(_LATEX.get(letter, letter) for letter in str(cell))

    heads = ["", *table.headings()]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{text(table.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(map(text, heads)) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = [text(_row_name(row)), *_marked(table, row, text, r"\textbf{{{}}}")]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
}


def _marked(table: Table, row: Row, text: Callable[[object], str], mark: str) -> list[str]:
    """The texts of a row's cells; the best value of a column is marked."""
    cells = []
    for column, cell in enumerate(row.cells):
        content = "–" if cell is None else text(cell)
        best = not row.paper and cell is not None and cell == table.best(column)
        cells.append(mark.format(content) if best else content)
    return cells


def _row_name(row: Row) -> str:
    return f"{row.label} (paper)" if row.paper else row.label


def _bar(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pair(cell: Cell) -> tuple[str, str]:
    if isinstance(cell, Value):
        return f"{cell.mean:.4f}", "" if cell.spread is None else f"{cell.spread:.4f}"
    return cell or "", ""
