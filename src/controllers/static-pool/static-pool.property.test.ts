/** Whatever states the claims of a static pool are in: what is launched and deleted brings it to its number and no further. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aPodAsking, aStateNode, ON_DEMAND, SPOT } from '../../state/testkit/a-state-node.ts';
import { DEFAULT_SPOT_SETTINGS } from '../spot-policy/spot-settings.ts';
import { chooseSurplus } from './choose-surplus.ts';
import { deletionOrder } from './deletion-order.ts';
import { staticCount } from './static-count.ts';

const STATES = ['stays', 'marked', 'interrupted', 'deleted'] as const;

const claims = fc.array(
  fc.record({
    state: fc.constantFrom(...STATES),
    onDemand: fc.boolean(),
    pods: fc.nat(3),
    isProtected: fc.boolean(),
  }),
  { maxLength: 12 },
);

type Claims = typeof claims extends fc.Arbitrary<infer T> ? T : never;

function nodesOf(drawn: Claims): StateNode[] {
  return drawn.map(({ state, onDemand }, index) => {
    const node = aStateNode({
      name: `node-${index}`,
      launched: onDemand ? ON_DEMAND : SPOT,
      claimAnnotations: {
        ...(state === 'marked' && { [ANNOTATION_DISRUPTION]: 'id' }),
        ...(state === 'interrupted' && { [ANNOTATION_INTERRUPTION]: 'spot-interruption' }),
      },
    });
    if (state !== 'deleted') return node;
    const metadata = { ...node.claim.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    return { ...node, claim: { ...node.claim, metadata } };
  });
}

it('has nothing to launch where it has something to delete, and is at its number after either', () => {
  fc.assert(
    fc.property(claims, fc.nat(12), (drawn, replicas) => {
      const pool = aNodePool({ spec: { replicas } });
      const nodes = nodesOf(drawn);
      const { missing, surplus, staying } = staticCount(pool, nodes);
      const count = (state: (typeof STATES)[number]) => drawn.filter((claim) => claim.state === state).length;
      expect(missing === 0 || surplus === 0).toBe(true);
      expect(staying).toHaveLength(count('stays'));
      // What a command replaces is there until its replacement is.
      expect(missing).toBe(Math.max(0, replicas - count('stays') - count('marked')));
      const launched = Array.from({ length: missing }, (_, index) => aStateNode({ name: `new-${index}` }));
      const gone = new Set(chooseSurplus(staying, surplus, { for: () => DEFAULT_SPOT_SETTINGS }));
      const after = staticCount(pool, [...nodes.filter((node) => !gone.has(node)), ...launched]);
      expect([after.missing, after.surplus]).toEqual([0, 0]);
    }),
  );
});

it('deletes as many as it has to, protected nodes last, whatever on-demand nodes a policy asks for', () => {
  fc.assert(
    fc.property(claims, fc.nat(12), fc.nat(4), (drawn, surplus, onDemandBase) => {
      const nodes = nodesOf(drawn.map((claim) => ({ ...claim, state: 'stays' as const })));
      const podsOf = new Map(
        drawn.map(({ pods, isProtected }, index) => [
          `node-${index}`,
          Array.from({ length: pods }, (_, number) => {
            const pod = aPodAsking(`pod-${index}-${number}`, {});
            const annotations = isProtected ? { 'karpenter.sh/do-not-disrupt': 'true' } : {};
            return { ...pod, metadata: { ...pod.metadata, annotations } };
          }),
        ]),
      );
      const ordered = deletionOrder(nodes, (name) => podsOf.get(name) ?? [], 0 as EpochMs);
      expect(new Set(ordered)).toEqual(new Set(nodes));
      const isKept = ({ name }: StateNode) =>
        (podsOf.get(name) ?? []).some(({ metadata }) => metadata.annotations?.['karpenter.sh/do-not-disrupt']);
      const firstKept = ordered.findIndex(isKept);
      if (firstKept >= 0) expect(ordered.slice(firstKept).every(isKept)).toBe(true);
      const limits = { ...DEFAULT_SPOT_SETTINGS.limits, onDemandBase };
      const chosen = chooseSurplus(ordered, surplus, { for: () => ({ ...DEFAULT_SPOT_SETTINGS, limits }) });
      expect(new Set(chosen).size).toBe(Math.min(surplus, nodes.length));
      const left = nodes.filter((node) => !chosen.includes(node));
      const onDemand = (list: readonly StateNode[]) =>
        list.filter(({ node }) => node?.metadata.labels?.['karpenter.sh/capacity-type'] === 'on-demand').length;
      // What is left has the base, as far as there were such nodes.
      const wanted = Math.min(onDemandBase, left.length, onDemand(nodes));
      expect(onDemand(left)).toBeGreaterThanOrEqual(wanted);
    }),
  );
});
