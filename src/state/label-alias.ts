/** Deprecated labels that manifests still use, and their current names (KEP-1659 and Kubernetes' label history). */
const TODAY: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** The current name of a label. */
export function labelToday(key: string): string {
  return TODAY[key] ?? key;
}
