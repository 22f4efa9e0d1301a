"""The records of the host's public feeds, which are queried like documents."""

from . import contract
from .contract import ask
from .convert import decoder
from .documents import counted, page, query_record, stored


class Feed:
    """A feed by its name, such as `roles`, with the dataclass of the fields that are used."""

    def __init__(self, name, type):
        self.name, self._decode = name, decoder(type)

    def get(self, id):
        """Returns the record, or None."""
        return self.get_many([id])[0]

    def get_many(self, ids):
        """Returns one record or None for each id, in their order."""
        found = ask(contract.feeds.get_many, self.name, list(ids))
        return [each and stored(each, self._decode) for each in found]

    def find(self, **query):
        """Returns one page of records; the arguments are those of `Collection.find`."""
        found = ask(contract.feeds.find, self.name, query_record(**query))
        return page(found, lambda document: stored(document, self._decode))

    def count_by(self, paths, **query):
        """Counts the values of each path, like `Collection.count_by`."""
        return counted(ask(contract.feeds.count_by, self.name, query_record(**query), list(paths)))


def publication():
    """Returns an identifier of the current publication."""
    return ask(contract.feeds.publication)


def changes(since=None, limit=100):
    """Returns the changes of the feeds after a cursor, at most 1000, with the cursor `next` after them.

    Without a cursor, there are none, and `next` is the cursor of the current publication.
    """
    return ask(contract.feeds.changes, since, limit)
