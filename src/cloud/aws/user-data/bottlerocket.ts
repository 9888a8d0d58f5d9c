/** User data for Bottlerocket: settings in TOML. Ours override the user's. */
import { parse, stringify, type TomlTable } from 'smol-toml';
import { asError, SpindriftError } from '../../../platform/errors.ts';
import { clusterDns, type JoinSettings } from './join-settings.ts';

const OLD_DIRECTORIES = ['/var/lib/containerd', '/var/lib/kubelet', '/var/log/pods'];

export function bottlerocket(settings: JoinSettings): string {
  const custom = parsed(settings.custom ?? '');
  const customSettings = table(custom.settings);
  const customKubernetes = table(customSettings.kubernetes);
  const written: TomlTable = {
    ...custom,
    settings: {
      ...customSettings,
      kubernetes: { ...customKubernetes, ...kubernetes(settings, table(customKubernetes['node-labels'])) },
      ...(settings.raid0
        ? { 'bootstrap-commands': { ...table(customSettings['bootstrap-commands']), ...mountDisks(settings) } }
        : {}),
    },
  };
  return stringify(written);
}

function kubernetes(settings: JoinSettings, customLabels: TomlTable): TomlTable {
  const { cluster, labels, taints, kubelet, maxPods } = settings;
  const [dns] = clusterDns(settings);
  const nodeTaints: Record<string, string[]> = {};
  for (const { key, value = '', effect } of taints)
    nodeTaints[key] = [...(nodeTaints[key] ?? []), `${value}:${effect}`];
  const text = (number: number | undefined): string | undefined => (number === undefined ? undefined : String(number));
  return withoutUndefined({
    'cluster-name': cluster.name,
    'api-server': cluster.endpoint,
    'cluster-certificate': cluster.caBundle,
    'cluster-dns-ip': dns,
    'max-pods': maxPods,
    'node-labels': { ...customLabels, ...labels },
    'node-taints': nodeTaints,
    'kube-reserved': kubelet.kubeReserved,
    'system-reserved': kubelet.systemReserved,
    'eviction-hard': kubelet.evictionHard,
    'eviction-soft': kubelet.evictionSoft,
    'eviction-soft-grace-period': kubelet.evictionSoftGracePeriod,
    'eviction-max-pod-grace-period': kubelet.evictionMaxPodGracePeriod,
    'image-gc-high-threshold-percent': text(kubelet.imageGCHighThresholdPercent),
    'image-gc-low-threshold-percent': text(kubelet.imageGCLowThresholdPercent),
    'cpu-cfs-quota-enforced': kubelet.cpuCFSQuota,
  });
}

/** Joins the local disks and moves growing directories there; images from 1.46.0 on know the directories themselves. */
function mountDisks({ imageVersion = 'latest' }: JoinSettings): TomlTable {
  const bind = ['apiclient', 'ephemeral-storage', 'bind'];
  return {
    '000-mount-instance-storage': {
      commands: [
        ['apiclient', 'ephemeral-storage', 'init'],
        knowsDirectories(imageVersion) ? bind : [...bind, '--dirs', ...OLD_DIRECTORIES],
      ],
      mode: 'always',
      essential: true,
    },
  };
}

function knowsDirectories(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined || Number(major) > 1 || Number(minor) >= 46;
}

function parsed(custom: string): TomlTable {
  try {
    return parse(custom);
  } catch (error) {
    const [problem = ''] = asError(error).message.split('\n');
    throw new SpindriftError('CLOUD_USER_DATA_INVALID', { problem: `it is not TOML: ${problem}` }, { cause: error });
  }
}

function table(value: unknown): TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as TomlTable) : {};
}

function withoutUndefined(values: Readonly<Record<string, unknown>>): TomlTable {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as TomlTable;
}
