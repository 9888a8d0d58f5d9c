/** Bottlerocket: settings in TOML. */
import { BootFailure, type BootSettings } from './boot-settings.ts';
import { taintOf } from './kubelet-flags.ts';

interface Settings {
  readonly settings?: {
    readonly kubernetes?: {
      readonly 'cluster-name'?: string;
      readonly 'api-server'?: string;
      readonly 'cluster-certificate'?: string;
      readonly 'cluster-dns-ip'?: string | readonly string[];
      readonly 'max-pods'?: number;
      readonly 'node-labels'?: Readonly<Record<string, string>>;
      readonly 'node-taints'?: Readonly<Record<string, readonly string[]>>;
      readonly 'kube-reserved'?: Readonly<Record<string, string>>;
      readonly 'system-reserved'?: Readonly<Record<string, string>>;
      readonly 'eviction-hard'?: Readonly<Record<string, string>>;
    };
    readonly 'bootstrap-commands'?: Readonly<Record<string, { readonly commands?: readonly (readonly string[])[] }>>;
  };
}

/** What a Bottlerocket machine makes of its settings, once its TOML has been parsed. */
export function readBottlerocketSettings(parsed: unknown): BootSettings {
  const { kubernetes, 'bootstrap-commands': commands = {} } = (parsed as Settings).settings ?? {};
  if (kubernetes === undefined) throw new BootFailure('the user data has no settings.kubernetes');
  const dns = kubernetes['cluster-dns-ip'];
  const taints = Object.entries(kubernetes['node-taints'] ?? {}).flatMap(([key, list]) =>
    list.map((taint) => {
      const [value = '', effect = ''] = taint.split(':');
      return taintOf(`${key}${value === '' ? '' : `=${value}`}:${effect}`);
    }),
  );
  return {
    clusterName: kubernetes['cluster-name'] ?? '',
    endpoint: kubernetes['api-server'] ?? '',
    certificateAuthority: kubernetes['cluster-certificate'] ?? '',
    labels: kubernetes['node-labels'] ?? {},
    taints,
    ...(kubernetes['max-pods'] === undefined ? {} : { maxPods: kubernetes['max-pods'] }),
    ...(dns === undefined ? {} : { clusterDns: [dns].flat() }),
    kubeReserved: kubernetes['kube-reserved'] ?? {},
    systemReserved: kubernetes['system-reserved'] ?? {},
    evictionHard: kubernetes['eviction-hard'] ?? {},
    usesInstanceStore: Object.values(commands).some((command) =>
      (command.commands ?? []).some((words) => words.includes('ephemeral-storage')),
    ),
  };
}
