"""From a forecast and the state of the cluster to nodes: sizing, guards, plan, apply.

Empty so far. When it is filled, deciding stays pure, and its reactive fallback must never import
a model or a feature, so that it works when they fail.
"""
