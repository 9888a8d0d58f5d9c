/** How many offerings of a pool each constraint of a pod leaves, as lines. */
import type { Constraint, UnplacedReason } from '../../engine/solution.ts';

const WORDS: Readonly<Record<Constraint, string>> = {
  healthy: 'available now',
  'instance-type-of-pool': 'allowed by the pool',
  taints: 'with taints that the pod tolerates',
  requirements: 'with the labels that the pod wants',
  'volume-zone': 'in a zone of its volumes',
  resources: 'large enough',
  'host-ports': 'with its host ports free',
  daemons: 'without a DaemonSet that anti-affinity keeps the pod from',
  'volume-attachments': 'that can attach its volumes',
  'reservation-slots': 'with a free reservation slot',
  'min-values': 'within minValues',
  limits: 'within the limits of the pool',
  topology: 'that satisfy its topology spread and pod affinity',
};

/** A line for all offerings, and one for each constraint that removed some. */
export function funnelLines({ offerings, funnel }: Pick<UnplacedReason, 'offerings' | 'funnel'>): string[] {
  const width = String(offerings).length;
  const lines = [`${offerings} offerings`];
  let before = offerings;
  for (const { constraint, left } of funnel) {
    if (left < before) lines.push(`${String(left).padStart(width)} ${WORDS[constraint]}`);
    before = left;
  }
  return lines;
}
