/** Checks a command against the cluster just before it begins. A valid command takes its share of the budgets and limits. */
import type { Node } from '../../apis/kubernetes/node.ts';
import type { RepairPolicy } from '../../cloud/repair-policy.ts';
import type { Slices } from '../../engine/packing/work.ts';
import type { SpreadGap } from '../../engine/spot/spread-over-spot-pools.ts';
import { isGoing, isLeaving } from '../../state/state-node.ts';
import type { PoolLimits } from '../pool-limits.ts';
import { onDemandLost } from '../spot-policy/on-demand-lost.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import { type Candidate, candidateOf, withPods } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import { recovery } from './repair/recovery.ts';
import { type Unit, unitsAmong } from './unit.ts';
import { giveBack, takeOfBudgets } from './within-budgets.ts';

export interface ValidationOptions {
  readonly limits: PoolLimits;
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** The repair policies of the node's cloud. */
  policiesOf(node: Node): readonly RepairPolicy[];
}

/** Yields after this many nodes. */
const LOOKED_AT_TOGETHER = 20;

/** Why the command is no longer valid in a fresh look; undefined if it is. In slices, because a command may have many nodes. */
export function* validateCommand(
  command: Command,
  look: Look,
  { limits, policies, policiesOf }: ValidationOptions,
): Slices<string | undefined> {
  for (const [index, candidate] of command.candidates.entries()) {
    if (index % LOOKED_AT_TOGETHER === LOOKED_AT_TOGETHER - 1) yield;
    const state = look.node(candidate.state.name);
    const recovered = command.reason === 'Unhealthy' && state ? recovery(state, policiesOf, look.now) : undefined;
    const wrong = recovered ?? problemOf(candidate, command, look, state);
    if (wrong !== undefined) return `${candidate.state.name}: ${wrong}`;
  }
  for (const name of command.receivers) {
    const receiver = look.node(name);
    if (receiver === undefined || isLeaving(receiver))
      return `node ${name}, where its pods were to move, is gone or going itself`;
  }
  for (const name of command.needs) {
    const needed = look.nodeOf(name);
    if (needed === undefined || isGoing(needed))
      return `NodeClaim ${name}, which must be up first, is gone or going itself`;
  }
  const lost = onDemandLostBy(command, look, policies);
  if (lost !== undefined) return `${lost.limit}, and the fleet has changed meanwhile`;
  const taken: Unit[] = [];
  const refused = (why: string): string => {
    giveBack(taken, look);
    return why;
  };
  for (const unit of unitsAmong(command.candidates)) {
    const short = takeOfBudgets(unit, command.reason, look.budgets);
    if (short !== undefined) return refused(`the budgets of NodePool ${short.pool} allow no more disruptions now`);
    taken.push(unit);
  }
  const full = limits.take(command.newNodes);
  return full === undefined ? undefined : refused(`the limits of NodePool ${full} leave no room for its replacements`);
}

/** The SpotPolicy that the command would violate in the fleet as it is now, although its plan kept it. */
function onDemandLostBy(
  { candidates, newNodes, reason, missed }: Command,
  look: Look,
  policies: ValidationOptions['policies'],
): SpreadGap | undefined {
  // Consolidation checks its policies itself, emptiness keeps required nodes, and repair cannot wait.
  if (reason !== 'Drifted' && reason !== 'Expired') return undefined;
  const going = candidates.map(({ state }) => state);
  const departure = { going, nodes: look.nodes, newNodes: newNodes.map(({ node }) => node) };
  return onDemandLost(departure, policies).find(({ pool }) => missed?.includes(pool) !== true);
}

function problemOf(
  { claim, pods }: Candidate,
  { reason, disruption }: Command,
  look: Look,
  state: Candidate['state'] | undefined,
): string | undefined {
  if (state?.claim === undefined || state.claim.metadata.uid !== claim.metadata.uid) return 'it no longer exists';
  if (isGoing(state)) return 'it is being disrupted already';
  const now = reason === 'Unhealthy' ? withPods(state, look) : candidateOf(state, disruption, look);
  if (now === undefined) return 'it can no longer be disrupted';
  if ('why' in now) return now.why;
  const planned = new Set(pods.map(({ metadata }) => metadata.uid));
  const came = now.pods.find(({ metadata }) => !planned.has(metadata.uid));
  return came && `pod ${came.metadata.namespace}/${came.metadata.name} was scheduled to it meanwhile`;
}
