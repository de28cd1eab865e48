"""What tests of several rooms need."""

import pytest
from hypothesis import HealthCheck, settings

# How long something takes says nothing on a machine that does other work besides: what has to be fast is measured.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="module")
def s3_server():
    """The address of an S3 server on this machine."""
    pytest.importorskip("moto")
    pytest.importorskip("flask")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()
