"""The server: one page, its photos, and `POST /predict` for programs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from recallseg.errors import RecallsegError
from recallseg.predict.timeline import Timeline
from recallseg.serve.access import Access, Gate
from recallseg.serve.answers import (
    FORM,
    REFUSALS,
    About,
    Answer,
    Health,
    RunAbout,
    SampleAbout,
    StepAbout,
)
from recallseg.serve.limits import ServerLimits
from recallseg.serve.meters import Meters
from recallseg.serve.observing import Observed
from recallseg.serve.pages import Page, ProtectiveHeaders, docs_page, main_page
from recallseg.serve.receiving import Receiver
from recallseg.serve.runs import LiveRuns
from recallseg.serve.samples import Sample
from recallseg.serve.service import Service
from recallseg.version import __version__


def create_app(
    runs: Mapping[str, Timeline],
    samples: Sequence[Sample] = (),
    limits: ServerLimits | None = None,
    access: Access | None = None,
    log: Callable[[dict[str, Any]], None] | None = None,
) -> FastAPI:
    """A server over opened runs by key: `model`, and `compare` where there is one.

    Without rules of `access`, only requests for this machine itself are answered. `log` is called
    with what is to be known of each request.
    """
    limits, meters = limits or ServerLimits(), Meters()
    service = Service(runs, limits, meters)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        for key, run in runs.items():
            meters.step.labels(key).set(max(run.class_names))
        fresh = runs.keep_fresh(meters) if isinstance(runs, LiveRuns) else asyncio.sleep(0)
        watching = asyncio.create_task(fresh)
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await service.close()

    app = FastAPI(
        title="recallseg",
        version=__version__,
        description="What a segmentation model sees in a photo, after each step of its life. "
        "Nothing that is uploaded is stored.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service, app.state.limits, app.state.meters = service, limits, meters
    app.add_middleware(Gate, access=access or Access())
    app.add_middleware(ProtectiveHeaders)
    app.add_middleware(Observed, meters=meters, log=log)
    _add_pages(app)
    _add_facts(app, runs, samples, limits)
    _add_health(app, service)
    receiver = Receiver(service)

    @app.post("/predict", response_model=Answer, responses=REFUSALS, openapi_extra=FORM)
    async def predict(request: Request) -> Response:
        """Segment a photo: the classes that are seen, their shares, and the mask."""
        return Response(await receiver.answer(request), media_type="application/json")

    return app


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return _shown(main_page())

    @app.get("/docs", include_in_schema=False)
    async def docs(token: str = "") -> HTMLResponse:
        return _shown(docs_page(app.openapi(), token))


def _shown(page: Page) -> HTMLResponse:
    return HTMLResponse(page.html, headers={"Content-Security-Policy": page.policy})


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/livez", response_model=Health)
    async def livez() -> Health:
        """Whether the server answers at all; if it does not, start it anew."""
        return Health(status="alive")

    @app.get("/readyz", response_model=Health, responses={503: {"model": Health}})
    async def readyz(response: Response) -> Health:
        """Whether to send requests here: not while it stops or nothing looks at photos."""
        if service.is_ready:
            return Health(status="ready")
        response.status_code = 503
        return Health(status="stopping" if service.is_stopping else "not ready")

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """What the server has counted, for Prometheus."""
        return Response(service.meters.text(), media_type="text/plain; version=0.0.4")


def _add_facts(
    app: FastAPI, runs: Mapping[str, Timeline], samples: Sequence[Sample], limits: ServerLimits
) -> None:
    @app.get("/model", response_model=About)
    async def model() -> About:
        """The runs that can be asked with their steps, the samples and the limits."""
        return About(
            runs=[
                RunAbout(
                    key=key,
                    name=run.path.resolve().name,
                    method=run.method,
                    steps=[StepAbout(**step) for step in run.steps()],
                )
                for key, run in runs.items()
            ],
            samples=[
                SampleAbout(url=f"samples/{number}", name=sample.name)
                for number, sample in enumerate(samples)
            ],
            upload_bytes=limits.upload_bytes,
            pixels=limits.pixels,
            mask_pixels=limits.mask_pixels,
        )

    @app.get("/samples/{number}", response_class=Response)
    def sample(number: int) -> Response:
        """A sample picture, as a JPEG."""
        if not 0 <= number < len(samples):
            raise HTTPException(404, f"There are {len(samples)} samples, counted from 0.")
        try:
            return Response(samples[number].jpeg(), media_type="image/jpeg")
        except RecallsegError as error:
            raise HTTPException(404, str(error)) from error
