"""Parses the metrics with Prometheus's own OpenMetrics parser, and prints them as JSON."""

import json
import sys

import requests
from prometheus_client.openmetrics.parser import text_string_to_metric_families

answer = requests.get(sys.argv[1] + "/metrics", timeout=10)
answer.raise_for_status()
assert answer.headers["content-type"].startswith("application/openmetrics-text"), answer.headers
samples = [
    {"name": sample.name, "labels": sample.labels, "value": sample.value, "type": family.type}
    for family in text_string_to_metric_families(answer.text)
    for sample in family.samples
]
print(json.dumps(samples))
