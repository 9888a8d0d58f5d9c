/** The NodePools that a SpotPolicy applies to, and its conditions. Pure. */
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { OVERLAPPING, type SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import { policiesFor, readSelector } from './governing-policy.ts';
import { noReturn } from './no-return.ts';

export interface PolicyPlan {
  /** Names of the NodePools that it applies to. */
  readonly nodePools: readonly string[];
  readonly conditions: readonly ConditionChange[];
}

/** NodePools named in one sentence. */
const NAMED = 10;

export function decidePolicy(
  policy: SpotPolicy,
  policies: readonly SpotPolicy[],
  pools: readonly NodePool[],
): PolicyPlan {
  const { matcher, problem } = readSelector(policy);
  const isThis = ({ metadata }: SpotPolicy): boolean => metadata.name === policy.metadata.name;
  const selected = pools
    .filter(({ metadata }) => matcher.matches(metadata.labels))
    .map((pool) => ({ pool, name: pool.metadata.name ?? '', rivals: policiesFor(pool, policies) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const held = selected.filter(({ rivals: [first] }) => first && isThis(first));
  const nodePools = held.map(({ name }) => name);
  const staying = held.flatMap(({ pool, name }) => {
    const why = noReturn(policy, pool);
    return why === undefined ? [] : [`${name}: ${why}`];
  });
  const overlaps = selected
    .filter(({ rivals }) => rivals.length > 1)
    .map(({ name, rivals }) => overlap(policy, name, rivals));
  const effective = { type: 'Effective', ...effect(selected.length, nodePools, staying, problem) };
  const overlapping: ConditionChange =
    overlaps.length === 0
      ? { type: OVERLAPPING, status: 'False', reason: 'OnlyPolicy' }
      : { type: OVERLAPPING, status: 'True', reason: 'SeveralPolicies', message: listed(overlaps, '; ') };
  return { nodePools, conditions: [effective, overlapping] };
}

function effect(
  selected: number,
  nodePools: readonly string[],
  staying: readonly string[],
  problem: string | undefined,
): Omit<ConditionChange, 'type'> {
  if (problem !== undefined)
    return { status: 'False', reason: 'SelectorInvalid', message: `nodePoolSelector cannot be read: ${problem}` };
  if (nodePools.length > 0) {
    const but = staying.length === 0 ? '' : `; nodes do not return to spot in ${listed(staying, ', in ')}`;
    return { status: 'True', reason: 'Holds', message: `applies to ${nodePoolsNamed(nodePools)}${but}` };
  }
  if (selected > 0)
    return {
      status: 'False',
      reason: 'Overruled',
      message: 'another SpotPolicy applies to each NodePool that it selects: see the condition Overlapping',
    };
  const message = 'no NodePool has the labels that nodePoolSelector asks for: label one, or change the selector';
  return { status: 'False', reason: 'SelectsNoNodePool', message };
}

/** Which policy applies to a NodePool that several select, and how to change that. */
function overlap(policy: SpotPolicy, pool: string, rivals: readonly SpotPolicy[]): string {
  const [winner, second] = rivals as readonly [SpotPolicy, SpotPolicy];
  const nameOf = ({ metadata }: SpotPolicy): string => metadata.name ?? '';
  const { priority } = policy.spec;
  const tie = `both have priority ${priority} and the first by name applies: give one of them a higher priority`;
  if (winner.metadata.name === policy.metadata.name) {
    const others = rivals.slice(1).map(nameOf).join(', ');
    const hint = second.spec.priority === priority ? `, ${tie}` : '';
    return `this one applies to NodePool ${pool}, before ${others}${hint}`;
  }
  const fix =
    winner.spec.priority === priority
      ? tie
      : `set a priority above ${winner.spec.priority}, or narrow nodePoolSelector`;
  return `SpotPolicy ${nameOf(winner)} applies to NodePool ${pool}, not this one: ${fix}`;
}

function nodePoolsNamed(names: readonly string[]): string {
  return `${names.length === 1 ? 'NodePool' : 'NodePools'} ${listed(names, ', ')}`;
}

function listed(items: readonly string[], separator: string): string {
  const more = items.length - NAMED;
  const named = items.slice(0, NAMED).join(separator);
  return more > 0 ? `${named} and ${more} more` : named;
}
