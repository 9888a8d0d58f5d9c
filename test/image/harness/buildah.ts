/** Builds the Dockerfile by buildah without any registry: its builder is a Debian root that is made here once per machine. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fetchNode } from '../../../scripts/image/fetch-pinned.ts';
import { readPins } from '../../../scripts/image/pins.ts';
import { buildOnce, type Peer } from '../../peers/build-once.ts';
import { OWN_ARCHITECTURE } from './image-root.ts';

const SOURCE = dirname(dirname(dirname(import.meta.dirname)));
const BUILDER = 'localhost/spindrift-builder';
/** As in the image `node:24-bookworm-slim`. */
const NPM = '11.19.1';

/** Whom this machine trusts: a proxy between it and the registry of npm may have an authority of its own. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const AUTHORITIES_INSIDE = '/etc/machine-authorities.crt';

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
    // Downloaded, not copied: Linux distributions cut their npm into parts, and `npm run` knows of no global one.
    await run('npm', ['pack', '--silent', '--pack-destination', directory, `npm@${NPM}`], { cwd: directory });
    const npm = join(root, 'usr/local/lib/node_modules/npm');
    mkdirSync(npm, { recursive: true });
    const file = join(directory, `npm-${NPM}.tgz`);
    await run('tar', ['--extract', '--gzip', '--file', file, '--directory', npm, '--strip-components=1']);
    rmSync(file);
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  },
};

/** The user's own, with the authorities of this machine. */
function npmConfiguration(): string {
  const own = join(homedir(), '.npmrc');
  const lines = existsSync(own) ? readFileSync(own, 'utf8') : '';
  return existsSync(AUTHORITIES) ? `${lines}\ncafile=${AUTHORITIES_INSIDE}\n` : lines;
}

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
    mkdirSync(cache, { recursive: true });
    const npmrc = join(this.#storage, 'npmrc');
    writeFileSync(npmrc, npmConfiguration());
    this.#run(
      ...['bud', '--quiet', '--isolation=chroot', '--network=host', '--timestamp=0', '--no-cache', '--pull-never'],
      `--build-arg=BUILDER=${BUILDER}`,
      `--platform=${platform}`,
      // What was downloaded before is not downloaded again, and npm is configured as on this machine.
      `--volume=${cache}:/root/.cache/spindrift/image:rw`,
      `--volume=${npmrc}:/root/.npmrc:ro`,
      ...(existsSync(AUTHORITIES) ? [`--volume=${AUTHORITIES}:${AUTHORITIES_INSIDE}:ro`] : []),
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
    const printed = JSON.parse(this.#run('inspect', '--type=image', tag)) as { OCIv1: { config: object } };
    return printed.OCIv1.config as Record<string, unknown>;
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
