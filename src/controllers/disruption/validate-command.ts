/** Whether a plan still holds when it begins; what it needs is taken from the budgets and limits that it is judged by. */
import type { Node } from '../../apis/kubernetes/node.ts';
import type { RepairPolicy } from '../../cloud/repair-policy.ts';
import type { Slices } from '../../engine/packing/work.ts';
import { isGoing, isInFlight, isLeaving } from '../../state/state-node.ts';
import type { PoolLimits } from '../pool-limits.ts';
import { type Candidate, candidateOf, withPods } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import { recovery } from './repair/recovery.ts';

export interface ValidationOptions {
  readonly limits: PoolLimits;
  /** By which a node is sick. */
  policiesOf(node: Node): readonly RepairPolicy[];
}

/** So many nodes are looked at before others may run. */
const LOOKED_AT_TOGETHER = 20;

/**
 * What has become wrong with the plan since it was made, by a look at the cluster as it is now; undefined if nothing has. In
 * slices: many nodes may go at once.
 */
export function* validateCommand(
  command: Command,
  look: Look,
  { limits, policiesOf }: ValidationOptions,
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
    if (receiver === undefined || isLeaving(receiver)) return `${name}, where pods were to go, is going itself`;
  }
  for (const name of command.needs) {
    const needed = look.nodeOf(name);
    if (needed === undefined || isGoing(needed)) return `${name}, which was to come up first, is gone or going`;
  }
  for (const { pool, state } of command.candidates) {
    // A node that never came up counts in no budget.
    if (isInFlight(state)) continue;
    const name = pool.metadata.name ?? '';
    if (look.budgets.left(name, command.reason) < 1) return `the budgets of ${name} let no more nodes go`;
    look.budgets.take(name);
  }
  const full = limits.take(command.newNodes);
  return full && `the limits of ${full} leave no room for its replacements`;
}

function problemOf(
  { claim, pods }: Candidate,
  { reason, disruption }: Command,
  look: Look,
  state: Candidate['state'] | undefined,
): string | undefined {
  if (state?.claim === undefined || state.claim.metadata.uid !== claim.metadata.uid) return 'it is no longer there';
  if (isGoing(state)) return 'it goes already';
  const now = reason === 'Unhealthy' ? withPods(state, look) : candidateOf(state, disruption, look);
  if (now === undefined) return 'it can no longer be disrupted';
  if ('why' in now) return now.why;
  const planned = new Set(pods.map(({ metadata }) => metadata.uid));
  const came = now.pods.find(({ metadata }) => !planned.has(metadata.uid));
  return came && `pod ${came.metadata.namespace}/${came.metadata.name} came to it meanwhile`;
}
