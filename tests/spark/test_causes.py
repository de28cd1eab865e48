"""An error of Spark is told in one line that has its cause, and what helps; the texts are what Spark 4 said."""

import pytest

from urnscan.spark.causes import cause_of

ABORTED = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: "
LOST = ABORTED + "Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.7 executor 3): "
STACK = "\n\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.read(PythonRunner.scala:813)\n"
CALL = "An error occurred while calling o120.collectToPython.\n: "


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            (
                f"{CALL}{LOST}org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting "
                f"'spark.python.worker.faulthandler.enabled' to 'true' for the better Python traceback.{STACK}"
                f"Caused by: java.io.EOFException{STACK}\nDriver stacktrace:{STACK}"
            ),
            (
                "Spark: Python worker exited unexpectedly (crashed), in executor 3 on 10.0.0.7, after 4 attempts; memory is "
                "probably short: raise spark.executor.memoryOverhead, or use fewer cores"
            ),
        ),
        (
            (
                f"{CALL}org.apache.spark.SparkException: Exception thrown in awaitResult: {STACK}Caused by: {LOST}"
                "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"
            ),
            (
                "Spark: Python worker exited unexpectedly (crashed), in executor 3 on 10.0.0.7, after 4 attempts; memory is "
                "probably short: raise spark.executor.memoryOverhead, or use fewer cores"
            ),
        ),
        (
            (
                f"{CALL}{LOST}ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: "
                f"Command exited with code 137\nDriver stacktrace:{STACK}"
            ),
            (
                "Spark: an executor was lost: Command exited with code 137, in executor 3 on 10.0.0.7, after 4 attempts; memory "
                "is probably short: raise spark.executor.memoryOverhead, or use fewer cores"
            ),
        ),
        (
            (
                "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
                '  File "/x/worker.py", line 12, in work\n    raise MemoryError()\nMemoryError\n'
            ),
            (
                "Spark: MemoryError; a Python worker is out of memory: raise spark.executor.memoryOverhead, or use fewer "
                "cores"
            ),
        ),
        (
            (
                "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
                "  File \"/x/worker.py\", line 12, in work\nModuleNotFoundError: No module named 'urnscan'\n"
            ),
            (
                "Spark: ModuleNotFoundError: No module named 'urnscan'; executors need Python with urnscan (PYSPARK_PYTHON "
                "names it)"
            ),
        ),
        (
            (
                f"{CALL}{LOST}java.io.IOException: No space left on device{STACK}\nDriver stacktrace:{STACK}"
                f"Caused by: java.io.IOException: No space left on device{STACK}"
            ),
            (
                "Spark: No space left on device, in executor 3 on 10.0.0.7, after 4 attempts; a disk is full: results and "
                "exchanged rows are in spark.local.dir"
            ),
        ),
        (
            (
                f"{CALL}{LOST}org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
                '  File "/x/executors.py", line 1, in written\n'
                "urnscan.errors.FatalError: classes: is not there on node7, where an executor is to write it\n"
            ),
            "classes: is not there on node7, where an executor is to write it",
        ),
        (
            (
                f"An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n"
                f": org.apache.spark.SparkException: Could not parse Master URL: 'sprak://x'{STACK}"
            ),
            "Spark: Could not parse Master URL: 'sprak://x'",
        ),
        ("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03", None),
        ("An error occurred while calling o1.x.", None),
    ],
    ids=["killed", "killed, while awaited", "executor", "memory", "module", "disk", "own", "master", "sql", "nothing"],
)
def test_cause(text, line):
    """The cause is found wherever Spark has put it; a text of one line stays as it is."""
    assert cause_of(text) == (line or f"Spark: {text}")
