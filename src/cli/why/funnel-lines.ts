/** The funnel of a pod through the offerings of a pool, as lines. */
import type { Constraint, UnplacedReason } from '../../engine/solution.ts';

const WORDS: Readonly<Record<Constraint, string>> = {
  healthy: 'in the market now',
  'instance-type-of-pool': 'allowed by the pool',
  taints: 'with taints that the pod tolerates',
  requirements: 'with the labels that the pod wants',
  'volume-zone': 'where its volumes can be',
  resources: 'large enough',
  'host-ports': 'with its ports free',
  daemons: 'without a daemon that the pod must be apart from',
  'volume-attachments': 'that can attach its volumes',
  'reservation-slots': 'with a free slot',
  'min-values': 'within minValues',
  limits: 'within the limits of the pool',
  topology: 'that keep its spread and affinity',
};

/** A line for the start and one for each constraint that took something away. */
export function funnelLines({ offerings, funnel }: Pick<UnplacedReason, 'offerings' | 'funnel'>): string[] {
  const width = String(offerings).length;
  const lines = [`${offerings} offerings are sold`];
  let before = offerings;
  for (const { constraint, left } of funnel) {
    if (left < before) lines.push(`${String(left).padStart(width)} ${WORDS[constraint]}`);
    before = left;
  }
  return lines;
}
