"""What the tests of tables share: what an input gives, as a list."""

import gzip
import io
import zipfile

from urnscan.errors import SourceError
from urnscan.formats.contents import Document, Values
from urnscan.formats.context import Reading
from urnscan.formats.limits import Limits
from urnscan.formats.unfold import open_documents
from urnscan.stores.input import Input


def read_values(path, *columns, encoding=None, limits=None, on_read=lambda _: None):
    """The values in a file, as (place, bytes) without null and empty ones, and the errors, in which it is "in"."""
    reading = Reading(encoding, columns, limits or Limits())
    values, errors = [], []
    try:
        for found in open_documents(Input(path.name, str(path), None), reading, on_read):
            if isinstance(found, SourceError):
                errors.append(found)
            else:
                assert isinstance(found, Values), "it was taken for text"
                assert found.values.nbytes < 1 << 31
                data = [value.as_py() for value in found.values]
                values += [(found.place(at), value) for at, value in enumerate(data) if value]
    except SourceError as error:
        errors.append(error)
    assert all(error.source.startswith(path.name) and "\n" not in error.reason for error in errors)
    return values, ["in" + str(error).removeprefix(path.name) for error in errors]


def is_text(path, *columns):
    """Whether a file is taken for text."""
    reading = Reading(None, columns)
    found = open_documents(Input(path.name, str(path), None), reading)
    return any(isinstance(document, Document) for document in found)


def gzipped(path):
    """The same bytes where nobody can jump about in them."""
    inner = path.with_name(path.name + ".gz")
    inner.write_bytes(gzip.compress(path.read_bytes(), 1))
    return inner


def zipped(path):
    """The same bytes in an archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, f"in/{path.name}")
    inner = path.with_name(path.name + ".zip")
    inner.write_bytes(data.getvalue())
    return inner
