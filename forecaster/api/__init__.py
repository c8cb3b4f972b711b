"""The HTTP side of the service: `/v1`, `/prom`, `/metrics` and the page.

Requests read what jobs and cycles have left in the database, and write what people say; they never
forecast, plan or ask a cluster for anything themselves.
"""
