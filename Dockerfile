# The image of Spindrift, for amd64 and arm64: `docker buildx build --platform linux/amd64,linux/arm64 .`
# docs/image.md says how it is built without a container engine and without a registry.

# Any Debian with Node 24, npm and dpkg. It runs on the building machine's own architecture: nothing is compiled.
ARG BUILDER=docker.io/library/node:24-bookworm-slim
FROM --platform=$BUILDPLATFORM ${BUILDER} AS build
ARG TARGETARCH
WORKDIR /source
COPY . .
RUN node scripts/image/assemble.ts --arch "${TARGETARCH}" --output /image

# No shell and no package manager: Node, six libraries, our packages, our code.
FROM scratch
COPY --from=build /image/system /
COPY --from=build /image/modules /
COPY --from=build /image/app /
LABEL org.opencontainers.image.title="spindrift" org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV="production" PATH="/usr/local/bin" NODE_COMPILE_CACHE="/cache"
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=4", "--v8-pool-size=2", "/app/bin/spindrift.js"]
CMD ["run"]
