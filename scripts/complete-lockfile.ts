/**
 * Adds to package-lock.json the packages for other platforms that npm left out: `npm run lock` after every `npm install`.
 *
 * Tools with native parts list one optional package per platform. npm writes only those into the lockfile that it could
 * read when the lockfile was made, and `npm ci` then refuses the lockfile, on every platform, as incomplete.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const OS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const CPU = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
const added: string[] = [];

for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    // Only exact versions: a range is for npm to resolve.
    if (lock.packages[path] !== undefined || !/^\d+\.\d+\.\d+$/.test(version)) continue;
    lock.packages[path] = { version, ...(parent.dev && { dev: true }), optional: true, ...platform(name) };
    added.push(`${name}@${version}`);
  }
}

const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
console.log(added.length === 0 ? 'package-lock.json is complete' : `added ${added.join(', ')}`);

/** What the package is for, as its name says, so that npm does not fetch it elsewhere. */
function platform(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/);
  const os = OS.filter((candidate) => words.includes(candidate));
  const cpu = CPU.filter((candidate) => words.includes(candidate));
  if (os.length === 0 && cpu.length === 0) throw new Error(`${name} does not say what platform it is for`);
  return {
    ...(os.length > 0 && { os }),
    ...(cpu.length > 0 && { cpu }),
    ...(words.includes('musl') && { libc: ['musl'] }),
    ...(words.includes('gnu') && { libc: ['glibc'] }),
  };
}
