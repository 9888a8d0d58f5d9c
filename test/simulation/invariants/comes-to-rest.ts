/** While nothing changes, no node is launched or removed, and the number of writes is bounded. */
import { LABEL_NODE_POOL } from '../../../src/apis/karpenter/labels.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { readMark } from '../../../src/controllers/disruption/commands/mark.ts';
import type { InvariantMaker } from '../invariant.ts';

/** The last part of the rest, in which nothing should change. */
const STILL_MS = 60 * 60_000;

export const comesToRest: InvariantMaker = (facts, broken) => {
  /** When nodes were marked for disruption, and why. */
  const moves: { readonly at: number; readonly what: string; readonly reason: string }[] = [];
  const writes: number[] = [];
  return {
    written({ collection, object, previous, verb }) {
      if (verb !== undefined && collection !== 'events') writes.push(facts.now);
      if (collection !== 'nodeclaims.karpenter.sh') return;
      const text = object.metadata.annotations?.[ANNOTATION_DISRUPTION];
      const mark = readMark(text);
      if (mark === undefined || previous?.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined) return;
      const what = `claim ${object.metadata.name} of ${object.metadata.labels?.[LABEL_NODE_POOL]} (${text})`;
      moves.push({ at: facts.now, what, reason: mark.reason });
    },
    rested() {
      const since = facts.now - STILL_MS;
      // Expired nodes are replaced at any time, which may cause further moves.
      const expired = moves.some(({ at, reason }) => at >= since - STILL_MS && reason === 'Expired');
      // When a reservation ends, its machines become more expensive.
      const ended = facts.plan.account.reservations.some(
        ({ endsAt = 0 }) => endsAt >= since - STILL_MS && endsAt <= facts.now,
      );
      const late = moves.filter(({ at }) => at >= since);
      if (late.length > 0 && !expired && !ended)
        broken(
          `${late.length} nodes were chosen to go in an hour in which nothing had changed for an hour, such as ${late.at(-1)?.what}`,
        );
      const many = writes.filter((at) => at >= since).length;
      const few = 60 + 60 * late.length + 12 * facts.claims.length;
      if (many > few)
        broken(`${many} writes of ours in an hour in which nothing happened, to ${facts.claims.length} claims`);
    },
  };
};
