"""The server: one page, its photos, and `POST /predict` for programs."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from recallseg.errors import RecallsegError
from recallseg.predict.timeline import Timeline
from recallseg.serve.access import Access, Gate
from recallseg.serve.answers import FORM, REFUSALS, About, Answer, RunAbout, SampleAbout, StepAbout
from recallseg.serve.limits import ServerLimits
from recallseg.serve.looking import look
from recallseg.serve.pages import HEADERS, Page, docs_page, main_page
from recallseg.serve.samples import Sample
from recallseg.serve.uploads import CLOSE, drain, read_upload
from recallseg.serve.worker import BusyError, Worker
from recallseg.version import __version__

RETRY = {"Retry-After": "2"}


def create_app(
    runs: Mapping[str, Timeline],
    samples: Sequence[Sample] = (),
    limits: ServerLimits | None = None,
    access: Access | None = None,
) -> FastAPI:
    """A server over opened runs by key: `model`, and `compare` where there is one.

    Without rules of `access`, only requests for this machine itself are answered.
    """
    limits, worker = limits or ServerLimits(), Worker((limits or ServerLimits()).waiting)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        worker.close()

    app = FastAPI(
        title="recallseg",
        version=__version__,
        description="What a segmentation model sees in a photo, after each step of its life. "
        "Nothing that is uploaded is stored.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(Gate, access=access or Access())
    _add_headers(app)
    _add_pages(app)
    _add_facts(app, runs, samples, limits)

    @app.post("/predict", response_model=Answer, responses=REFUSALS, openapi_extra=FORM)
    async def predict(request: Request) -> Answer:
        """Segment a photo: the classes that are seen, their shares, and the mask."""
        deadline = time.monotonic() + limits.seconds
        try:
            async with asyncio.timeout(limits.seconds):
                with worker.place():
                    upload = await read_upload(request, limits.upload_bytes)
                    return await worker.do(lambda: look(runs, upload, limits, deadline))
        except BusyError as error:
            await drain(request, limits.upload_bytes)
            sentence = f"{limits.waiting} requests are waiting already; try again in 2 seconds."
            raise HTTPException(503, sentence, RETRY | CLOSE) from error
        except TimeoutError as error:
            sentence = f"This took longer than {limits.seconds:g} seconds; try a smaller photo."
            raise HTTPException(503, sentence, RETRY | CLOSE) from error

    return app


def _add_headers(app: FastAPI) -> None:
    """Put the protective headers on every answer that does not bring its own."""

    @app.middleware("http")
    async def protect(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return _shown(main_page())

    @app.get("/docs", include_in_schema=False)
    async def docs(token: str = "") -> HTMLResponse:
        return _shown(docs_page(app.openapi(), token))


def _shown(page: Page) -> HTMLResponse:
    return HTMLResponse(page.html, headers={"Content-Security-Policy": page.policy})


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
