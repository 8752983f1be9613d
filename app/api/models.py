"""Models: what a name means, and an operator's word before the catalogue's."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from app.api.dependencies import JsonBody, Service
from app.api.model_models import (
    ModelOut,
    ModelPageOut,
    ModelQuery,
    OperatorProfileIn,
    PutModelOut,
    model_answer,
)
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.pages import decode_cursor, encode_cursor
from app.api.repairs import body_repairs
from app.api.responses import json_response
from app.api.validation import validated
from app.api.wire import MODEL_NAME
from app.core.errors import InvalidCursor, InvalidModelProfile, InvalidRequest, UnknownField
from app.core.ids import is_model_name
from app.services.models import delete_model, forget_learned, get_model, list_models, put_model

router = APIRouter(prefix="/v1/models", tags=["models"])

_LIST = "models"

ModelPath = Annotated[
    str, Path(pattern=MODEL_NAME, description="A model's name; it may hold slashes.")
]


@router.get(
    "",
    response_model=ModelPageOut,
    responses=refuses(InvalidCursor, InvalidRequest, UnknownField),
)
async def list_all(service: Service, wanted: Annotated[ModelQuery, Query()]) -> Response:
    """List every model of which something is known, by name."""
    after = None if wanted.cursor is None else _place(wanted.cursor)
    found = await list_models(service, wanted.filter(), wanted.order, after, wanted.limit + 1)
    shown = found[: wanted.limit]
    cursor = encode_cursor(_LIST, [shown[-1].name]) if len(found) > wanted.limit else None
    return json_response({"items": [model_answer(model) for model in shown], "next_cursor": cursor})


@router.delete(
    "/{name:path}/learned",
    status_code=HTTPStatus.NO_CONTENT,
    responses=refuses(InvalidRequest),
)
async def forget(service: Service, name: ModelPath) -> Response:
    """Forget the limits that providers were seen to have for a model."""
    await forget_learned(service, name)
    return Response(None, HTTPStatus.NO_CONTENT)


@router.get("/{name:path}", response_model=ModelOut, responses=refuses(InvalidRequest))
async def read(service: Service, name: ModelPath) -> Response:
    """What a name means. An unknown one is answered too, with state `unknown`."""
    return json_response(model_answer(await get_model(service, name)))


@router.put(
    "/{name:path}",
    response_model=PutModelOut,
    responses=refuses_body(InvalidModelProfile),
    openapi_extra=reads(
        OperatorProfileIn,
        {"context_window": 128_000, "max_output_tokens": 16_000, "encoding": "o200k_base"},
    ),
)
async def put(service: Service, name: ModelPath, body: JsonBody) -> Response:
    """Put a profile in front of the catalogue's, whole. Sessions that are there keep theirs."""
    given = validated(OperatorProfileIn, body.value)
    model = await put_model(service, name, given.profile(name))
    return json_response({**model_answer(model), "repairs": body_repairs(body, [])})


@router.delete("/{name:path}", status_code=HTTPStatus.NO_CONTENT, responses=refuses(InvalidRequest))
async def delete(service: Service, name: ModelPath) -> Response:
    """Take an operator's profile away, if there is one: the catalogue's counts again."""
    await delete_model(service, name)
    return Response(None, HTTPStatus.NO_CONTENT)


def _place(cursor: str) -> str:
    match decode_cursor(_LIST, cursor):
        case [str() as name] if is_model_name(name):
            return name
    raise InvalidCursor("the cursor was not made by this list", cursor=cursor[:100])
