"""One run, from inputs to outputs.

options: `Options`, one record of all options.
tasks: inputs split into tasks, each for one thread.
threads: threads that work at tasks in parallel; results in the order of the tasks.
task_results: pieces of a result, and their counts.
small_texts: many small texts scanned as one.
worker: the work of one thread: tasks -> pieces of the result.
failures: failures and notes, each reported once.
partial_result: partial rows of several workers, and the classes of these rows.
groupings: groupings of a run, with a folder for spilled rows.
resume: finished tasks, kept next to the output so that a run can be resumed.
pipeline: `run` with its `Outputs` and its `Report`: all modules above together.
"""
