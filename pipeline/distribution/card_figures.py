"""The figures of the card, as files: relevance by rank, and relevant moments of a query."""

from pipeline.campaign.collection import Collection, per_query
from pipeline.campaign.pool_steps import FIRST, name_steps
from pipeline.distribution.release_files import ReleaseFile, ReleaseFiles
from pipeline.pages import charts, figures, relevance, svg
from pipeline.pages.figures import Figure

FOLDER = "figures"


def draw_figures(collection: Collection, batch: int) -> list[Figure]:
    """Return the figures, empty before anything is judged; ranks are those of the first batch."""
    judged = collection.judged
    ranks = relevance.by_rank(judged[name_steps(judged, batch) == FIRST])
    numbers = relevance.histogram(per_query(judged), relevance.QUERY_STEP)
    return [figures.by_rank(ranks), figures.histogram("relevant_per_query", numbers)]


def build_figure_files(collection: Collection, batch: int) -> ReleaseFiles:
    """Return each figure as SVG."""
    return {
        path(figure): ReleaseFile(svg.standalone(_with_chart(figure), opaque=True).encode())
        for figure in draw_figures(collection, batch)
    }


def path(figure: Figure) -> str:
    """Return a figure's path in the release."""
    return f"{FOLDER}/{figure.name}.svg"


def _with_chart(figure: Figure) -> Figure:
    """Return a figure with a chart, even if that is empty."""
    if figure.chart is not None:
        return figure
    words = charts.Words(figure.name, figure.title, "Nothing is judged yet.")
    return figure._replace(chart=charts.bars(words, [], [], "", ""))
