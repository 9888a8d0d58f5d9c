/** The rules a plan is held to. */
export type Rule =
  /** Every pod is on one node or unplaced, and nowhere twice. */
  | 'each-pod-once'
  /** The order lists every placed pod once. */
  | 'order'
  /** Nodes, pools, types and offerings that the plan names exist, and may be used. */
  | 'unknown-node'
  | 'unknown-pool'
  | 'unknown-offering'
  | 'leaving-node'
  | 'unhealthy-offering'
  | 'pool-instance-types'
  | 'capacity-type-policy'
  /** Node by node, as kube-scheduler filters. */
  | 'resources'
  | 'taints'
  | 'requirements'
  | 'pool-requirements'
  | 'volume-zone'
  | 'volume-attachments'
  | 'host-ports'
  /** Over the nodes of a pool or reservation. */
  | 'min-values'
  | 'limits'
  | 'slots'
  /** Step by step in the plan's order. */
  | 'topology-spread'
  | 'pod-affinity'
  | 'pod-anti-affinity'
  /** What the plan says about itself. */
  | 'empty-node'
  | 'price'
  | 'requests'
  | 'lower-bound'
  | 'alternatives'
  /** What must not be left undone. */
  | 'unplaced-without-cause'
  | 'pool-weight'
  | 'priority'
  | 'ordered-alternatives'
  /** Consolidation: what may be touched, how often, where its pods go, and what it brings. */
  | 'untouchable'
  | 'disruption-budget'
  | 'pool-budget'
  | 'landings'
  | 'savings'
  | 'spot-diversity'
  | 'kept';

/** One way in which a plan breaks a rule. */
export interface Violation {
  readonly rule: Rule;
  /** What breaks it: a node, pod, pool or the plan. */
  readonly subject: string;
  readonly detail: string;
}

/** Where violations are written down. */
export type Report = (rule: Rule, subject: string, detail: string) => void;
