"""Which saved code a process takes: that of the wheel for the best variant that the processor runs, else its own."""

import pytest

from urnscan.compiled import jit, object_code
from urnscan.compiled.object_code import ObjectCode, variants

V2 = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}
V3 = V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}


@pytest.fixture
def processor(monkeypatch):
    """Makes this process one on another kind of processor."""

    def become(triple, features):
        monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: triple)
        monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: dict.fromkeys(features, True))

    return become


@pytest.mark.parametrize(
    ("features", "names"),
    [
        (V3 | {"avx512f"}, ["x86-64-v3", "x86-64-v2"]),
        (V3, ["x86-64-v3", "x86-64-v2"]),
        (V3 - {"movbe"}, ["x86-64-v2"]),
        (V3 - {"sse4.2"}, []),
        (V2, ["x86-64-v2"]),
        (set(), []),
    ],
)
def test_variants_of_x86(processor, features, names):
    """An instruction that the processor lacks ends the process. The psABI of x86-64 lists what each level has."""
    processor("x86_64-unknown-linux-gnu", features)
    assert variants() == names


def test_a_feature_that_llvm_says_is_missing(monkeypatch):
    """LLVM names such features, too: for example where the operating system does not save the registers of AVX."""
    monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: "x86_64-apple-darwin")
    features = dict.fromkeys(V3, True) | {"avx2": False}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    assert variants() == ["x86-64-v2"]


def test_variants_of_others(processor):
    processor("aarch64-unknown-linux-gnu", {"neon"})
    assert variants() == ["generic"]


@pytest.fixture
def wheel(monkeypatch, tmp_path, processor):
    """The folder of code from a wheel, and a process on x86-64-v3 without any cached answer."""
    processor("x86_64-unknown-linux-gnu", V3)
    for name in (*object_code._PROCESSOR, *object_code._SETTINGS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(object_code, "WHEEL", tmp_path / "wheel")
    monkeypatch.setattr(object_code, "cache_folder", lambda: tmp_path / "own")
    monkeypatch.setattr(object_code, "wheel_machine", object_code.wheel_machine.__wrapped__)
    monkeypatch.setattr(object_code, "_machine", lambda: "own")
    for name in ("wheel", "own"):
        (tmp_path / name).mkdir()
    return tmp_path / "wheel"


def mark(wheel, name):
    """Say that the wheel has all code for this variant; the machine of that code."""
    machine = object_code._machine_of(name, "")
    object_code._mark(wheel, machine).touch()
    return machine


class TestWheel:
    """The code of a wheel, where it fits."""

    def test_the_best_variant_counts(self, wheel):
        assert object_code.wheel_machine() is None
        second = mark(wheel, "x86-64-v2")
        assert object_code.wheel_machine() == second
        first = mark(wheel, "x86-64-v3")
        assert object_code.wheel_machine() == first != second

    def test_a_lesser_processor_takes_the_lesser_variant(self, wheel, processor):
        mark(wheel, "x86-64-v3")
        second = mark(wheel, "x86-64-v2")
        processor("x86_64-unknown-linux-gnu", V2)
        assert object_code.wheel_machine() == second
        processor("x86_64-unknown-linux-gnu", ())
        assert object_code.wheel_machine() is None

    def test_all_is_there(self, wheel, monkeypatch):
        """Also where nothing can be written, and then nothing is said of a folder."""
        mark(wheel, "x86-64-v3")
        monkeypatch.setattr(object_code, "cache_folder", lambda: None)
        assert object_code.is_complete()
        monkeypatch.setattr(object_code, "PACKAGE", wheel.parent)
        assert jit.kept_in() == wheel.parent

    @pytest.mark.parametrize("name", ["NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT", "NUMBA_BOUNDSCHECK"])
    def test_settings_of_numba_count(self, wheel, monkeypatch, name):
        """A user who asks for other code gets it."""
        mark(wheel, "x86-64-v3")
        monkeypatch.setenv(name, "0")
        assert object_code.wheel_machine() is None
        assert not object_code.is_complete()

    def test_other_versions_count(self, wheel, monkeypatch):
        """Code of a wheel that was made with another NumPy is left alone."""
        mark(wheel, "x86-64-v3")
        monkeypatch.setattr(object_code, "_source_key", lambda: "another")
        assert object_code.wheel_machine() is None

    def test_what_the_wheel_lacks_is_kept_outside_it(self, wheel, monkeypatch):
        """Code for this processor must not stand under the name of a variant: another processor may share the folder."""
        machine = mark(wheel, "x86-64-v3")
        monkeypatch.setattr(object_code, "_linked", lambda code, _: code.data)
        object_code.save("a.b", (int,), ObjectCode("entry", "environment", b"own"))
        assert object_code.load("a.b", (int,)) == b"own"
        object_code._path(wheel, machine, "a.b", (int,)).write_bytes(b"entry\nenvironment\nwheel\n")
        assert object_code.load("a.b", (int,)) == b"wheel\n"
        assert [path.suffix for path in wheel.iterdir()].count(".o") == 1
        assert object_code.count() == 2
