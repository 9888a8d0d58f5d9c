/** Label domains of clouds. A pool that requires labels of another cloud never gets a node. */

interface CloudDomain {
  readonly domain: string;
  /** Only labels whose name begins like this; all of the domain when absent. */
  readonly namePrefix?: string;
  readonly cloud: string;
}

const CLOUD_DOMAINS: readonly CloudDomain[] = [
  { domain: 'karpenter.k8s.aws', cloud: 'AWS' },
  { domain: 'karpenter.azure.com', cloud: 'Azure' },
  { domain: 'karpenter.k8s.gcp', cloud: 'Google Cloud' },
  { domain: 'karpenter-ibm.sh', cloud: 'IBM Cloud' },
  { domain: 'karpenter.k8s.alibabacloud', cloud: 'Alibaba Cloud' },
  { domain: 'karpenter.k8s.oracle', cloud: 'Oracle Cloud' },
  // Other labels of this group are not about instance types.
  { domain: 'spindrift.dev', namePrefix: 'instance-', cloud: 'the simulated cloud' },
];

/** The cloud that owns the label; undefined when no cloud does. */
export function cloudOfLabel(key: string): { readonly domain: string; readonly cloud: string } | undefined {
  const [domain = '', name = ''] = key.includes('/') ? key.split('/') : ['', key];
  return CLOUD_DOMAINS.find(
    (entry) =>
      (domain === entry.domain || domain.endsWith(`.${entry.domain}`)) && name.startsWith(entry.namePrefix ?? ''),
  );
}
