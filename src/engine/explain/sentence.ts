/** Says in words why pods have no place. */

import type { NearestMiss, NeededChange, UnplacedReason } from '../solution.ts';
import { amountText } from './amounts.ts';
import { topologyWords } from './topology-words.ts';
import { wantedText } from './wanted-text.ts';

const STEPS: Readonly<Record<string, string>> = {
  'instance-type-of-pool': 'are allowed by a pool',
  healthy: 'are healthy',
  taints: 'have taints that are tolerated',
  requirements: 'have the required labels',
  'volume-zone': 'are where its volumes can be',
  resources: 'are large enough',
  'host-ports': 'have its ports free',
  daemons: 'get no daemon that it must be apart from',
  'volume-attachments': 'can attach its volumes',
  'reservation-slots': 'have free slots',
  'min-values': 'leave enough values open',
  limits: 'are within the limits of their pool',
  topology: 'keep its topology rules',
};

/** One sentence for people: where the offerings were lost, what came closest, and what would have to change. */
export function reasonSentence(reason: UnplacedReason): string {
  const parts: string[] = [];
  if (reason.nodes > 0) {
    const causes = Object.entries(reason.nodesRejectedBy).map(([cause, count]) => `${count} by ${cause}`);
    parts.push(`${plural(reason.nodes, 'existing node')} refused it (${causes.join(', ')})`);
  }
  if (reason.offerings === 0) parts.push('nothing can be bought: no pool has offerings');
  else parts.push(`of ${plural(reason.offerings, 'offering')} ${funnelWords(reason)}`);
  if (reason.nearest !== undefined) parts.push(nearestWords(reason.nearest));
  return parts.join('; ');
}

/** Only the steps that took something away. */
function funnelWords({ offerings, funnel }: UnplacedReason): string {
  let before = offerings;
  const words: string[] = [];
  for (const { constraint, left } of funnel) {
    if (left < before) words.push(`${left} ${STEPS[constraint]}`);
    before = left;
  }
  return words.length === 0
    ? 'each would do alone, but not together with what is placed already'
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
      return change.what === 'no-slots' ? 'its reservation has no free slot' : 'it is out of the market for now';
    case 'min-values':
      return `too few values of ${change.key} are left, ${change.wanted} are wanted`;
    case 'topology':
      return topologyWords(change);
    case 'daemon':
      return change.avoidedBy === 'pod'
        ? `its anti-affinity over ${change.topologyKey} keeps it from daemon ${change.daemon}, which will run there`
        : `the anti-affinity over ${change.topologyKey} of daemon ${change.daemon}, which will run there, keeps it away`;
    case 'nothing-to-buy':
      return 'no alternative of its conditions is met';
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
