"""The network is for inputs that ask for it: SECURITY.md says that nothing else ever opens a socket."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent.parent.parent / "data" / "samples"

# Python imports this at each start, in children, too. What is refused is written down: the command may survive it.
REFUSING = """
import os, sys

def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        with open(os.environ["REFUSED"], "a") as refused:
            print(event, file=refused)
        import socket
        raise socket.gaierror(socket.EAI_NONAME, "no sockets here")  # which is not tried again

sys.addaudithook(refuse)
"""


@pytest.fixture(scope="module")
def offline(urnscan_of_module, tmp_path_factory):
    """The command where Python opens no socket and looks up no host, and what it tried all the same."""
    folder = tmp_path_factory.mktemp("offline")
    (folder / "sitecustomize.py").write_text(REFUSING)
    refused = folder / "refused"
    urnscan_of_module.environment |= {"PYTHONPATH": str(folder), "REFUSED": str(refused)}

    def run(*arguments, **options):
        refused.write_text("")
        return urnscan_of_module(*arguments, **options), refused.read_text().split()

    return run


@pytest.mark.full
def test_without_the_network(offline):
    """What each of the commands does with files."""
    for words in (
        [SAMPLES, "-o", "classes.parquet", "--occurrences", "occ.parquet"],
        ["report", "classes.parquet", "--occurrences", "occ.parquet", "-o", "page.html"],
        ["dedup", SAMPLES / "references.bib", "-o", "clusters.parquet", "--report", "clusters.html"],
        ["explain", "urn:isbn:0-395-36341-1"],
    ):
        result, refused = offline(*words)
        assert refused == [], words
        assert result.out or result.err, words


@pytest.mark.full
def test_an_input_that_asks_for_it(offline):
    """Else the test above refuses nothing. The address is one that nobody has (RFC 2606)."""
    result, refused = offline("https://host.invalid/", status=2)
    assert any(event in ("socket.getaddrinfo", "socket.connect") for event in refused)
    assert "host.invalid" in result.err
