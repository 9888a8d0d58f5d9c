/**
 * The Prometheus operator's CRDs, with which an API server validates our ServiceMonitor and PrometheusRule. `npm run
 * peers:prometheus-operator`.
 */
import { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, isBuilt, type Peer, peerDirectory } from './build-once.ts';

const MODULE = 'github.com/prometheus-operator/prometheus-operator';
const VERSION = '0.85.0';

export const PROMETHEUS_OPERATOR: Peer = {
  name: `prometheus-operator-definitions-${VERSION}`,
  async build(directory, run) {
    // Only downloads the module: nothing is compiled.
    writeFileSync(join(directory, 'go.mod'), 'module peer\n');
    const answer = await run('go', ['mod', 'download', '-json', `${MODULE}@v${VERSION}`], { cwd: directory });
    const { Dir } = JSON.parse(answer) as { Dir: string };
    const folder = join(Dir, 'example', 'prometheus-operator-crd');
    for (const file of readdirSync(folder).filter((name) => /_(?:servicemonitors|prometheusrules)\.yaml$/.test(name)))
      copyFileSync(join(folder, file), join(directory, file));
    rmSync(join(directory, 'go.mod'));
  },
};

/** The folder with the definitions; undefined if they have not been downloaded. */
export function findPrometheusDefinitions(): string | undefined {
  const folder = peerDirectory(PROMETHEUS_OPERATOR.name);
  return isBuilt(PROMETHEUS_OPERATOR) && existsSync(folder) ? folder : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildOnce(PROMETHEUS_OPERATOR);
