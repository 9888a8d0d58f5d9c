/**
 * The real infrastructure provider of Cluster API for AWS (CAPA), built once with Go in the cache of peers, with its CRDs and webhook
 * manifest. A build takes about seven minutes of processor time, so no test run starts one.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, isBuilt, type Peer, peerDirectory } from '../../peers/build-once.ts';
import type { ClusterApiManager } from './cluster-api-binary.ts';

const MODULE = 'sigs.k8s.io/cluster-api-provider-aws/v2';
const VERSION = '2.13.0';

/** The labels that its kustomization sets on its definitions. */
export const AWS_CONTRACT = { 'cluster.x-k8s.io/v1beta1': 'v1beta1_v1beta2' };

export const CLUSTER_API_PROVIDER_AWS: Peer = {
  name: `cluster-api-provider-aws-${VERSION}`,
  async build(directory, run) {
    const download = await run('go', ['mod', 'download', '-json', `${MODULE}@v${VERSION}`], { cwd: directory });
    const source = (JSON.parse(download) as { Dir: string }).Dir;
    // Built in its own folder, so that exactly the versions of its go.sum are used.
    await run(
      'nice',
      ['-n', '10', 'go', 'build', '-trimpath', '-ldflags=-s -w', '-o', join(directory, 'manager'), '.'],
      { cwd: source, environment: { GOTMPDIR: directory } },
    );
    cpSync(join(source, 'config', 'crd', 'bases'), join(directory, 'crds'), { recursive: true });
    cpSync(join(source, 'config', 'webhook', 'manifests.yaml'), join(directory, 'webhooks.yaml'));
    await run('chmod', ['-R', 'u+w', directory]);
  },
};

/** The build; undefined if it does not exist. */
export function findClusterApiProviderAws(): ClusterApiManager | undefined {
  if (!isBuilt(CLUSTER_API_PROVIDER_AWS)) return undefined;
  const directory = peerDirectory(CLUSTER_API_PROVIDER_AWS.name);
  return {
    manager: join(directory, 'manager'),
    definitions: join(directory, 'crds'),
    webhooks: join(directory, 'webhooks.yaml'),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildOnce(CLUSTER_API_PROVIDER_AWS);
