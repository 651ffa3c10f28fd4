"""What pyproject.toml can't say: the owner and the addresses, which owner.toml has."""

import tomllib
from pathlib import Path

from setuptools import setup

owner = tomllib.loads((Path(__file__).parent / "owner.toml").read_text(encoding="utf-8"))
urls = {
    "Repository": owner["repository"],
    "Issues": owner["issues"],
    "TVR-Ranking": "https://arxiv.org/abs/2407.06597",
    "AxIoU": "https://arxiv.org/abs/2203.16062",
    "Segment-based measures": "https://arxiv.org/abs/1312.1913",
}
setup(
    author=owner["name"] or "The MomentRank maintainers",
    author_email=owner["email"] or None,
    project_urls={name: url for name, url in urls.items() if url},
)
