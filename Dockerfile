# The server and the page, from the wheel of this folder: docker build -t chatmemory .
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /dist

FROM python:3.13-slim
COPY --from=build /dist /dist
RUN pip install --no-cache-dir "$(ls /dist/*.whl)[server,postgres,mcp]" && rm -r /dist \
    && useradd --create-home --uid 1000 chatmemory && install --directory --owner chatmemory /data
USER chatmemory
WORKDIR /data
VOLUME /data
EXPOSE 8642
# An address that other machines reach needs a token: CHATMEMORY_SERVER_TOKEN, or tokens in the configuration.
ENTRYPOINT ["chatmemory"]
CMD ["serve", "--host", "0.0.0.0", "--store", "/data/chatmemory.db"]
