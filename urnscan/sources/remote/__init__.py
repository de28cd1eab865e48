"""Inputs and outputs that URLs name.

urls: URLs, and names of them without secrets.
s3: endpoint, region and credentials of Amazon S3 and stores like it.
store: the protocol of all stores, their errors, trying again.
filesystems: stores that pyarrow and fsspec reach.
web: the web as a store.
objects: reading an object over a network that fails.
places: the inputs that a URL names, and the place of an output.
"""
