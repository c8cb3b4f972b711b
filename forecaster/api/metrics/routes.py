"""`/metrics`, in the form that the scraper asks for."""

from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response

from forecaster.api.security import READ

router = APIRouter(dependencies=[READ], include_in_schema=False)


@router.get("/metrics")
def metrics(request: Request, accept: Annotated[str, Header()] = "") -> Response:
    """Every metric as it is now."""
    from prometheus_client.exposition import choose_encoder

    encoder, content_type = choose_encoder(accept)
    return Response(encoder(request.app.state.metrics), headers={"Content-Type": content_type})
