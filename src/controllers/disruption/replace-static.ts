/**
 * Plans replacements in static pools: one new node per old one, within the budgets and `limits.nodes` of the pool. The next provisioning
 * round places the pods of the old node, on the new node or elsewhere.
 */
import { reasonSentence } from '../../engine/explain/sentence.ts';
import { staticCount } from '../static-pool/static-count.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import { poolBackOffKey } from './pool-back-off-key.ts';
import { companionsOf, type DueReplacements, type ReplaceWithinOptions } from './replace-within.ts';
import { candidatesOf, type Unit, unitsOf } from './unit.ts';
import { giveBack, recordLargeGroups, withinBudgets } from './within-budgets.ts';

export async function replaceStatic(
  wanted: DueReplacements,
  look: Look,
  { backOff, solve, recorder }: Pick<ReplaceWithinOptions, 'backOff' | 'solve' | 'recorder'>,
  signal: AbortSignal,
): Promise<Command[]> {
  const { candidates, reason, repairs } = wanted;
  const commands: Command[] = [];
  for (const due of Map.groupBy(candidates, ({ pool }) => pool.metadata.name ?? '').values()) {
    const { pool } = due[0] as Candidate;
    const ready = due.filter(({ claim }) => !look.isStuck(claim));
    // A pool that shrinks deletes drifted nodes first, so no replacement is launched for them.
    if (staticCount(pool, look.nodes).surplus > 0) continue;
    if (backOff.leftMs(poolBackOffKey(pool.metadata.name ?? '', reason)) > 0) continue;
    const takes = ({ pool: other }: Candidate): boolean => other.metadata.name === pool.metadata.name;
    const units = unitsOf(ready, { look, reason, judge: companionsOf(wanted), takes });
    const chosen = withinBudgets(units, reason, look);
    if (chosen.length === 0) continue;
    const all = await replacementsFor(chosen, look, solve, signal);
    const replaced = affordable(chosen, all.newNodes.length);
    // If only some are replaced, the SpotPolicy is applied again to the nodes that really go.
    const isPart = replaced.length > 0 && replaced.length < chosen.length;
    const { newNodes, missed } = isPart ? await replacementsFor(replaced, look, solve, signal) : all;
    let used = 0;
    for (const unit of chosen) {
      const own = newNodes.slice(used, used + unit.candidates.length);
      if (!replaced.includes(unit) || own.length < unit.candidates.length) {
        giveBack([unit], look);
        look.refuse({ refused: unit.first.state, why: `no replacement can be launched: ${all.why}` });
        continue;
      }
      used += own.length;
      recordLargeGroups([unit], reason, look, recorder);
      commands.push({
        ...{ id: look.newId(), reason, disruption: 'eventual', candidates: unit.candidates, newNodes: own },
        ...{ needs: [], receivers: [], missed },
        ...(repairs === undefined ? {} : { repairs }),
      });
    }
  }
  return commands;
}

/** The units that this many new nodes can replace, earlier ones first. */
function affordable(units: readonly Unit[], nodes: number): readonly Unit[] {
  let left = nodes;
  return units.filter(({ candidates }) => {
    if (candidates.length > left) return false;
    left -= candidates.length;
    return true;
  });
}

interface StaticReplacements extends Required<Pick<Command, 'newNodes' | 'missed'>> {
  /** Why there are no more new nodes. */
  readonly why: string;
}

/** One new node of the same pool per node of the units, as far as they can be launched. */
async function replacementsFor(
  units: readonly Unit[],
  look: Look,
  solve: ReplaceWithinOptions['solve'],
  signal: AbortSignal,
): Promise<StaticReplacements> {
  const candidates = candidatesOf(units);
  const { pool } = candidates[0] as Candidate;
  const usable = (await look.staticPools(signal)).find((each) => each.pool.metadata.name === pool.metadata.name);
  if (usable === undefined) return { newNodes: [], missed: [], why: 'its NodePool cannot launch nodes now' };
  const { built, solution, gaps } = await solve(look.replacements(usable, candidates), signal);
  const cloudName = (instanceType: string): string => built.cloudName(instanceType);
  const newNodes = solution.newNodes.map((node) => ({ node, pool, cloudName, pods: [] }));
  const [unplaced] = solution.unplaced;
  const why = unplaced === undefined ? '' : reasonSentence(unplaced.reason);
  return { newNodes, missed: gaps.map((gap) => gap.pool), why };
}
