"""Runs that name queries by the integers of a release's JSON, back under their own ids."""

from momentrank.ids import IdError, own_ids
from momentrank.segments import Segments


def restore_own_ids(run: Segments, qrels: Segments) -> Segments:
    """Return a run by the ids of the qrels where it names queries by their numbers.

    A model that was trained on a release's JSON knows no other name (`ids.query_number`).

    Raises:
        IdError: the run has a query by its id and by its number too.
    """
    in_qrels = set(qrels.queries)
    own = own_ids((name for name in run.queries if name not in in_qrels), qrels.queries)
    if not own:
        return run
    queries = [own.get(name, name) for name in run.queries]
    for number, name in own.items():
        if name in run.queries:
            raise IdError(f"the run has the query {name!r} by its number, {number}, too: keep one")
    return run._replace(queries=queries)
