/** Downloads of pinned files. A file is kept between builds, and is used only when it has the expected hash. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Architecture, DebianPackage, Pins } from './pins.ts';

/** The first mirror has the newest version only; the second has every version since its date. */
const MIRRORS = ['http://deb.debian.org/debian', 'http://snapshot.debian.org/archive/debian/20261101T000000Z'];
const NPM_CPU: Readonly<Record<Architecture, string>> = { amd64: 'x64', arm64: 'arm64' };

/** The npm package with the Node binary, as a tar file. npm downloads it, so that its own configuration applies. */
export function fetchNode({ version, integrity }: Pins['node'], architecture: Architecture): Promise<string> {
  const name = `node-linux-${NPM_CPU[architecture]}`;
  const file = `${name}-${version}.tgz`;
  return kept(file, integrity[architecture], async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spindrift-image-'));
    try {
      const args = ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`];
      execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
      return readFileSync(join(folder, file));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** The `.deb` file of a Debian package. */
export function fetchDebian(pinned: DebianPackage, architecture: Architecture): Promise<string> {
  const file = `${pinned.name}_${pinned.version}_${architecture}.deb`;
  const integrity = `sha256-${Buffer.from(pinned.sha256[architecture], 'hex').toString('base64')}`;
  return kept(file, integrity, async () => {
    const problems: string[] = [];
    for (const mirror of MIRRORS) {
      const url = `${mirror}/${pinned.path}/${encodeURIComponent(file)}`;
      const response = await fetch(url).catch((error: unknown) => ({ ok: false as const, status: String(error) }));
      if (response.ok) return Buffer.from(await response.arrayBuffer());
      problems.push(`${url}: ${response.status}`);
    }
    throw new Error(`no mirror has ${file} (${problems.join(', ')}): name a newer version in scripts/image/pins.json`);
  });
}

/** The path of a file with this hash, downloaded first if need be. */
async function kept(file: string, integrity: string, download: () => Promise<Buffer>): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'spindrift', 'image');
  const path = join(folder, file);
  if (existsSync(path) && integrityOf(readFileSync(path), integrity) === integrity) return path;
  mkdirSync(folder, { recursive: true });
  const bytes = await download();
  const found = integrityOf(bytes, integrity);
  if (found !== integrity)
    throw new Error(`${file} has the hash ${found}, but scripts/image/pins.json says ${integrity}`);
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, bytes);
  renameSync(unfinished, path);
  return path;
}

function integrityOf(bytes: Buffer, like: string): string {
  const algorithm = like.slice(0, like.indexOf('-'));
  return `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;
}
