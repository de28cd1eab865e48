"""One run, from inputs to outputs.

options: `Options`, one record of all options.
tasks: inputs cut into tasks, each for one thread.
threads: tasks side by side, results in the order of the tasks.
task_results: pieces of a result, and their counts.
small_texts: many small texts scanned as one.
worker: the work of one thread: tasks -> pieces of the result.
failures: inputs that failed, told once each.
partial_result: what workers found, exchanged as partial rows, and classes of these.
groupings: groupings of a run, with a folder for spilled rows.
resume: finished tasks, kept beside the output so that a run can be resumed.
pipeline: `run` with its `Outputs` and its `Report`: all modules above together.
"""
