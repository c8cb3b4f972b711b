"""Forecasts: the model protocol, the zoo, calibration, selection, backtest, scores, registry.

A model sees a panel and an origin and nothing later than that origin. Only `models.registry`
touches the disk.
"""
