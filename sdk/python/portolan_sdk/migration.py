"""Documents of an earlier form: the input and output of the internal action `migrate`."""

import dataclasses
from typing import Annotated

from .convert import DecodeError


@dataclasses.dataclass
class OldDocument:
    """A document before its migration."""

    id: Annotated[str, "Its id."]
    document: Annotated[dict, "Its old form."]


@dataclasses.dataclass
class Migration:
    """Documents to migrate."""

    collection: Annotated[str, "The name of the collection."]
    from_: Annotated[int, "The version of the stored documents."]
    to: Annotated[int, "The version that this component declares."]
    documents: Annotated[list[OldDocument], "The documents."]


@dataclasses.dataclass
class Migrated:
    """One answer for each document."""

    documents: Annotated[list[dict], "Objects with an id, and a document or an error."]


def migrated(migration, convert):
    """Converts each document. A `ValueError` or `KeyError` puts the document into quarantine."""
    return Migrated([_one(migration, old, convert) for old in migration.documents])


def _one(migration, old, convert):
    try:
        return {"id": old.id, "document": convert(migration.collection, old.document, migration.from_)}
    except (DecodeError, KeyError, ValueError) as error:
        return {"id": old.id, "error": f"{type(error).__name__}: {error}"}
