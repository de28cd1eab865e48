"""The functions that Python programs and notebooks call.

shared: progress, errors and tables of the functions below.
faults: wrong names in texts, with their positions.
passages: the text around occurrences, from inputs that are read a second time.
context: `Scan.context`, the text around the occurrences of a class.
scans: `scan`.
partial: `scan_partial` and `merge_partial`, for engines that run functions on many machines.
dataframes: `scan_frame`, for a column of a frame.
batches: `scan_batches`, for a column of text that comes batch by batch.
columns: functions of a whole column, for pandas, Polars and DuckDB.
deduplication: `deduplicate`.
merging: `merge`, for tables of several runs.
comparing: `diff`, for tables of two runs.
compilation: `warm_up`, which compiles all functions before the first run.
samples: `samples`, the sample texts of the package.
"""
