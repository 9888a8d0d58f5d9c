/** The programs of a control plane with their flags, as plain data. */
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import type { Credentials } from './credentials.ts';

const KWOK_CONFIGURATION = join(import.meta.dirname, 'kwok.yaml');
const AUDIT_POLICY = join(import.meta.dirname, 'audit-policy.yaml');
/** In the folder of the control plane. */
export const AUDIT_LOG = 'audit.log';

/** A port for each program; etcd needs a second one for peers, although it has none. */
export const PORT_NAMES = ['etcd', 'etcdPeers', 'apiServer', 'controllerManager', 'scheduler', 'kwok'] as const;
export type Ports = Readonly<Record<(typeof PORT_NAMES)[number], number>>;

/** How a program is started, and its readiness URL. */
export interface Component {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly readyUrl: string;
}

export type ComponentName = 'etcd' | 'apiServer' | 'controllerManager' | 'scheduler' | 'kwok';

/** Settings that differ between API servers. */
export interface ApiServerSettings {
  /** Mounts service account tokens in pods, as a real cluster does; needs the controller manager. */
  readonly serviceAccounts?: boolean;
  /** Further flags. */
  readonly arguments?: readonly string[];
}

export interface ComponentInputs {
  readonly binaries: Binaries;
  readonly credentials: Credentials;
  readonly ports: Ports;
  /** Where etcd keeps its data. */
  readonly dataDirectory: string;
  readonly apiServer?: ApiServerSettings;
}

/** Describes all programs of one control plane. */
export function components({
  binaries,
  credentials,
  ports,
  dataDirectory,
  apiServer = {},
}: ComponentInputs): Record<ComponentName, Component> {
  // Without TLS: it is reachable only from this machine, and holds no secrets.
  const etcdUrl = `http://127.0.0.1:${ports.etcd}`;
  const etcdPeerUrl = `http://127.0.0.1:${ports.etcdPeers}`;
  const serving = [
    '--bind-address=127.0.0.1',
    `--tls-cert-file=${credentials.serverCertificate}`,
    `--tls-private-key-file=${credentials.serverKey}`,
  ];
  const client = [
    `--kubeconfig=${credentials.kubeconfig}`,
    '--leader-elect=false',
    // With the defaults (20 and 50 per second), a thousand pods take most of a minute.
    '--kube-api-qps=2000',
    '--kube-api-burst=4000',
  ];
  return {
    etcd: {
      name: 'etcd',
      command: binaries.etcd,
      arguments: [
        '--name=default',
        `--data-dir=${join(dataDirectory, 'etcd')}`,
        // Data must survive a killed API server, but not a crash of the machine.
        '--unsafe-no-fsync',
        `--listen-client-urls=${etcdUrl}`,
        `--advertise-client-urls=${etcdUrl}`,
        `--listen-peer-urls=${etcdPeerUrl}`,
        `--initial-advertise-peer-urls=${etcdPeerUrl}`,
        `--initial-cluster=default=${etcdPeerUrl}`,
      ],
      readyUrl: `${etcdUrl}/readyz`,
    },
    apiServer: {
      name: 'kube-apiserver',
      command: binaries.apiServer,
      arguments: [
        ...serving,
        `--secure-port=${ports.apiServer}`,
        `--etcd-servers=${etcdUrl}`,
        `--client-ca-file=${credentials.authority}`,
        '--authorization-mode=RBAC',
        '--allow-privileged=true',
        '--service-cluster-ip-range=10.96.0.0/16',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${credentials.serviceAccountPublicKey}`,
        `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
        // Allows pods before, or without, the controller that creates the default service account.
        ...(apiServer.serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
        // Ends watches on shutdown; by default it waits a minute for clients to end them.
        '--shutdown-watch-termination-grace-period=2s',
        // A loopback address is not allowed as an endpoint of the service `kubernetes`, which nothing here needs.
        '--endpoint-reconciler-type=none',
        `--audit-policy-file=${AUDIT_POLICY}`,
        `--audit-log-path=${join(dataDirectory, AUDIT_LOG)}`,
        ...(apiServer.arguments ?? []),
      ],
      readyUrl: `https://127.0.0.1:${ports.apiServer}/readyz`,
    },
    controllerManager: {
      name: 'kube-controller-manager',
      command: binaries.controllerManager,
      arguments: [
        ...client,
        ...serving,
        `--secure-port=${ports.controllerManager}`,
        `--service-account-private-key-file=${credentials.serviceAccountKey}`,
        `--root-ca-file=${credentials.authority}`,
      ],
      readyUrl: `https://127.0.0.1:${ports.controllerManager}/healthz`,
    },
    scheduler: {
      name: 'kube-scheduler',
      command: binaries.scheduler,
      arguments: [...client, ...serving, `--secure-port=${ports.scheduler}`],
      readyUrl: `https://127.0.0.1:${ports.scheduler}/readyz`,
    },
    kwok: {
      name: 'kwok',
      command: binaries.kwok,
      arguments: [
        `--kubeconfig=${credentials.kubeconfig}`,
        ...[KWOK_CONFIGURATION, ...binaries.kwokStages].map((file) => `--config=${file}`),
        // Other nodes are not managed by kwok.
        '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
        // Without leases, the controller manager considers the nodes dead after its grace period.
        '--node-lease-duration-seconds=40',
        // Otherwise it logs a line for every renewed lease.
        '--v=WARN',
        `--server-address=127.0.0.1:${ports.kwok}`,
      ],
      readyUrl: `http://127.0.0.1:${ports.kwok}/readyz`,
    },
  };
}
