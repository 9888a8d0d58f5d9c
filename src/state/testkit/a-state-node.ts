import { NODE_CLAIM_SPEC, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod, PodSpec, ResourceList } from '../../apis/kubernetes/pod.ts';
import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { ANNOTATION_OFFERINGS, writeOfferings } from '../planned-offerings.ts';
import type { StateNode } from '../state-node.ts';

/** Overrides. */
export interface StateNodeParts {
  readonly name?: string;
  /** The offering it runs on. */
  readonly launched?: RankedOffering;
  /** The offerings it was planned with. */
  readonly plan?: readonly RankedOffering[];
  readonly allocatable?: ResourceList;
  readonly node?: Partial<Node['spec']>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** In addition to the planned offerings. */
  readonly claimAnnotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly pool?: string;
  readonly lastPodEventTime?: string;
}

/** The default offering of nodes in tests. */
export const SPOT: RankedOffering = { instanceType: 'm5.large', zone: 'sim-1a', capacityType: 'spot', price: 0.03 };
/** The same machine on demand. */
export const ON_DEMAND: RankedOffering = { ...SPOT, capacityType: 'on-demand', price: 0.1 };

/** A running node with its claim. */
export function aStateNode(parts: StateNodeParts = {}): StateNode & { node: Node; claim: NodeClaim } {
  const { name = 'general-x7k2p', launched = SPOT, plan = [SPOT, ON_DEMAND], annotations = {} } = parts;
  const allocatable = parts.allocatable ?? { cpu: '2', memory: '8Gi', pods: '29' };
  const providerID = `simulated:///sim-1/sim-1a/i-${name}`;
  const labels = {
    'kubernetes.io/hostname': name,
    'karpenter.sh/nodepool': parts.pool ?? 'general',
    'karpenter.sh/registered': 'true',
    'karpenter.sh/initialized': 'true',
    'karpenter.sh/capacity-type': launched.capacityType,
    'node.kubernetes.io/instance-type': launched.instanceType,
    'topology.kubernetes.io/zone': launched.zone,
    ...parts.labels,
  };
  const lastPodEvent = parts.lastPodEventTime === undefined ? {} : { lastPodEventTime: parts.lastPodEventTime };
  const creationTimestamp = '2030-01-01T00:00:00Z';
  return {
    name,
    node: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels, annotations, creationTimestamp },
      spec: { providerID, ...parts.node },
      status: { allocatable, capacity: allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
    },
    claim: {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: {
        name,
        uid: `uid-${name}`,
        labels,
        annotations: { [ANNOTATION_OFFERINGS]: writeOfferings(plan), ...parts.claimAnnotations },
        creationTimestamp,
      },
      spec: withDefaults(NODE_CLAIM_SPEC, {
        nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
        requirements: [],
        resources: { requests: { cpu: '1500m' } },
      }),
      status: {
        ...{ providerID, nodeName: name, allocatable, capacity: allocatable, ...lastPodEvent },
        conditions: [{ type: 'Initialized', status: 'True', lastTransitionTime: creationTimestamp }],
      },
    },
  };
}

/** A pod with these requests. */
export function aPodAsking(name: string, requests: ResourceList, spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'x', resources: { requests } }], ...spec },
  };
}
