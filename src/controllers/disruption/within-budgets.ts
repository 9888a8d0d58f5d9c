import type { EventRecorder } from '../../kube/event-recorder.ts';
import { isInFlight } from '../../state/state-node.ts';
import type { CommandReason } from './commands/command.ts';
import { groupExceedsBudget } from './events.ts';
import type { Look } from './look.ts';
import { poolCounts, type Unit } from './unit.ts';

/** The units that the budgets of their pools allow, earlier ones first. Takes them from the budgets. */
export function withinBudgets(units: readonly Unit[], reason: CommandReason, look: Look): Unit[] {
  return units.filter((unit) => {
    const short = takeOfBudgets(unit, reason, look.budgets);
    if (short === undefined) return true;
    const pool = look.poolNamed.get(short.pool);
    if (pool !== undefined) look.refusePool(pool, shortText(short, unit, reason, 'its budgets'));
    if (unit.groups.length > 0) look.refuse({ refused: unit.first.state, why: shortText(short, unit, reason) });
    return false;
  });
}

/** A pool whose budgets allow fewer disruptions than a unit has nodes. */
export interface ShortBudget {
  readonly pool: string;
  /** Nodes of the pool in the unit. */
  readonly count: number;
  /** Disruptions allowed right now. */
  readonly allowed: number;
}

/** Why a unit has to wait, as a sentence. */
export function shortText(
  { pool, count, allowed }: ShortBudget,
  { groups }: Pick<Unit, 'groups'>,
  reason: CommandReason,
  budgets = `the budgets of NodePool ${pool}`,
): string {
  if (groups.length === 0) return `${budgets} allow no more disruptions for the reason ${reason} now`;
  return `${budgets} allow ${allowed} more disruptions for the reason ${reason} now, and its ${count} nodes with pods of ${groupText(groups)} are disrupted together`;
}

/**
 * Takes a unit from the budgets of its pools, or returns the pool that has too little left. Every node of a group counts. A group that is
 * larger than the budget goes when nothing else of the pool does, or it could never be disrupted.
 */
export function takeOfBudgets(
  unit: Pick<Unit, 'candidates'>,
  reason: CommandReason,
  budgets: Look['budgets'],
): ShortBudget | undefined {
  const counts = countedBy(unit);
  for (const [pool, count] of counts) {
    const { allowed, limit } = budgets.of(pool, reason);
    if (allowed < Math.max(1, Math.min(count, limit))) return { pool, count, allowed };
  }
  for (const [pool, count] of counts) budgets.take(pool, count);
  return undefined;
}

/** Returns to the budgets what the units took. */
export function giveBack(units: readonly Unit[], { budgets }: Pick<Look, 'budgets'>): void {
  for (const unit of units) for (const [pool, count] of countedBy(unit)) budgets.take(pool, -count);
}

/** Nodes that never came up count in no budget. */
function countedBy({ candidates }: Pick<Unit, 'candidates'>): Map<string, number> {
  return poolCounts({ candidates: candidates.filter(({ state }) => !isInFlight(state)) });
}

/** Records an event for each pool in which a group exceeds the budget. */
export function recordLargeGroups(
  units: readonly Unit[],
  reason: CommandReason,
  { budgets, poolNamed }: Pick<Look, 'budgets' | 'poolNamed'>,
  recorder: Pick<EventRecorder, 'record'>,
): void {
  for (const unit of units) {
    for (const [name, count] of countedBy(unit)) {
      const { limit } = budgets.of(name, reason);
      const pool = poolNamed.get(name);
      if (pool === undefined || count <= limit) continue;
      const nodes = unit.candidates.filter((candidate) => candidate.pool.metadata.name === name);
      recorder.record(
        groupExceedsBudget(pool, {
          nodes: nodes.map(({ state }) => state.name),
          limit,
          reason,
          group: groupText(unit.groups),
        }),
      );
    }
  }
}

function groupText(groups: readonly string[]): string {
  const [first = '', ...others] = groups;
  return others.length === 0 ? `group ${first}` : `group ${first} and ${others.length} more`;
}
