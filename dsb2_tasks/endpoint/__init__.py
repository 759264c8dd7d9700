"""A client for servers that speak OpenAI's API: chat completions and transcriptions, many at a time, through faults.

Importing this package imports no HTTP library.
"""

from dsb2_tasks.endpoint._endpoint import Endpoint
from dsb2_tasks.endpoint._read import read_retry_after
from dsb2_tasks.endpoint._types import EndpointError, Failed, Reply, Usage

__all__ = ["Endpoint", "EndpointError", "Failed", "Reply", "Usage", "read_retry_after"]
