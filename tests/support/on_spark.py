"""Spark as tests need it: small, and with a Java that starts soon."""

from urnscan.spark.job import LEAN

__all__ = ["FEW"]

FEW = f"--conf spark.sql.shuffle.partitions=3 --conf 'spark.executor.extraJavaOptions={LEAN}'"
"""Options of spark-submit: few partitions, and executors with the Java that drivers have."""
