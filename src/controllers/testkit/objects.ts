/** Claims, nodes, pods and instances for the tests of decisions: small, valid, with overrides. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Condition, ObjectMeta } from '../../apis/kubernetes/object.ts';
import type { Machine } from '../../cloud/machine.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { aPod, later, T0 } from '../../state/testkit/a-pod.ts';

export { aPod, later, T0 };

export function aCondition(type: string, status: Condition['status'] = 'True', at = T0): Condition {
  return { type, status, reason: type, message: '', observedGeneration: 1, lastTransitionTime: toTimestamp(at) };
}

export function aNodeClaim(
  parts: {
    name?: string;
    metadata?: Partial<ObjectMeta>;
    spec?: Partial<NodeClaim['spec']>;
    status?: NodeClaim['status'];
  } = {},
): NodeClaim {
  const { name = 'claim', metadata, spec, status } = parts;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, uid: `uid-${name}`, generation: 1, creationTimestamp: toTimestamp(T0), ...metadata },
    spec: {
      requirements: [],
      nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
      expireAfter: '720h',
      ...spec,
    },
    ...(status && { status }),
  };
}

export function aNode(
  parts: { name?: string; metadata?: Partial<ObjectMeta>; spec?: Node['spec']; status?: Node['status'] } = {},
): Node {
  const { name = 'node', metadata, spec, status } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, ...metadata },
    spec: { providerID: `simulated:///${name}`, ...spec },
    status: { conditions: [aCondition('Ready')], allocatable: { cpu: '4', memory: '16Gi' }, ...status },
  };
}

export function aMachine(name: string, overrides: Partial<Machine> = {}): Machine {
  return {
    providerID: `simulated:///${name}`,
    state: 'running',
    instanceType: 'small',
    zone: 'zone-a',
    capacityType: 'spot',
    labels: {},
    capacity: {},
    allocatable: {},
    launchedAt: T0,
    claim: { name, uid: `uid-${name}` },
    pool: 'general',
    nodeClass: 'default',
    ...overrides,
  };
}
