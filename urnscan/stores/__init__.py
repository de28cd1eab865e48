"""Stores of bytes: files of this machine, the web, object stores. Inputs and outputs use this package.

reader: the protocol of readers, which give bytes.
urls: URLs, and their names without secrets.
s3: endpoint, region and credentials of Amazon S3 and stores with the same protocol.
store: the protocol of all stores, their errors, trying again.
filesystems: stores through pyarrow and fsspec.
web: the web as a store.
objects: reading an object, again after a failure of the network.
remote_outputs: outputs in a store: a file or a folder at a URL.
temporary: names of the temporary files and folders of a run.
input: an input of a run; many files as arrays.
files: files, ranges of files, pipes and standard input -> bytes.
prefetch: requests to servers, started in parallel.
"""
