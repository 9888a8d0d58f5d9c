/**
 * The programs that build and run images, from the machine's distribution. `npm run peers:containers` installs missing ones with apt, which
 * needs root and Debian. Without them, the ring `image` is skipped and says why.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { findHelm } from './helm.ts';

/** To build images, to run containers, and to create the Debian root that images are built in. */
const PACKAGES = ['buildah', 'runc', 'mmdebstrap'];

export function missingContainerTools(): readonly string[] {
  return PACKAGES.filter((program) => spawnSync(program, ['--version']).status !== 0);
}

/** Why images cannot be built and run on this machine; undefined if they can. */
export function whyContainersUnavailable(): string | undefined {
  if (process.platform !== 'linux') return 'containers run on Linux only';
  if (process.getuid?.() !== 0) return 'runc needs root here: namespaces, mounts and cgroups of its own';
  const missing = missingContainerTools();
  if (missing.length > 0) return `${missing.join(' and ')} not found: npm run peers:containers`;
  return findHelm() === undefined ? 'Helm is not built: npm run peers:helm' : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = missingContainerTools();
  if (missing.length === 0) process.exit(0);
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    process.stderr.write(`peers: ${missing.join(' and ')} missing, and only root on Debian can install them here\n`);
    process.exit(0);
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'], env: environment };
  execFileSync('apt-get', ['update', '-qq'], quiet);
  execFileSync('apt-get', ['install', '-qq', '--yes', '--no-install-recommends', ...missing], quiet);
}
