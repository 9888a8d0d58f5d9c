/** The single rights that roles grant, and the requests made: which were denied, and which rights were never used. Pure. */
import type { Use } from '../kubernetes/harness/audit-log.ts';
import type { Rendered } from './rendered-chart.ts';

/** One verb on one resource. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Limited to objects of these names; empty for any. */
  readonly names: readonly string[];
  /** Limited to this namespace; empty for all. */
  readonly namespace: string;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly name: string; readonly namespace: string }[];
}

/** The rights that the roles of these objects grant to a service account. */
export function rightsOf(objects: readonly Rendered[], account: { name: string; namespace: string }): readonly Right[] {
  return objects.flatMap((object) => {
    if (object.kind !== 'ClusterRoleBinding' && object.kind !== 'RoleBinding') return [];
    const { roleRef, subjects = [] } = object as unknown as Binding;
    if (!subjects.some(({ name, namespace }) => name === account.name && namespace === account.namespace)) return [];
    const { namespace = '' } = object.metadata;
    const role = objects.find(
      ({ kind, metadata }) =>
        kind === roleRef.kind && metadata.name === roleRef.name && (metadata.namespace ?? '') === namespace,
    );
    return ((role?.rules ?? []) as readonly Rule[]).flatMap(
      ({ apiGroups, resources, verbs, resourceNames: names = [] }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb, names, namespace }))),
        ),
    );
  });
}

/** The right as text: `patch nodeclaims/status (karpenter.sh)`. */
export function rightText({ verb, resource, group, names, namespace }: Omit<Right, 'names'> & Partial<Right>): string {
  const which = (names ?? []).length === 0 ? '' : ` ${names?.join(', ')}`;
  return `${verb} ${resource}${which}${group === '' ? '' : ` (${group})`}${namespace === '' ? '' : ` in ${namespace}`}`;
}

/** Requests that were denied, without duplicates. Throws if there was no request at all, which would prove nothing. */
export function refusals(uses: readonly Use[]): readonly string[] {
  if (uses.length === 0) throw new Error('the account has made no request');
  const refused = uses.filter(({ code }) => code === 403);
  return [...new Set(refused.map((use) => rightText({ ...use, namespace: use.namespace })))];
}

/** Rights that no successful request used. */
export function unusedRights(rights: readonly Right[], uses: readonly Use[]): readonly string[] {
  const allowed = uses.filter(({ code }) => code !== 403);
  return rights.filter((right) => !allowed.some((use) => covers(right, use))).map(rightText);
}

function covers(right: Right, use: Use): boolean {
  return (
    right.verb === use.verb &&
    right.group === use.group &&
    (right.resource === use.resource || right.resource === '*') &&
    (right.namespace === '' || right.namespace === use.namespace) &&
    (right.names.length === 0 || use.name === '' || right.names.includes(use.name))
  );
}
