import { consolidate } from '../../../../engine/consolidation/consolidate.ts';
import type { ConsolidationPlan } from '../../../../engine/consolidation/plan.ts';
import { finish } from '../../../../engine/packing/work.ts';
import { type BuiltFleet, buildFleet, type FleetSnapshot } from '../../../../state/build-fleet.ts';
import { Budgets } from '../../budgets/budgets.ts';
import { type CommandParts, candidatesAmong, commandsOfPlan, type PlannedCommands } from '../commands-of-plan.ts';

/** A snapshot with its plan and commands. */
export interface PlannedFleet extends PlannedCommands {
  readonly built: BuiltFleet;
  readonly plan: ConsolidationPlan;
}

/** Allows every move unchanged. */
export const NO_POLICIES: Pick<CommandParts, 'settle' | 'paid'> = { settle: (move) => move, paid: (node) => node };

/** Plans a snapshot as the controller does. */
export function plannedFleet(snapshot: FleetSnapshot, policies = NO_POLICIES): PlannedFleet {
  const built = buildFleet(snapshot);
  const plan = consolidate(built.fleet, { evictInTurns: true, spotDiversity: 1 });
  const poolNamed = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name ?? '', pool]));
  let id = 0;
  const making = commandsOfPlan(plan.moves, built, {
    candidate: candidatesAmong(built, { poolNamed, podsOn: (node) => snapshot.podsOn(node) }),
    poolNamed,
    ...policies,
    budgets: budgetsOf(snapshot),
    newId: () => `command-${id++}`,
  });
  return { built, plan, ...finish(making) };
}

/** The budgets of the snapshot's pools. */
export function budgetsOf({ nodePools, nodes, now }: FleetSnapshot): Budgets {
  return new Budgets({ pools: nodePools, nodes, now });
}
