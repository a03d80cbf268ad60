"""What can be chosen about replay by web crawler (paper, sec. 5)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from recallseg.config.sources import SourceSettings
from recallseg.errors import RecallsegError
from recallseg.replay.queries import MatchRule
from recallseg.replay.source import Source
from recallseg.replay.web.unsafe import UnsafeSettings


class WebSettings(SourceSettings):
    """A photo site, how politely it is asked, and which of its photos count."""

    title: str = "Web"
    site: Literal["flickr", "openverse", "commons"] = "openverse"
    """Flickr needs a key in FLICKR_API_KEY, the others need none."""
    base_url: str | None = None
    """Another address that speaks the site's language."""
    interval: Annotated[float, Field(ge=0)] = 1.0
    """Seconds between two requests to the same host, at least."""
    allow_hosts: tuple[str, ...] = ()
    """Private or loopback hosts that photos may come from; all others of that kind are refused."""
    match: MatchRule = "both"
    """The class name must stand in tags and description, or in one of them."""
    queries: dict[str, str] = Field(default_factory=dict)
    """What to search for instead of a class's name."""
    unsafe: UnsafeSettings = UnsafeSettings()
    """A classifier that keeps unsafe pictures out; sites are asked for safe ones in any case."""

    def images_depend_on(self) -> dict[str, Any]:
        """The settings that decide which images it brings; no filter is as before there was one."""
        settings = super().images_depend_on()
        if self.unsafe.classifier is None:
            del settings["unsafe"]
        return settings

    def contacts(self) -> str | None:
        """The site, or the address that stands in for it."""
        return self.base_url or self.site

    def own_addresses(self) -> dict[str, tuple[str, ...]]:
        """The address that stands in for the site, and the private hosts that may be asked."""
        base = (self.base_url,) if self.base_url else ()
        return {"base_url": base, "allow_hosts": self.allow_hosts}

    def open(self) -> Source:
        """The site, ready to be searched; it needs the extra packages of `recallseg[web]`."""
        try:
            from recallseg.replay.web.crawler import WebSource
            from recallseg.replay.web.fetching import FetchLimits, PoliteClient
            from recallseg.replay.web.sites import SITES
            from recallseg.replay.web.unsafe import UnsafeFilter
        except ImportError as error:
            raise RecallsegError(
                "replay.source=web needs more packages: pip install 'recallseg[web]'."
            ) from error
        client = PoliteClient(FetchLimits(interval=self.interval), allow_hosts=self.allow_hosts)
        build = SITES[self.site]
        site = build(client, base=self.base_url) if self.base_url else build(client)
        unsafe = UnsafeFilter(self.unsafe) if self.unsafe.classifier else None
        return WebSource(site, client, self.match, self.queries, unsafe=unsafe)
