"""Adds up an order with FastMCP, as `alpha` of tests/guests/template does: order.py PORT"""

import sys
from typing import Annotated

import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, Field

U32 = 2**32 - 1


class Line(BaseModel):
    article: Annotated[str, Field(min_length=1, max_length=60)]
    quantity: Annotated[int, Field(ge=1, le=1000)]
    price: Annotated[int, Field(ge=0, le=U32, description="Cents.")]


class Receipt(BaseModel):
    customer: str
    articles: int
    total: Annotated[int, Field(description="Cents.")]
    dearest: str


server = FastMCP("order")


@server.tool(annotations={"readOnlyHint": True, "idempotentHint": True})
async def add_up(
    customer: Annotated[str, Field(min_length=1, max_length=60, description="The person who orders.")],
    lines: Annotated[list[Line], Field(max_length=100)],
) -> Receipt:
    """Add up"""
    if not lines:
        raise ToolError("the order is empty")
    return Receipt(
        customer=customer,
        articles=sum(line.quantity for line in lines),
        total=sum(line.quantity * line.price for line in lines),
        dearest=max(reversed(lines), key=lambda line: line.price).article,
    )


app = server.http_app(path="/mcp", json_response=True, stateless_http=True)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False, log_level="warning")
