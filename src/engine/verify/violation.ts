/** The rules that plans are checked against. */
export type Rule =
  /** Every pod is either on one node or unplaced. */
  | 'each-pod-once'
  /** The order lists every placed pod once. */
  | 'order'
  /** Nodes, pools, types and offerings of the plan exist and may be used. */
  | 'unknown-node'
  | 'unknown-pool'
  | 'unknown-offering'
  | 'leaving-node'
  | 'unhealthy-offering'
  | 'pool-instance-types'
  | 'capacity-type-policy'
  /** For each node, as kube-scheduler filters. */
  | 'resources'
  | 'taints'
  | 'requirements'
  | 'pool-requirements'
  | 'volume-zone'
  | 'volume-attachments'
  | 'host-ports'
  /** For all nodes of a pool or reservation. */
  | 'min-values'
  | 'limits'
  | 'slots'
  /** For each step in the plan's order. */
  | 'topology-spread'
  | 'pod-affinity'
  | 'pod-anti-affinity'
  /** The plan's statements about itself. */
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
  /** Consolidation: which nodes may be disrupted, the budgets, the placement of the pods, and the savings. */
  | 'untouchable'
  | 'disruption-budget'
  | 'pool-budget'
  | 'landings'
  | 'savings'
  | 'spot-diversity'
  | 'kept';

/** One violation of a rule. */
export interface Violation {
  readonly rule: Rule;
  /** The offender: a node, pod, pool or the plan. */
  readonly subject: string;
  readonly detail: string;
}

/** Receives violations. */
export type Report = (rule: Rule, subject: string, detail: string) => void;
