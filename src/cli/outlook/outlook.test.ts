import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { policyHold } from '../../controllers/disruption/consolidation/within-policies.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings } from '../../controllers/spot-policy/spot-settings.ts';
import {
  aFleetSnapshot,
  aRunningPod,
  type FleetSnapshotParts,
  MACHINES,
} from '../../state/testkit/a-fleet-snapshot.ts';
import { aPodAsking, aStateNode, ON_DEMAND, SPOT } from '../../state/testkit/a-state-node.ts';
import { type Outlook, outlook } from './outlook.ts';

/** The outlook with one policy for all pools, as the controller asks for it. */
function look(parts: FleetSnapshotParts, settings: Partial<SpotSettings> = {}): Outlook {
  const policies = { for: () => ({ ...DEFAULT_SPOT_SETTINGS, policy: 'careful', ...settings }) };
  const snapshot = aFleetSnapshot(parts);
  const { pools, nodes, now, podsOn } = snapshot;
  const hold = policyHold({ policies, pools, nodes, now, podsOn });
  return outlook({ ...snapshot, policyHold: hold }, { policies, limits: {} });
}

const gone = ({ moves }: Outlook): string[] => moves.flatMap(({ move }) => move.nodes);
const because = ({ stays }: Outlook, node: string): string | undefined =>
  stays.find((one) => one.node === node)?.because;

const limits = (given: Partial<SpotSettings['limits']>): Partial<SpotSettings> => ({
  limits: { ...DEFAULT_SPOT_SETTINGS.limits, ...given },
});
const nodePools = [aNodePool({ spec: { disruption: { budgets: [] } } })];
const onDemand = (name: string) => aStateNode({ name, launched: ON_DEMAND, plan: [ON_DEMAND] });

describe('what is to be expected of a fleet', () => {
  it('is that its on-demand nodes are exchanged for spot, where no policy asks for them', () => {
    const parts = { nodePools, nodes: [onDemand('a')], pods: ['1', '2', '3'].map((name) => aRunningPod(name, 'a')) };
    expect(gone(look(parts))).toEqual(['a']);
  });

  it('is that those stay which its SpotPolicy asks for, and that is said', () => {
    const parts = { nodePools, nodes: [onDemand('a')], pods: ['1', '2', '3'].map((name) => aRunningPod(name, 'a')) };
    const found = look(parts, limits({ onDemandBase: 1 }));
    expect(gone(found)).toEqual([]);
    expect(because(found, 'a')).toBe(
      'by SpotPolicy careful 1 of the 1 nodes of general are to be on-demand, and no new node that is like that saves enough',
    );
  });

  it('is that an empty on-demand node stays which its SpotPolicy asks for beside nodes in use', () => {
    const nodes = [onDemand('idle'), aStateNode({ name: 'busy' })];
    const pods = ['1', '2', '3'].map((name) => aRunningPod(name, 'busy'));
    const found = look({ nodePools, nodes, pods }, limits({ onDemandBase: 1 }));
    expect(because(found, 'idle')).toBe('SpotPolicy careful requires it as an on-demand node');
  });

  it('is that new nodes are what the shares of spot pools ask for, and the sentence says what they are', () => {
    const large = { ...ON_DEMAND, instanceType: 'm5.2xlarge', price: 0.4 };
    const allocatable = { cpu: '8', memory: '32Gi', pods: '29' };
    const nodes = [
      aStateNode({ name: 'large', launched: large, plan: [large], allocatable }),
      aStateNode({ name: 'full' }),
    ];
    const pods = [
      ...['1', '2', '3'].map((name) => aRunningPod(name, 'large')),
      ...['4', '5', '6', '7'].map((name) => aRunningPod(name, 'full')),
    ];
    const free = look({ nodePools, nodes, pods });
    expect(free.moves[0]?.move.sentence).toContain('by m5.large spot in sim-1a');
    const spread = look({ nodePools, nodes, pods }, limits({ maxPercentPerSpotPool: 50 }));
    expect(spread.moves[0]?.move.sentence).toContain('by m5.large spot in sim-1b');
    expect(spread.moves[0]?.move.newNodes[0]?.offerings[0]).toMatchObject({ zone: 'sim-1b' });
  });

  it('is that what was bought for want of spot is left alone for the time its policy says', () => {
    const fallback = aStateNode({ name: 'a', launched: ON_DEMAND, plan: [SPOT, ON_DEMAND] });
    const parts = { nodePools, nodes: [fallback], pods: ['1', '2', '3'].map((name) => aRunningPod(name, 'a')) };
    const wait = (afterMs: number | undefined) => look(parts, { returnToSpot: { afterMs, budget: '10%' } });
    expect(gone(wait(1000))).toEqual(['a']);
    expect(because(wait(48 * 3_600_000), 'a')).toBe(
      'it was launched on-demand less than returnToSpot.after ago: not before 2030-01-03T00:00:00Z',
    );
    expect(because(wait(undefined), 'a')).toBe(
      'machines of general do not return to spot: returnToSpot.after is Never',
    );
  });

  it('leaves out moves whose pods the scheduler is likely to put where they do not all fit', () => {
    const node = (name: string, cpu: string, disk: string) =>
      aStateNode({ name, allocatable: { cpu, memory: '16Gi', pods: '29' }, labels: { disk } });
    const STAYS = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
    const asking = (name: string, on: string, spec: Partial<Pod['spec']> = {}, metadata = {}): Pod => {
      const requests = { cpu: spec.nodeSelector === undefined ? '2' : '1900m', memory: '1Gi' };
      return { ...aRunningPod(name, on, metadata), spec: aPodAsking(name, requests, { nodeName: on, ...spec }).spec };
    };
    // The plan: the first to b, where alone it can be, and the second to c. The scheduler puts the second where most room is, on b.
    const pods = [
      ...[asking('1', 'a', { nodeSelector: { disk: 'ssd' } }), asking('2', 'a')],
      ...[asking('3', 'b', {}, STAYS), asking('4', 'c', {}, STAYS)],
    ];
    const pools = nodePools.map((pool) => ({
      pool,
      instanceTypes: MACHINES.map((type) => ({ ...type, offerings: [] })),
    }));
    const nodes = [node('a', '5', 'ssd'), node('b', '5', 'ssd'), node('c', '4', 'hdd')];
    const found = look({ nodePools, pools, nodes, pods });
    expect(found.plan.moves).toMatchObject([{ nodes: ['a'] }]);
    expect(gone(found)).toEqual([]);
    expect(because(found, 'a')).toBe('some of its pods would not fit where the scheduler is likely to place them');
  });

  it('counts moves from 1, and says of each when it begins', () => {
    const nodes = ['a', 'b'].map((name) => aStateNode({ name }));
    const found = look({ nodePools, nodes, pods: ['1', '2', '3'].map((name) => aRunningPod(name, 'a')) });
    expect(found.moves).toMatchObject([{ begins: 'now', after: [], move: { nodes: ['b'] } }]);
  });
});
