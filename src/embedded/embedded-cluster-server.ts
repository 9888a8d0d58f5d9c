import { STORAGE_CLASSES, type StorageClass } from '../apis/kubernetes/volumes.ts';
import { CertificateAuthority } from '../platform/certificates.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import { type ListeningServer, listen } from './apiserver/http/http-server.ts';
import { DEFAULT_CLASS } from './apiserver/kinds/rules/stored-rules.ts';
import { EmbeddedCluster, type EmbeddedClusterOptions } from './cluster.ts';
import {
  checkKubeconfigPath,
  checkKubeconfigUnused,
  removeKubeconfig,
  removeKubeconfigNow,
  writeKubeconfig,
} from './kubeconfig.ts';
import type { SimulatedNode } from './kubelet/node-report.ts';

/** An embedded cluster, and how it is reached. */
export interface EmbeddedClusterServerOptions extends EmbeddedClusterOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Loopback by default. An address that other machines can reach requires TLS. */
  readonly host?: string;
  /** False serves plain HTTP, on the loopback address only. */
  readonly tls?: boolean;
  /** Where the kubeconfig is written. */
  readonly kubeconfigPath: string;
  /** Nodes that join at the start: a number of identical ones, or a list. */
  readonly nodes?: number | readonly SimulatedNode[];
  /** The token of the only user; generated from the random source if absent. */
  readonly token?: string;
}

/** An embedded cluster that other programs can use. */
export interface RunningCluster {
  readonly cluster: EmbeddedCluster;
  readonly url: string;
  readonly port: number;
  readonly kubeconfigPath: string;
  /** Resolves when the cluster has stopped; rejects if one of its parts failed. */
  readonly stopped: Promise<void>;
  /** Closes all connections, stops all parts, and removes the kubeconfig. */
  stop(): Promise<void>;
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
/** The default class, so that claims without a class get a volume, as on most clusters. */
const STORAGE_CLASS: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [DEFAULT_CLASS]: 'true' } },
  provisioner: 'spindrift.dev/simulated',
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
};
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

/** Starts a cluster and writes its kubeconfig. Leaves nothing running if it fails. */
export async function startEmbeddedCluster(options: EmbeddedClusterServerOptions): Promise<RunningCluster> {
  const { random, logger, kubeconfigPath, host = '127.0.0.1', tls = true, nodes = 3 } = options;
  if (!tls && !LOOPBACK.includes(host)) throw new SpindriftError('EMBEDDED_HOST_UNSAFE', { host });
  await checkKubeconfigPath(kubeconfigPath);
  await checkKubeconfigUnused(kubeconfigPath);
  const cluster = new EmbeddedCluster(options);
  const authority = tls ? await CertificateAuthority.create('spindrift-embedded') : undefined;
  const certificate = await authority?.issue({ commonName: 'kube-apiserver', hosts: hostsOf(host) });
  const token = options.token ?? random.split('token').uuid();
  const listening = await listen({
    server: cluster.server,
    host,
    port: options.port,
    token,
    ...(certificate === undefined ? {} : { certificate }),
    onError: (error) => logger?.error('request failed', { error }),
  });
  const url = urlFor(listening, host);
  const access = { url, token, ...(authority === undefined ? {} : { authority: authority.keyPair.certificate }) };
  const stopping = new AbortController();
  const stopped = cluster.run(stopping.signal);
  // Removes the file even if the process exits without stopping the cluster.
  const lastChance = (): void => removeKubeconfigNow(kubeconfigPath, access);
  process.once('exit', lastChance);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all([listening.close(), stopped, removeKubeconfig(kubeconfigPath, access)]);
    process.off('exit', lastChance);
  };
  try {
    await writeKubeconfig(kubeconfigPath, access);
    await cluster.synced(stopping.signal);
    await cluster.client.create(STORAGE_CLASSES, STORAGE_CLASS);
    const machines = typeof nodes === 'number' ? alikeNodes(nodes) : nodes;
    await Promise.all(machines.map((machine) => cluster.kubelets.join(machine)));
    return { cluster, url, port: listening.port, kubeconfigPath, stopped, stop };
  } catch (error) {
    await stop().catch((problem: unknown) => logger?.error('stopping failed', { error: asError(problem) }));
    throw error;
  }
}

function hostsOf(host: string): string[] {
  return [...new Set(['localhost', '127.0.0.1', '::1', 'kubernetes.default.svc', ...(isWildcard(host) ? [] : [host])])];
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** A server on all addresses is reached locally through the loopback address. */
function urlFor(listening: ListeningServer, host: string): string {
  return isWildcard(host) ? listening.url.replace(/\/\/.*:/, '//127.0.0.1:') : listening.url;
}

function alikeNodes(count: number): SimulatedNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    labels: {
      'topology.kubernetes.io/region': 'local',
      'topology.kubernetes.io/zone': ZONES[index % ZONES.length] as string,
    },
  }));
}
