"""The catalogue that the package brings, read once per process.

Source: docs/semantics/models.md#the-catalogue.
"""

from functools import cache
from importlib.resources import files

from app.catalogue.entries import Catalogue, catalogue_from_json
from app.core import canonical


@cache
def packaged_catalogue() -> Catalogue:
    """The catalogue of `app/catalogue/models.json`."""
    data = files("app.catalogue").joinpath("models.json").read_bytes()
    return catalogue_from_json(canonical.decode(data))
