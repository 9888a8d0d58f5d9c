/** Explains why consolidation skips a node, with names and times that the engine's sentence lacks. */
import { NEVER } from '../../apis/karpenter/duration.ts';
import {
  ANNOTATION_DISRUPTION,
  ANNOTATION_INTERRUPTION,
  ANNOTATION_INTERRUPTION_DEADLINE,
} from '../../apis/spindrift/annotations.ts';
import { readMark } from '../../controllers/disruption/commands/mark.ts';
import type { Hold } from '../../engine/consolidation/fleet.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { FleetSnapshot } from '../../state/build-fleet.ts';
import { consolidatableAt } from '../../state/node-hold.ts';
import { hasJustComeUp } from '../../state/nominations.ts';
import { isGoing, poolOf, type StateNode } from '../../state/state-node.ts';

/** A clause without its full stop; undefined where there is nothing to add. */
export function holdText(state: StateNode, hold: Hold, snapshot: FleetSnapshot): string | undefined {
  switch (hold) {
    case 'consolidate-after':
      return afterText(state, snapshot);
    case 'spot-policy': {
      const { because, until } = snapshot.policyHold?.(state) ?? {};
      return because === undefined || until === undefined ? because : `${because}: not before ${toTimestamp(until)}`;
    }
    case 'leaving':
      return leavingText(state);
    case 'nominated':
      return state.claim !== undefined && hasJustComeUp(state.claim, snapshot.now)
        ? 'it has just initialized, and the pods it was launched for may not run yet'
        : undefined;
    default:
      return undefined;
  }
}

function afterText(state: StateNode, { nodePools }: FleetSnapshot): string | undefined {
  const name = poolOf(state);
  const pool = nodePools.find(({ metadata }) => metadata.name === name);
  if (pool === undefined || state.claim === undefined) return undefined;
  const { consolidateAfter } = pool.spec.disruption;
  if (consolidateAfter === NEVER) return `consolidateAfter of pool ${name} is ${NEVER}`;
  const at = toTimestamp(consolidatableAt(state.claim, pool) as EpochMs);
  return `its pods changed less than ${consolidateAfter} ago, the consolidateAfter of pool ${name}: not before ${at}`;
}

function leavingText(state: StateNode): string {
  const { annotations = {} } = state.claim?.metadata ?? {};
  const interruption = annotations[ANNOTATION_INTERRUPTION];
  if (interruption !== undefined) {
    const deadline = annotations[ANNOTATION_INTERRUPTION_DEADLINE];
    return `its cloud interrupts it already (${interruption}${deadline === undefined ? '' : `, at ${deadline}`})`;
  }
  const mark = readMark(annotations[ANNOTATION_DISRUPTION]);
  if (mark !== undefined) {
    const needs = mark.needs.map(({ name }) => name);
    const waits = needs.length === 0 ? '' : `, once its replacements ${needs.join(', ')} are ready`;
    return `it is being disrupted already (${mark.reason})${waits}`;
  }
  return isGoing(state) ? 'it is being deleted' : 'it is cordoned';
}
