"""What a server counts, for `/metrics`."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Meters:
    """Counters of one server; several servers in a process do not share them."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "recallseg_requests", "Answers.", ["method", "path", "code"], registry=registry
        )
        self.seconds = Histogram(
            "recallseg_request_seconds",
            "From a request's head to its answer.",
            ["path"],
            buckets=SECONDS,
            registry=registry,
        )
        self.waited = Histogram(
            "recallseg_waiting_seconds",
            "From a complete request to the model.",
            buckets=SECONDS,
            registry=registry,
        )
        self.batches = Histogram(
            "recallseg_batch_photos",
            "Photos that went through the model together.",
            buckets=(1, 2, 4, 8),
            registry=registry,
        )
        self.waiting = Gauge("recallseg_waiting", "Complete requests that wait.", registry=registry)
        self.connections = Gauge("recallseg_connections", "Open connections.", registry=registry)
        self.memory = Gauge(
            "recallseg_body_bytes", "Bytes of requests in memory.", registry=registry
        )
        self.killed = Gauge(
            "recallseg_decoders_killed", "Photos that took too long to decode.", registry=registry
        )
        self.turned_away = Counter(
            "recallseg_turned_away", "Requests without an answer.", ["reason"], registry=registry
        )
        self.closed = Counter(
            "recallseg_connections_closed",
            "Connections that were closed on their client.",
            ["reason"],
            registry=registry,
        )
        self.step = Gauge(
            "recallseg_last_step", "The last step of a run.", ["run"], registry=registry
        )
        self.reloads = Counter(
            "recallseg_reloads", "Runs that changed on disk.", ["run", "outcome"], registry=registry
        )

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self.registry)
