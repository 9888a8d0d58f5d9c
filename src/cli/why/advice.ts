/** Describes the offering that came closest to fitting a pod, and what to change. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import { amountText } from '../../engine/explain/amounts.ts';
import { topologyAdvice, topologyWords } from '../../engine/explain/topology-words.ts';
import { wantedText } from '../../engine/explain/wanted-text.ts';
import type { NearestMiss, NeededChange } from '../../engine/solution.ts';

/** `m5.large (spot, sim-1a)`. */
export function nearestText({ instanceType, capacityType, zone }: NearestMiss): string {
  return `${instanceType} (${capacityType}, ${zone})`;
}

/** Says what the nearest offering lacks, as a continuation of its name. */
export function missText({ change }: NearestMiss): string {
  switch (change.kind) {
    case 'label':
      return `has ${change.actual === undefined ? `no ${change.key}` : `${change.key} ${change.actual}`}, the pod wants ${wantedText(change.wanted)}`;
    case 'taint':
      return `has the taint ${taintText(change)}, which the pod does not tolerate`;
    case 'resource':
      return `has ${amountText(change.resource, change.available)} ${change.resource} for pods, the pod asks for ${amountText(change.resource, change.requested)}`;
    case 'limit':
      return `would exceed the limit on ${change.resource} of pool ${change.pool} by ${amountText(change.resource, change.missing)}`;
    case 'offering':
      return change.what === 'no-slots' ? 'has no free slot in its reservation' : 'is unavailable for now';
    case 'min-values':
      return `leaves too few values of ${change.key} open: the pool asks for ${change.wanted}`;
    case 'topology':
      return `breaks a topology rule: ${topologyWords(change)}`;
    case 'daemon':
      return `gets a pod of DaemonSet ${change.daemon}, and the anti-affinity of ${change.avoidedBy === 'pod' ? 'the pod' : 'the DaemonSet'} over ${change.topologyKey} keeps the two apart`;
    case 'nothing-to-buy':
      return 'matches none of the pod’s node affinity terms';
  }
}

/** The remedy, as an imperative. */
export function adviceText({ change, pool }: NearestMiss): string {
  switch (change.kind) {
    case 'label':
      return labelAdvice(change, pool);
    case 'taint':
      return `give the pod a toleration for ${taintText(change)}, or remove the taint from pool ${pool}`;
    case 'resource':
      if (change.available <= 0) return `let pool ${pool} use instance types that have ${change.resource}`;
      return `lower the pod’s request of ${change.resource} to ${amountText(change.resource, change.available)} or less, or let pool ${pool} use larger instance types`;
    case 'limit':
      return `raise spec.limits.${change.resource} of pool ${change.pool} by ${amountText(change.resource, change.missing)} or more`;
    case 'offering':
      return change.what === 'no-slots'
        ? `allow spot or on-demand in pool ${pool}, or reserve more`
        : `wait, or let pool ${pool} use more instance types, zones or capacity types`;
    case 'min-values':
      return `lower minValues of ${change.key} in pool ${pool}, or widen its requirements`;
    case 'topology':
      return topologyAdvice(change, pool);
    case 'daemon':
      return `loosen the anti-affinity of ${change.avoidedBy === 'pod' ? 'the pod' : `DaemonSet ${change.daemon}`}, or give a pool a taint that the pod tolerates and DaemonSet ${change.daemon} does not`;
    case 'nothing-to-buy':
      return `loosen the node affinity of the pod, or widen the requirements of pool ${pool}`;
  }
}

function labelAdvice({ key, offered }: NeededChange & { kind: 'label' }, pool: string): string {
  if (key === LABEL_NODE_POOL) return `let the pod accept pool ${pool}, or create the NodePool that it wants`;
  if (offered.length === 0)
    return `give the nodes of pool ${pool} that label, under spec.template.metadata.labels, or remove ${key} from the node selector and affinity of the pod`;
  return `let the pod accept what pool ${pool} has of ${key} (${offered.join(', ')}), or widen the requirements of the pool`;
}

function taintText({ key, value, effect }: { key: string; value: string; effect: string }): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}
