/** An image as a folder in the OCI layout, which skopeo, podman and registries take: one tar per layer, and two JSON files. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { COMMAND, ENTRYPOINT, ENVIRONMENT, LABELS, USER, WORKING_DIRECTORY } from './image-config.ts';
import type { Architecture } from './pins.ts';

const MEDIA = 'application/vnd.oci.image';

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Writes the image of these layers, lowest first. The same layers give the same digest. */
export function writeOciImage(
  folder: string,
  layers: readonly string[],
  architecture: Architecture,
): { readonly digest: string; readonly bytes: number } {
  const blobs = join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const keep = (bytes: Buffer, mediaType: string): Blob => {
    const digest = sha256(bytes);
    writeFileSync(join(blobs, digest.slice('sha256:'.length)), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const packed = layers.map((layer) => {
    const tar = tarOf(layer);
    return { diff: sha256(tar), blob: keep(gzipSync(tar, { level: 6 }), `${MEDIA}.layer.v1.tar+gzip`) };
  });
  const config = {
    created: '1970-01-01T00:00:00Z',
    architecture,
    os: 'linux',
    config: {
      User: USER,
      Env: Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
      Entrypoint: ENTRYPOINT,
      Cmd: COMMAND,
      WorkingDir: WORKING_DIRECTORY,
      Labels: LABELS,
    },
    rootfs: { type: 'layers', diff_ids: packed.map(({ diff }) => diff) },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: keep(json(config), `${MEDIA}.config.v1+json`),
    layers: packed.map(({ blob }) => blob),
  };
  const kept = keep(json(manifest), `${MEDIA}.manifest.v1+json`);
  const named = {
    ...kept,
    annotations: { 'org.opencontainers.image.ref.name': 'latest' },
    platform: { architecture, os: 'linux' },
  };
  writeFileSync(join(folder, 'index.json'), json({ schemaVersion: 2, manifests: [named] }));
  writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  return { digest: kept.digest, bytes: packed.reduce((sum, { blob }) => sum + blob.size, 0) };
}

/** Names in order, owners and times as fixed numbers. */
function tarOf(folder: string): Buffer {
  const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--format=gnu'];
  return execFileSync('tar', ['--create', ...fixed, '--directory', folder, '.'], { maxBuffer: 1 << 30 });
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
