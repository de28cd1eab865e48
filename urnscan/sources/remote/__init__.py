"""Inputs and outputs that URLs name.

urls: URLs, and names of them without secrets.
stores: one protocol for all stores: list, read, write.
aws: S3 and its like: endpoint, region, credentials.
web: the web as a store.
places: objects that a URL names; reading and writing them over a network that fails.
"""
