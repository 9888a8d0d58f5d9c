/** The image, assembled without an engine and built by buildah: the same files twice, and no more than is needed. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assemble, LAYERS } from '../../scripts/image/assemble.ts';
import { COMMAND, ENTRYPOINT, ENVIRONMENT, USER, WORKING_DIRECTORY } from '../../scripts/image/image-config.ts';
import { writeOciImage } from '../../scripts/image/oci-image.ts';
import type { Architecture } from '../../scripts/image/pins.ts';
import { Buildah } from './harness/buildah.ts';
import { machineOf, neededLibraries } from './harness/elf.ts';
import { imageRoot, OWN_ARCHITECTURE } from './harness/image-root.ts';
import { treeOf } from './harness/tree.ts';

/** Compressed, as a node pulls it. */
const MOST_BYTES = 110e6;

describe('the image', { timeout: 1_200_000 }, () => {
  let folder: string;
  let root: string;

  const oci = async (name: string, architecture: Architecture) => {
    const output = join(folder, name);
    await assemble(output, architecture);
    const layers = LAYERS.map((layer) => join(output, layer));
    return writeOciImage(join(output, 'oci'), layers, architecture);
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spindrift-image-test-'));
    root = await imageRoot(join(folder, 'own'));
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has no tests, no shell and no development packages', () => {
    const files = treeOf(root).map((line) => line.split(' ')[0] ?? '');
    expect(files.filter((file) => /\.test\.ts$|\.conformance\.ts$|\/app\/src\/.*testkit/.test(file))).toEqual([]);
    expect(files.filter((file) => /\/(ba|da|)sh$|apt|dpkg$/.test(file) && !file.includes('/app/'))).toEqual([]);
    for (const name of ['vitest', 'typescript', '@biomejs', 'fast-check', 'highs', 'node'])
      expect(existsSync(join(root, 'app/node_modules', name)), name).toBe(false);
  });

  it('says what is in it: a bill of materials with every package, and the licences', () => {
    const documents = join(root, 'usr/share/doc/spindrift');
    const bom = JSON.parse(readFileSync(join(documents, 'sbom.cdx.json'), 'utf8')) as {
      bomFormat: string;
      components: { name: string; version: string; purl?: string }[];
    };
    const names = bom.components.map(({ name }) => name);
    expect(bom.bomFormat).toBe('CycloneDX');
    expect(names).toEqual(expect.arrayContaining(['undici', 'pino', '@aws-sdk/client-ec2', 'node', 'libc6']));
    expect(names).not.toContain('vitest');
    const licences = readFileSync(join(documents, 'THIRD-PARTY-LICENCES'), 'utf8');
    for (const name of ['undici', 'pino', '@kubernetes/client-node']) expect(licences).toContain(`\n${name} `);
    expect(existsSync(join(root, 'usr/share/doc/libc6/copyright'))).toBe(true);
  });

  it.each([
    ['amd64', 'x86-64'],
    ['arm64', 'aarch64'],
  ] as const)('is the same image twice, within its size: %s', async (architecture, machine) => {
    const [first, second] = [await oci('first', architecture), await oci('second', architecture)];
    expect(second.digest).toBe(first.digest);
    expect(first.bytes).toBeLessThan(MOST_BYTES);
    process.stderr.write(`image: ${architecture} ${(first.bytes / 1e6).toFixed(1)} MB compressed, ${first.digest}\n`);
    const node = join(folder, 'first/system/usr/local/bin/node');
    expect(machineOf(node)).toBe(machine);
    const system = treeOf(join(folder, 'first/system')).map((line) => line.split(' ')[0]?.split('/').at(-1));
    for (const library of neededLibraries(node)) expect(system).toContain(library);
  });

  it('is the same when buildah builds the Dockerfile, twice, and as the script assembles it', async () => {
    const buildah = new Buildah(join(folder, 'storage'));
    await buildah.prepare();
    const [first, second] = [buildah.build('localhost/spindrift:1'), buildah.build('localhost/spindrift:2')];
    expect(second).toBe(first);
    process.stderr.write(`image: buildah ${OWN_ARCHITECTURE} ${first}\n`);
    expect(buildah.mounted('localhost/spindrift:1', treeOf)).toEqual(treeOf(root));
    expect(buildah.config('localhost/spindrift:1')).toMatchObject({
      ...{ User: USER, Entrypoint: ENTRYPOINT, Cmd: COMMAND, WorkingDir: WORKING_DIRECTORY },
      Env: expect.arrayContaining(Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`)),
    });
  });
});
