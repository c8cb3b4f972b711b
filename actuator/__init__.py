"""From a forecast and the state of the cluster to nodes: sizing, guards, plan, apply.

Deciding is pure; only `cluster/` and `backends/` touch the world. The reactive fallback imports no
model and no feature, so that it works when they fail.
"""
