"""A run, from inputs to outputs.

options: `Options`, a record of all options.
tasks: inputs split into tasks, each for one thread.
threads: threads that process tasks in parallel; results in the order of the tasks.
task_results: pieces of a result, and their counts.
small_texts: many small texts scanned as a single text.
worker: the work of a thread: tasks -> pieces of the result.
failures: failures and notes, each reported once.
partial_result: partial rows of several workers, and the classes of these rows.
groupings: groupings of a run, with a folder for spilled rows.
resume: finished tasks, kept next to the output so that a run can be resumed.
pipeline: `run`, which uses all modules above, with the records `Outputs` and `Report`.
"""
