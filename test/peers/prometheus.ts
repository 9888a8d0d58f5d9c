/**
 * Prometheus and promtool as Debian packages them. `npm run peers:prometheus` downloads the package with apt and unpacks it in the cache of
 * peers. Nothing is installed, so no service starts and root is not needed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, isBuilt, type Peer, peerDirectory } from './build-once.ts';

export const PROMETHEUS: Peer = {
  name: 'prometheus-debian-1',
  async build(directory, run) {
    const download = (): Promise<string> => run('apt-get', ['download', '-qq', 'prometheus'], { cwd: directory });
    // A new machine has no package lists yet.
    await download().catch(() => run('apt-get', ['update', '-qq']).then(download));
    const [file = ''] = readdirSync(directory).filter((name) => name.endsWith('.deb'));
    const unpacked = join(directory, 'package');
    await run('dpkg-deb', ['--extract', join(directory, file), unpacked]);
    for (const program of ['prometheus', 'promtool'])
      renameSync(join(unpacked, 'usr/bin', program), join(directory, program));
    for (const path of [file, 'package']) rmSync(join(directory, path), { recursive: true });
  },
};

/** The path of one of its programs; undefined if the package has not been downloaded. */
export function findInPrometheus(program: 'prometheus' | 'promtool'): string | undefined {
  return isBuilt(PROMETHEUS) ? join(peerDirectory(PROMETHEUS.name), program) : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = ['apt-get', 'dpkg-deb'].filter((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing.length === 0) await buildOnce(PROMETHEUS);
  else process.stderr.write(`peers: no ${missing.join(' and ')} to download Prometheus with; its tests are skipped\n`);
}
