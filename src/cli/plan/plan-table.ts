/** A plan as text. */
import { dollars } from '../money.ts';
import { reasonLines } from '../why/pod-why-text.ts';
import { wrapped } from '../wrapped.ts';
import type { PlanReport, PodsWithoutPlace } from './plan-report.ts';
import { planRows, podsText } from './plan-rows.ts';

/** The number of reasons printed for unschedulable pods. */
const REASONS = 10;

/** The whole plan as text, in lines of at most `width` characters. */
export function planTable(plan: PlanReport, width = Number.POSITIVE_INFINITY): string {
  const { nodes, notes } = plan;
  // The reasons of the most pods first.
  const without = plan.withoutPlace.toSorted((a, b) => b.pods.length - a.pods.length);
  const untold = without.slice(REASONS).reduce((sum, { pods }) => sum + pods.length, 0);
  const parts = [
    ...(nodes.length === 0 ? ['Nothing would be launched.'] : [planRows(nodes, width), totals(plan)]),
    ...without.slice(0, REASONS).map((one) => withoutPlace(one, width)),
    ...(untold === 0 ? [] : [`Unschedulable: ${count(untold, 'more pod')}; -o json says why.`]),
    ...(notes.length === 0 ? [] : [notes.map((note) => `Note: ${note}.`).join('\n')]),
  ];
  return `${parts.map((part, index) => (index === 0 ? part : wrapped(part, width))).join('\n\n')}\n`;
}

function totals({ nodes, price, lowerBound, gap, podsPlaced }: PlanReport): string {
  const what = `${count(nodes.length, 'node')} for ${count(podsPlaced, 'pod')}`;
  const cost = `${dollars(price.perHour)} an hour, ${dollars(price.perMonth)} a month`;
  const reserved = nodes.filter(({ capacityType }) => capacityType === 'reserved').length;
  const paid = reserved === 0 ? '' : ` plus ${count(reserved, 'reserved node')}, paid for already`;
  const bound =
    gap < 0.0005
      ? 'No plan is cheaper.'
      : `No plan costs less than ${dollars(lowerBound)} an hour (gap ${(gap * 100).toFixed(1)} %).`;
  return `${what}: ${cost}${paid}. ${bound}`;
}

function withoutPlace({ pods, why, reason }: PodsWithoutPlace, width: number): string {
  const title = `Unschedulable: ${podsText(pods, width - 17)}`;
  if (reason === undefined) return `${title}: ${why}.`;
  return [`${title}:`, ...reasonLines(reason).map((line) => `  ${line}`)].join('\n');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
