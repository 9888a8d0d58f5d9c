/**
 * Plans the replacement of nodes of static pools: one new node for each that goes, as far as the budgets and `limits.nodes` of the
 * pool allow. The pods of the old node are placed by the next round of provisioning, on the new node or elsewhere.
 */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import { staticCount } from '../static-pool/static-count.ts';
import type { Candidate } from './candidate.ts';
import type { Command, PlannedNode } from './commands/command.ts';
import type { Look } from './look.ts';
import type { DueReplacements, ReplaceWithinOptions } from './replace-within.ts';
import { supplyKey } from './supply.ts';
import { giveBack, withinBudgets } from './within-budgets.ts';

export async function replaceStatic(
  { candidates, reason, repairs }: Omit<DueReplacements, 'closed'>,
  look: Look,
  { backOff, solve }: Pick<ReplaceWithinOptions, 'backOff' | 'solve'>,
  signal: AbortSignal,
): Promise<Command[]> {
  const commands: Command[] = [];
  for (const due of Map.groupBy(candidates, ({ pool }) => pool.metadata.name ?? '').values()) {
    const { pool } = due[0] as Candidate;
    const ready = due.filter(({ claim }) => !look.isStuck(claim));
    // A pool that shrinks deletes drifted nodes first: no replacement is launched for what goes anyway.
    if (staticCount(pool, look.nodes).surplus > 0) continue;
    if (backOff.leftMs(supplyKey(pool.metadata.name ?? '', reason)) > 0) continue;
    const chosen = withinBudgets(ready, reason, look);
    if (chosen.length === 0) continue;
    const { newNodes, why } = await launchable(pool, chosen.length, look, solve, signal);
    for (const [index, node] of newNodes.entries()) {
      const candidate = chosen[index] as Candidate;
      commands.push({
        ...{ id: look.newId(), reason, disruption: 'eventual', candidates: [candidate], newNodes: [node] },
        ...{ needs: [], receivers: [] },
        ...(repairs === undefined ? {} : { repairs }),
      });
    }
    const left = chosen.slice(newNodes.length);
    giveBack(left, look);
    for (const { state } of left) look.refuse({ refused: state, why: `no replacement can be launched: ${why}` });
  }
  return commands;
}

/** As many new nodes of the pool as can be launched, up to that number; for the rest, why they cannot. */
async function launchable(
  pool: NodePool,
  count: number,
  look: Look,
  solve: ReplaceWithinOptions['solve'],
  signal: AbortSignal,
): Promise<{ readonly newNodes: readonly PlannedNode[]; readonly why: string }> {
  const usable = (await look.staticPools(signal)).find((each) => each.pool.metadata.name === pool.metadata.name);
  if (usable === undefined) return { newNodes: [], why: 'its pool can make no nodes now' };
  const { built, solution } = await solve(look.replicas(usable, count), signal);
  const cloudName = (instanceType: string): string => built.cloudName(instanceType);
  const newNodes = solution.newNodes.map((node) => ({ node, pool, cloudName, pods: [] }));
  const [unplaced] = solution.unplaced;
  return { newNodes, why: unplaced === undefined ? '' : reasonSentence(unplaced.reason) };
}
