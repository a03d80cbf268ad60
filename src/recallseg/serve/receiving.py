"""Taking a request for an answer: within its time, its client's rate and the memory there is."""

import asyncio
from typing import Any

from fastapi import HTTPException, Request

from recallseg.serve.clients import FullError, RateLimit, SharedMemory, client_name
from recallseg.serve.service import Service
from recallseg.serve.uploads import Upload, drain, read_upload, try_again


class Receiver:
    """Brings requests to the service once they are complete.

    A client that sends slowly has its connection and what it has sent so far, and nothing that
    others wait for.
    """

    def __init__(self, service: Service) -> None:
        self.service, self.limits = service, service.limits
        per_client = max(self.limits.upload_bytes, self.limits.body_bytes // 4)
        self.memory = SharedMemory(self.limits.body_bytes, per_client)
        self.rate = RateLimit(self.limits.per_minute)
        service.meters.memory.set_function(lambda: self.memory.taken)

    async def answer(self, request: Request) -> bytes:
        """The answer to a request, or the reason why there is none."""
        client = client_name(request.client.host if request.client else "")
        if wait := self.rate.wait(client):
            raise await self._refused(
                request, "rate", f"At most {self.limits.per_minute:g} photos a minute.", 429, wait
            )
        with self.memory.share(client) as share:
            try:
                async with asyncio.timeout(self.limits.body_seconds):
                    upload = await read_upload(request, self.limits.upload_bytes, share.grow)
            except FullError as error:
                sentence = "Too many uploads are arriving; try again in 2 seconds."
                raise await self._refused(request, "memory", sentence) from error
            except TimeoutError as error:
                sentence = f"The upload took longer than {self.limits.body_seconds:g} seconds."
                self.service.meters.turned_away.labels("slow body").inc()
                raise try_again(sentence, 408) from error
            return await self._answer(request, client, upload)

    async def _answer(self, request: Request, client: str, upload: Upload) -> bytes:
        """The answer, unless its time is over or its client hangs up before it is there."""
        notes: dict[str, Any] = request.scope.get("state", {}).get("notes", {})
        notes["bytes"] = len(upload.photo)
        work = asyncio.create_task(self.service.answer(client, upload, notes))
        gone = asyncio.create_task(_hung_up(request))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self.service.meters.turned_away.labels("gone").inc()
                raise HTTPException(499, "The client hung up.")
            return work.result()
        except TimeoutError as error:
            self.service.meters.turned_away.labels("slow").inc()
            seconds = self.limits.seconds
            raise try_again(
                f"This took longer than {seconds:g} seconds; try a smaller photo."
            ) from error
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _refused(
        self, request: Request, reason: str, sentence: str, code: int = 503, wait: float = 2.0
    ) -> HTTPException:
        """A refusal, after what the client is still sending was read so that it gets to see it."""
        self.service.meters.turned_away.labels(reason).inc()
        await drain(request, self.limits.upload_bytes)
        return try_again(sentence, code, wait)


async def _hung_up(request: Request) -> None:
    """Return when the client closes its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
