/** The label domains that clouds keep for themselves. A pool of one cloud that asks for labels of another never gets a node. */

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
  // The group has labels that are nobody's machine types too.
  { domain: 'spindrift.dev', namePrefix: 'instance-', cloud: 'the simulated cloud' },
];

/** The cloud whose own label this is; undefined when it is no cloud's. */
export function cloudOfLabel(key: string): { readonly domain: string; readonly cloud: string } | undefined {
  const [domain = '', name = ''] = key.includes('/') ? key.split('/') : ['', key];
  return CLOUD_DOMAINS.find(
    (entry) =>
      (domain === entry.domain || domain.endsWith(`.${entry.domain}`)) && name.startsWith(entry.namePrefix ?? ''),
  );
}
