import type { Webhook, WebhookRule } from '../../apis/kubernetes/admission.ts';

/** What the controller writes. */
const WRITTEN: readonly { readonly group: string; readonly resource: string }[] = [
  { group: '', resource: 'pods' },
  { group: '', resource: 'pods/binding' },
  { group: '', resource: 'pods/eviction' },
  { group: '', resource: 'nodes' },
  { group: 'karpenter.sh', resource: 'nodeclaims' },
  { group: 'karpenter.sh', resource: 'nodepools' },
  { group: 'coordination.k8s.io', resource: 'leases' },
];

/** The resources that the controller writes and this webhook judges. */
export function looksAtOurs({ rules = [] }: Webhook): string[] {
  return WRITTEN.filter((written) => rules.some((rule) => matches(rule, written))).map(({ resource }) => resource);
}

function matches(
  { apiGroups = [], resources = [] }: WebhookRule,
  { group, resource }: (typeof WRITTEN)[number],
): boolean {
  if (!apiGroups.includes('*') && !apiGroups.includes(group)) return false;
  const [kind = '', part] = resource.split('/');
  return resources.some((wanted) => {
    if (wanted === '*/*' || wanted === resource) return true;
    return part === undefined ? wanted === '*' : wanted === `${kind}/*` || wanted === `*/${part}`;
  });
}
