/** The real core manager of Cluster API, built once with Go in the cache of peers, with its CRDs and webhook manifest. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, isBuilt, type Peer, peerDirectory } from '../../peers/build-once.ts';

const GO_MODULE = join(import.meta.dirname, '..', 'cluster-api');

const CORE: Peer = {
  name: 'cluster-api-core-1.14.2',
  async build(directory, run) {
    const go = (...args: string[]): Promise<string> =>
      run('go', args, { cwd: GO_MODULE, environment: { GOTMPDIR: directory } });
    await go('build', '-trimpath', '-ldflags=-s -w', `-o=${join(directory, 'core')}`, 'sigs.k8s.io/cluster-api/core');
    const source = (await go('list', '-m', '-f={{.Dir}}', 'sigs.k8s.io/cluster-api')).trim();
    cpSync(join(source, 'core', 'config', 'crd', 'bases'), join(directory, 'crds'), { recursive: true });
    cpSync(join(source, 'core', 'config', 'webhook', 'manifests.yaml'), join(directory, 'webhooks.yaml'));
    await run('chmod', ['-R', 'u+w', directory]);
  },
};

/** A manager of Cluster API with its manifests. */
export interface ClusterApiManager {
  readonly manager: string;
  /** A folder of CustomResourceDefinitions, one per file. */
  readonly definitions: string;
  /** The webhook configurations, one file. */
  readonly webhooks: string;
}

/** The build; undefined if it does not exist. */
export function findClusterApiCore(): ClusterApiManager | undefined {
  return isBuilt(CORE) ? filesIn(peerDirectory(CORE.name)) : undefined;
}

/** Builds it if necessary, which takes minutes. */
export async function ensureClusterApiCore(): Promise<ClusterApiManager> {
  return filesIn(await buildOnce(CORE));
}

function filesIn(directory: string): ClusterApiManager {
  return {
    manager: join(directory, 'core'),
    definitions: join(directory, 'crds'),
    webhooks: join(directory, 'webhooks.yaml'),
  };
}
