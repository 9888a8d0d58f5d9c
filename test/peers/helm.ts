/** Helm, which checks and renders our chart; built once per machine by `npm run peers:helm`, in the cache of peers. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, isBuilt, type Peer, peerDirectory } from './build-once.ts';

const VERSION = '3.22.0';

export const HELM: Peer = {
  name: `helm-${VERSION}`,
  async build(directory, run) {
    const environment = { GOBIN: directory, GOTMPDIR: directory, GOFLAGS: '-trimpath' };
    const module = `helm.sh/helm/v3/cmd/helm@v${VERSION}`;
    await run('nice', ['-n', '10', 'go', 'install', '-ldflags=-s -w', module], { cwd: directory, environment });
  },
};

/** The program; undefined if it has not been built. */
export function findHelm(): string | undefined {
  return isBuilt(HELM) ? join(peerDirectory(HELM.name), 'helm') : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildOnce(HELM);
