"""One run, from inputs to outputs.

options: `Options`, one record of all that a run goes by.
tasks: inputs cut into tasks, each for one thread.
threads: tasks side by side, results in the order of the tasks.
pieces: pieces of a result, and their counts.
together: small texts that are scanned as one.
worker: the work of one thread: tasks -> pieces of the result.
failures: inputs that failed, told once each; the folder for spilled rows.
resume: finished tasks, kept beside the output so that a run can be resumed.
pipeline: `run` and its `Report`: all of the above together.
"""
