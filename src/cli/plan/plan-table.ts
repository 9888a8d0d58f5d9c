/** A plan for people. */
import { dollars } from '../money.ts';
import { textTable } from '../text-table.ts';
import { reasonLines } from '../why/pod-why-text.ts';
import type { PlannedNode, PlanReport, PodsWithoutPlace } from './plan-report.ts';

/** The whole plan as text. */
export function planTable(plan: PlanReport): string {
  const parts = [
    ...(plan.nodes.length === 0 ? ['Nothing would be launched.'] : [nodesTable(plan.nodes), totals(plan)]),
    ...plan.withoutPlace.map(withoutPlace),
    ...(plan.notes.length === 0 ? [] : [plan.notes.map((note) => `Note: ${note}.`).join('\n')]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Nodes that are alike, pods included, share a row. */
function nodesTable(nodes: readonly PlannedNode[]): string {
  const rows = Map.groupBy(nodes, (node) =>
    JSON.stringify([node.pool, node.instanceType, node.zone, node.capacityType, node.price, podNames(node.pods)]),
  );
  const cells = [...rows.values()].map((alike) => {
    const node = alike[0] as PlannedNode;
    const { pool, instanceType, zone, capacityType, price, pods } = node;
    return [
      String(alike.length),
      pool,
      instanceType,
      zone,
      capacityType,
      capacityType === 'reserved' ? 'paid' : dollars(price),
      podNames(pods),
    ];
  });
  return textTable(['NODES', 'POOL', 'TYPE', 'ZONE', 'CAPACITY', '$/HOUR', 'PODS ON EACH'], cells, [0, 5]);
}

/** `12 web, 1 db`: how many pods of each workload. */
function podNames(pods: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const name = pod.replace(/^default\//, '').replace(/-\d+$/, '');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}

function totals({ nodes, price, lowerBound, gap, podsPlaced }: PlanReport): string {
  const what = `${count(nodes.length, 'node')} for ${count(podsPlaced, 'pod')}`;
  const cost = `${dollars(price.perHour)} an hour, ${dollars(price.perMonth)} a month`;
  const reserved = nodes.filter(({ capacityType }) => capacityType === 'reserved').length;
  const paid =
    reserved === 0 ? '' : ` beside ${count(reserved, 'node')} that ${reserved === 1 ? 'is' : 'are'} paid for`;
  const bound =
    gap < 0.0005
      ? 'No plan is cheaper.'
      : `No plan costs less than ${dollars(lowerBound)} an hour (gap ${(gap * 100).toFixed(1)} %).`;
  return `${what}: ${cost}${paid}. ${bound}`;
}

function withoutPlace({ pods, why, reason }: PodsWithoutPlace): string {
  const title = `No place for ${podNames(pods)}`;
  if (reason === undefined) return `${title}: ${why}.`;
  return [`${title}:`, ...reasonLines(reason).map((line) => `  ${line}`)].join('\n');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
