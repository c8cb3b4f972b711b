"""The pieces that a report's page is made of: a plot with its data, a table, a cell.

Everything that comes in is plain text and goes out escaped; nothing here may let markup through.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from forecaster.report_words import number

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_BETTER, _WORSE = 0.98, 1.02  # what lies between is noise


def plot(figure: "Figure", size: str, caption: str) -> str:
    """A figure with its data beside it; the page's script draws it when it comes into view.

    Args:
        figure: what to draw.
        size: the page's class for its height, `tall` or `small`.
        caption: what it shows, for those who see it and those who do not.
    """
    data = figure.to_json()  # plotly writes '<' as an escape, so no data can end the script
    return (
        f'<figure><div class="plot {size}" role="img" aria-label="{escape(caption)}"></div>'
        f'<script type="application/json">{data}</script>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(caption: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> str:
    """A table that scrolls sideways on a narrow screen.

    Args:
        caption: what it shows.
        columns: headings, that of the row's names first.
        rows: cells that `cell` or `ratio_cell` made, by the row's name.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'
        for name, cells in rows.items()
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def cell(text: str) -> str:
    """One cell of a table."""
    return f"<td>{escape(text)}</td>"


def ratio_cell(ratio: float) -> str:
    """A ratio to the yardstick, marked where it is better or worse by more than noise."""
    if not math.isfinite(ratio) or _BETTER <= ratio <= _WORSE:
        return cell(number(ratio))
    kind = "better" if ratio < _BETTER else "worse"
    return f'<td class="{kind}">{number(ratio)}</td>'
