# svc-server alone in an image: no shell, no package manager, nobody's root.
#
#     docker build -t svc-server .
#     docker run --rm -p 127.0.0.1:8787:8787 -v svc-data:/data svc-server
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npx -y bun@1.4.5 install --frozen-lockfile --ignore-scripts \
    && npx -y bun@1.4.5 run build --only svc-server \
    && sh scripts/image.sh dist/svc-server /image

FROM scratch
COPY --from=build /image /
# The name that browsers know the server by: set both for any other place than this machine (docs/self-hosting.md).
ENV SVC_BASE_URL=http://localhost:8787 \
    SVC_HOST=0.0.0.0 \
    SVC_DATA_DIR=/data \
    HOME=/data
USER 65532:65532
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/svc-server", "health"]
ENTRYPOINT ["/svc-server"]
