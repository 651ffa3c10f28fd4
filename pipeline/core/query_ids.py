"""The ids of queries in a release's JSON: numbers, as the published training code needs them."""

from collections.abc import Iterable

from momentrank.ids import KEY, IdError, query_number


def query_numbers(ids: Iterable[str]) -> dict[str, int]:
    """Return the number of each query id.

    Raises:
        IdError: two ids have the same number (for a million ids, a chance of 1 in 9,000).
    """
    numbers = {one: query_number(one) for one in ids}
    owner: dict[int, str] = {}
    for one, number in numbers.items():
        if owner.setdefault(number, one) != one:
            raise IdError(
                f"the query ids {owner[number]!r} and {one!r} have the same number, {number}:"
                " change one of the two in the corpus"
            )
    return numbers


def json_names(number: int, own: str) -> dict[str, int | str]:
    """Return a query's ids in JSON: its number and, if different, its own id."""
    return {"query_id": number} if str(number) == own else {"query_id": number, KEY: own}
