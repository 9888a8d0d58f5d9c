/** Explains in one sentence why pods are unschedulable. */
import type { NearestMiss, NeededChange, UnplacedReason } from '../solution.ts';
import { amountText } from './amounts.ts';
import { topologyWords } from './topology-words.ts';
import { wantedText } from './wanted-text.ts';

const STEPS: Readonly<Record<string, string>> = {
  'instance-type-of-pool': 'are allowed by a pool',
  healthy: 'are available now',
  taints: 'have only taints that it tolerates',
  requirements: 'have the required labels',
  'volume-zone': 'are in a zone of its volumes',
  resources: 'are large enough',
  'host-ports': 'have its host ports free',
  daemons: 'have no DaemonSet that anti-affinity keeps it from',
  'volume-attachments': 'can attach its volumes',
  'reservation-slots': 'have a free reservation slot',
  'min-values': 'satisfy minValues',
  limits: 'are within the limits of their pool',
  topology: 'satisfy its topology spread and pod affinity',
};

/** One sentence: which constraints excluded the offerings, which offering came closest, and what it lacks. */
export function reasonSentence(reason: UnplacedReason): string {
  const parts: string[] = [];
  if (reason.nodes > 0) {
    const causes = Object.entries(reason.nodesRejectedBy).map(([cause, count]) => `${count} by ${cause}`);
    parts.push(`${plural(reason.nodes, 'existing node')} refused it (${causes.join(', ')})`);
  }
  if (reason.offerings === 0) parts.push('no pool has offerings');
  else parts.push(`of ${plural(reason.offerings, 'offering')} ${funnelWords(reason)}`);
  if (reason.nearest !== undefined) parts.push(nearestWords(reason.nearest));
  return parts.join('; ');
}

/** Only the constraints that excluded offerings. */
function funnelWords({ offerings, funnel }: UnplacedReason): string {
  let before = offerings;
  const words: string[] = [];
  for (const { constraint, left } of funnel) {
    if (left < before) words.push(`${left} ${STEPS[constraint]}`);
    before = left;
  }
  return words.length === 0
    ? 'each would fit alone, but not beside the pods that are placed already'
    : words.join(', of these ');
}

function nearestWords({ pool, instanceType, zone, capacityType, change }: NearestMiss): string {
  return `closest is ${instanceType} (${capacityType}, ${zone}) of pool ${pool}: ${changeWords(change)}`;
}

function changeWords(change: NeededChange): string {
  switch (change.kind) {
    case 'label':
      return `${change.key} would have to be ${wantedText(change.wanted)}, it is ${change.actual ?? 'absent'}`;
    case 'taint':
      return `the taint ${change.key}${change.value === '' ? '' : `=${change.value}`}:${change.effect} would have to be tolerated`;
    case 'resource':
      return `it has ${amountText(change.resource, change.available)} ${change.resource} for pods, ${amountText(change.resource, change.requested)} would be needed`;
    case 'limit':
      return `the limit on ${change.resource} of pool ${change.pool} would have to be ${amountText(change.resource, change.missing)} higher`;
    case 'offering':
      return change.what === 'no-slots' ? 'its reservation has no free slot' : 'it is unavailable for now';
    case 'min-values':
      return `too few values of ${change.key} are left for minValues ${change.wanted}`;
    case 'topology':
      return topologyWords(change);
    case 'daemon':
      return change.avoidedBy === 'pod'
        ? `its anti-affinity over ${change.topologyKey} keeps it from DaemonSet ${change.daemon}, which will run there`
        : `the anti-affinity over ${change.topologyKey} of DaemonSet ${change.daemon}, which will run there, keeps it away`;
    case 'nothing-to-buy':
      return 'it matches none of the node affinity terms of the pod';
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
