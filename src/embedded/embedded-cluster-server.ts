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

/** A cluster, and how it is reached. */
export interface EmbeddedClusterServerOptions extends EmbeddedClusterOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Loopback when absent; an address that other machines reach is taken only with TLS. */
  readonly host?: string;
  /** Plain HTTP when false, for the loopback address only. */
  readonly tls?: boolean;
  /** Where the way to the cluster is written. */
  readonly kubeconfigPath: string;
  /** Machines that join at the start: so many alike, or these. */
  readonly nodes?: number | readonly SimulatedNode[];
  /** The token of the one user; one is made from the random source when absent. */
  readonly token?: string;
}

/** An embedded cluster that other programs can talk to. */
export interface RunningCluster {
  readonly cluster: EmbeddedCluster;
  readonly url: string;
  readonly port: number;
  readonly kubeconfigPath: string;
  /** Resolves when the cluster has stopped; rejects when one of its parts failed. */
  readonly stopped: Promise<void>;
  /** Ends every connection and every part, and takes the kubeconfig away. */
  stop(): Promise<void>;
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
/** Claims that name no class get a volume all the same, as on clusters that people know. */
const STORAGE_CLASS: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [DEFAULT_CLASS]: 'true' } },
  provisioner: 'spindrift.dev/simulated',
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
};
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

/** Starts a cluster and writes the kubeconfig that leads to it; nothing is left running when it fails. */
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
  // A process that ends without stopping the cluster takes the file away all the same.
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

/** A server on all addresses is reached from here by the loopback one. */
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
