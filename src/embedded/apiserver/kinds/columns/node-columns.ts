import type { Node } from '../../../../apis/kubernetes/node.ts';
import { AGE, type Column, column, wideColumn } from './column.ts';

const ROLE = 'node-role.kubernetes.io/';

export const NODE_COLUMNS: readonly Column[] = [
  column<Node>('Status', (node) => {
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
    return node.spec?.unschedulable === true ? `${state},SchedulingDisabled` : state;
  }),
  column<Node>('Roles', (node) => rolesOf(node)),
  AGE,
  column<Node>('Version', (node) => node.status?.nodeInfo?.kubeletVersion ?? ''),
  wideColumn<Node>('Internal-IP', (node) => addressOf(node, 'InternalIP')),
  wideColumn<Node>('External-IP', (node) => addressOf(node, 'ExternalIP')),
  wideColumn<Node>('OS-Image', (node) => node.status?.nodeInfo?.osImage || '<unknown>'),
  wideColumn<Node>('Kernel-Version', (node) => node.status?.nodeInfo?.kernelVersion || '<unknown>'),
  wideColumn<Node>('Container-Runtime', (node) => node.status?.nodeInfo?.containerRuntimeVersion || '<unknown>'),
];

function rolesOf(node: Node): string | undefined {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE)) return [key.slice(ROLE.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? undefined : [...new Set(roles)].sort().join(',');
}

function addressOf(node: Node, type: string): string | undefined {
  return node.status?.addresses?.find((address) => address.type === type)?.address;
}
