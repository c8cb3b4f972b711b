"""Forecasts, history and announcements as a Prometheus answers them, the future included.

Grafana's own Prometheus data source reads it. It must never fill a gap, and never answer a query
that it does not understand in full.
"""
