"""The HTTP application: routers, problems and OpenAPI put together."""

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Lifespan

from app.api import (
    compactions,
    context,
    encoding,
    events,
    history,
    imports,
    index,
    linting,
    messages,
    models,
    prepare,
    problems,
    sessions,
    stateless,
    stateless_compaction,
    turns,
    usage,
    world_state,
)
from app.api.openapi_docs import REQUEST_MODELS
from app.api.problem_model import Problem
from app.api.validation import refuse_invalid
from app.version import VERSION

_DESCRIPTION = (
    "Prepares the next model call of an agent session: the exact request, its budget, "
    "its limits and whether to send it or to compact first."
)
_ROUTED = (
    index,
    sessions,
    turns,
    messages,
    history,
    world_state,
    prepare,
    compactions,
    usage,
    context,
    events,
    models,
    stateless,
    stateless_compaction,
    encoding,
    imports,
    linting,
)
_REF_TEMPLATE = "#/components/schemas/{model}"


def build_application(lifespan: Lifespan[FastAPI]) -> FastAPI:
    """The application; its lifespan puts the resources into `app.state`."""
    app = FastAPI(
        title="Foreword",
        version=VERSION,
        description=_DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: f"{route.tags[0]}.{route.name}".replace(" ", "_"),
    )
    problems.install(app)
    app.add_exception_handler(RequestValidationError, _invalid_query)
    for module in _ROUTED:
        app.include_router(module.router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


async def _invalid_query(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return await problems.refused(request, refuse_invalid(error.errors()))


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        components = schema["components"]["schemas"]
        models = [(model, "validation") for model in (*REQUEST_MODELS, Problem)]
        _, given = models_json_schema(models, ref_template=_REF_TEMPLATE)  # type: ignore[arg-type]
        components.update(given["$defs"])
        for unused in ("HTTPValidationError", "ValidationError"):
            components.pop(unused, None)
        schema["components"]["schemas"] = dict(sorted(components.items()))
        app.openapi_schema = _without_validation_errors(schema)
    return app.openapi_schema


def _without_validation_errors(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the framework's own refusal, which no route ever gives."""
    for path in schema["paths"].values():
        for operation in path.values():
            content = operation["responses"].get("422", {}).get("content", {})
            if "application/json" in content:
                del operation["responses"]["422"]
    return schema
