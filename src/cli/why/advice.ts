/** What came closest to a place for a pod, and what to change, in words. */
import type { NearestMiss } from '../../engine/solution.ts';
import { amountText } from './amounts.ts';

/** `m5.large (spot, sim-1a)`. */
export function nearestText({ instanceType, capacityType, zone }: NearestMiss): string {
  return `${instanceType} (${capacityType}, ${zone})`;
}

/** What the nearest offering lacks: goes on from its name. */
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
      return change.what === 'no-slots' ? 'has no free slot in its reservation' : 'is out of the market for now';
    case 'min-values':
      return `leaves too few values of ${change.key} open: the pool asks for ${change.wanted}`;
    case 'topology':
      return `would break the ${change.rule} over ${change.topologyKey}`;
    case 'nothing-to-buy':
      return 'meets no alternative of the pod’s conditions';
  }
}

/** What to do about it, as an order. */
export function adviceText({ change, pool }: NearestMiss): string {
  switch (change.kind) {
    case 'label':
      return `let the pod accept another ${change.key}, or let pool ${pool} offer one the pod wants`;
    case 'taint':
      return `give the pod a toleration for ${taintText(change)}, or take the taint from pool ${pool}`;
    case 'resource':
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
      return change.rule === 'affinity'
        ? 'start a pod that matches the affinity first, or loosen it'
        : `loosen the ${change.rule} of the pod, or let pool ${pool} reach more domains of ${change.topologyKey}`;
    case 'nothing-to-buy':
      return `loosen the node affinity of the pod, or widen the requirements of pool ${pool}`;
  }
}

/** `In a, b` as people say it; comparisons are left as they are. */
function wantedText(wanted: string): string {
  const [, operator, values = ''] = /^(\w+) ?(.*)$/.exec(wanted) ?? [];
  if (operator === 'In') return values.replaceAll(', ', ' or ');
  if (operator === 'NotIn') return `anything but ${values.replaceAll(', ', ' and ')}`;
  if (operator === 'Exists') return 'any value';
  return operator === 'DoesNotExist' ? 'none' : wanted;
}

function taintText({ key, value, effect }: { key: string; value: string; effect: string }): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}
