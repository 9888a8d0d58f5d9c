import type { PodGroup, Problem } from '../problem.ts';
import type { Market } from './market.ts';
import { HOSTNAME, newNode } from './planned-node.ts';
import type { Bought } from './purchase-rules.ts';
import { domainOf } from './tally.ts';
import type { TopologyReplay } from './topology-replay.ts';
import type { Report } from './violation.ts';

/** Checks that no alternative offering would move pods to another domain than the one they were counted in. */
export function checkDomainsOfAlternatives(
  problem: Problem,
  market: Market,
  { plan, node, pool }: Bought,
  pods: readonly PodGroup[],
  replay: TopologyReplay,
  report: Report,
): void {
  const keys = new Set([...new Set(pods)].flatMap((pod) => [...replay.keysOf(pod)]));
  keys.delete(HOSTNAME);
  if (keys.size === 0) return;
  for (const ranked of plan.offerings.slice(1)) {
    const found = market.find(ranked);
    if (found === undefined) continue;
    const other = newNode({ name: node.name, pool, ...found, narrowed: plan.requirements }, problem);
    for (const key of keys) {
      if (domainOf(other, key) !== domainOf(node, key)) {
        report('alternatives', node.name, `${ranked.instanceType} in ${ranked.zone} is in another ${key}`);
      }
    }
  }
}
