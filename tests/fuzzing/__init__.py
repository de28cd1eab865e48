"""Fuzzing: bytes that nobody would write, given to what reads the bytes of others.

    python -m tests.fuzzing                         the names of the targets
    python -m tests.fuzzing kernel --seconds 3600   fuzz one of them (needs atheris: the extra `fuzz`)
    python -m tests.fuzzing kernel FILE             give it one file, as it failed
    python -m tests.fuzzing kernel --add FILE…      put files into its corpus, which the full tier replays

- `targets.py`: the table of targets, each a function of bytes that raises on what must not be
- `finding.py`, `records.py`, `inputs.py`: these functions
- `seeds.py`: what the corpora begin with; `corpus/` has them, with what fuzzing found besides
- `corpora.py`: the archives in `corpus/`
- `child.py`: the process in which libFuzzer runs one target
- `test_corpus.py`: each input of the corpora, given to its target by the full tier

The bytes of a target begin with a few that choose its options; what follows is the text, the dump or the file.
"""
