/** Builds the Dockerfile by buildah without any registry: its builder is a Debian root that is made here once per machine. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fetchNode } from '../../../scripts/image/fetch-pinned.ts';
import { readPins } from '../../../scripts/image/pins.ts';
import { buildOnce, type Peer } from '../../aws/peers/build-once.ts';
import { OWN_ARCHITECTURE } from './image-root.ts';

const SOURCE = dirname(dirname(dirname(import.meta.dirname)));
const BUILDER = 'localhost/spindrift-builder';

/** Debian with Node and npm, as `node:24-bookworm-slim` is. */
const BUILDER_ROOT: Peer = {
  name: 'image-builder-root-1',
  async build(directory, run) {
    const root = join(directory, 'root');
    await run('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', root]);
    const node = await fetchNode(readPins().node, OWN_ARCHITECTURE);
    const unpacked = join(directory, 'node');
    mkdirSync(unpacked);
    await run('tar', ['--extract', '--gzip', '--file', node, '--directory', unpacked]);
    cpSync(join(unpacked, 'package/bin/node'), join(root, 'usr/local/bin/node'));
    rmSync(unpacked, { recursive: true });
    const npm = (await run('npm', ['root', '--global'])).trim();
    cpSync(join(npm, 'npm'), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  },
};

export class Buildah {
  readonly #storage: string;

  /** `folder` is for its storage. */
  constructor(folder: string) {
    this.#storage = folder;
  }

  /** Makes the builder image. */
  async prepare(): Promise<void> {
    const root = join(await buildOnce(BUILDER_ROOT), 'root');
    const container = this.#run('from', 'scratch').trim();
    this.#run('add', '--quiet', container, root, '/');
    this.#run('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', container);
    this.#run('commit', '--quiet', '--rm', container, BUILDER);
  }

  /** Builds the Dockerfile and gives the digest of the image. */
  build(tag: string, platform = `linux/${OWN_ARCHITECTURE}`): string {
    const cache = join(homedir(), '.cache', 'spindrift', 'image');
    const npmrc = join(homedir(), '.npmrc');
    this.#run(
      ...['bud', '--quiet', '--isolation=chroot', '--network=host', '--timestamp=0', '--no-cache', '--pull-never'],
      `--build-arg=BUILDER=${BUILDER}`,
      `--platform=${platform}`,
      // What was downloaded before is not downloaded again, and npm is configured as on this machine.
      `--volume=${cache}:/root/.cache/spindrift/image:rw`,
      `--volume=${npmrc}:/root/.npmrc:ro`,
      `--tag=${tag}`,
      SOURCE,
    );
    return this.#run('inspect', '--type=image', '--format={{.FromImageDigest}}', tag).trim();
  }

  /** Gives the folder with the files of an image to `use`. */
  mounted<T>(tag: string, use: (root: string) => T): T {
    const container = this.#run('from', '--pull-never', tag).trim();
    try {
      return use(this.#run('mount', container).trim());
    } finally {
      this.#run('rm', container);
    }
  }

  /** The configuration of an image as engines read it. */
  config(tag: string): Readonly<Record<string, unknown>> {
    const printed = this.#run('inspect', '--type=image', '--format={{json .OCIv1.Config}}', tag);
    return JSON.parse(printed) as Record<string, unknown>;
  }

  #run(...args: string[]): string {
    const own = [
      '--storage-driver=vfs',
      '--root',
      join(this.#storage, 'root'),
      '--runroot',
      join(this.#storage, 'run'),
    ];
    return execFileSync('buildah', [...own, ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
