"""One file per kind of thing that the API speaks of, and the table of them."""

from fastapi import APIRouter

from forecaster.api.metrics import routes as metrics
from forecaster.api.page import router as page
from forecaster.api.prom import routes as prom
from forecaster.api.routes import (
    announcements,
    audit,
    forecasts,
    health,
    history,
    jobs,
    keda,
    models,
    modes,
    node_events,
    plans,
    policies,
    pools,
    protections,
    scores,
)

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    pools.router,
    history.router,
    forecasts.router,
    scores.router,
    keda.router,
    plans.router,
    announcements.router,
    modes.router,
    policies.router,
    models.router,
    protections.router,
    node_events.router,
    audit.router,
    jobs.router,
    metrics.router,
    prom.router,
    page.router,
)
"""In the order in which the API is told of."""
