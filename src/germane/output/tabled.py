"""Tabled: what has a table is shown as one, wherever it is shown."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from germane.output.tables import Table


class Tabular:
    """A value that prints as its table, and is one in notebooks, in Markdown and in LaTeX."""

    def table(self) -> "Table":
        """The value as rows of text, with notes."""
        raise NotImplementedError

    def markdown(self) -> str:
        """A GitHub table."""
        return self.table().markdown()

    def latex(self) -> str:
        """A booktabs table."""
        return self.table().latex()

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()
