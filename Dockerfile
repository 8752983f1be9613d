# The image holds a virtual environment made from the hashed lock files, and nothing that built it.

FROM python:3.11-slim AS builder

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

COPY requirements-build.lock requirements.lock ./
RUN pip install --require-hashes -r requirements-build.lock \
    && python -m venv /opt/foreword \
    && /opt/foreword/bin/pip install --require-hashes -r requirements.lock

# The wheel carries app/ and, as app/migrations, alembic/.
COPY LICENSE README.md pyproject.toml ./
COPY alembic alembic
COPY app app
RUN hatchling build -t wheel \
    && /opt/foreword/bin/pip install --no-deps --no-index dist/*.whl


FROM python:3.11-slim

RUN useradd --uid 10001 --no-create-home --home-dir /data foreword \
    && install --directory --owner foreword --group foreword /data
COPY --from=builder /opt/foreword /opt/foreword

ENV PATH=/opt/foreword/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATABASE_URL=sqlite:////data/foreword.db
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000

# No proxy of the environment may answer for the service.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "from urllib.request import ProxyHandler, build_opener; build_opener(ProxyHandler({})).open('http://127.0.0.1:8000/readyz', timeout=2)"]

# A listening address other than loopback needs API keys, or FOREWORD_ALLOW_ANONYMOUS=true, which
# docker-compose.yml sets while it publishes the port on 127.0.0.1 only. The list form makes the
# service process 1, so that it receives SIGTERM itself.
CMD ["foreword", "serve", "--host", "0.0.0.0", "--port", "8000", "--migrate"]
