import { describe, expect, it } from 'vitest';
import { ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import { UnavailableOfferings } from '../../cloud/unavailable-offerings.ts';
import type { Informer, InformerHandler } from '../../kube/informer.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { Metrics } from '../../platform/metrics.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { aNodeClaim } from '../testkit/objects.ts';
import { RiskKeeper } from './risk-keeper.ts';
import { writeRisks } from './risk-status.ts';

const POOL = { instanceType: 'small', zone: 'zone-a' };
const HOUR = 3_600_000;
const PRIOR = 0.0005;

function claim(capacityType = 'spot') {
  const labels = {
    'karpenter.sh/capacity-type': capacityType,
    'node.kubernetes.io/instance-type': POOL.instanceType,
    'topology.kubernetes.io/zone': POOL.zone,
  };
  return aNodeClaim({ metadata: { labels } });
}

function world() {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const keeper = new RiskKeeper({ clock, metrics });
  const notice = (kind: NoticeKind, machine = 'm-1', aheadMs = 0): Notice => ({
    kind,
    machine,
    at: (clock.now() + aheadMs) as EpochMs,
    source: 'test',
    detail: '',
  });
  const events = (event: string) =>
    metrics.read('spindrift_spot_pool_interruptions_total', { instance_type: 'small', zone: 'zone-a', event });
  const shown = () => metrics.read('spindrift_spot_pool_interruption_rate', { instance_type: 'small', zone: 'zone-a' });
  return { clock, keeper, notice, events, shown };
}

describe('what is known of risk', () => {
  it('rises with notices that a machine is taken back or in danger, and is shown', async () => {
    const { keeper, notice, events, shown } = world();
    expect(keeper.recordNotice(notice('rebalance'), claim())).toBe(true);
    const warned = keeper.rate(POOL);
    expect(warned).toBeGreaterThan(PRIOR);
    expect(keeper.recordNotice(notice('spot-interruption'), claim())).toBe(true);
    expect(keeper.rate(POOL)).toBeGreaterThan(warned);
    expect([await events('rebalance'), await events('interruption')]).toEqual([1, 1]);
    expect(await shown()).toBe(keeper.rate(POOL));
  });

  it('counts what is said twice once, also when the machine is gone meanwhile', async () => {
    const { keeper, notice, events } = world();
    keeper.recordNotice(notice('spot-interruption'), claim());
    expect(keeper.recordNotice(notice('spot-interruption'), claim())).toBe(false);
    expect(keeper.recordNotice(notice('preempted'), claim())).toBe(false);
    expect(keeper.recordNotice(notice('preempted', 'm-2'), claim())).toBe(true);
    expect(await events('interruption')).toBe(2);
  });

  it('counts each kind with its own weight, but not what a former process wrote on the claim', async () => {
    const { keeper, notice, events } = world();
    const written = (kind: NoticeKind) => {
      const { metadata, ...rest } = claim();
      return { ...rest, metadata: { ...metadata, annotations: { [ANNOTATION_INTERRUPTION]: kind } } };
    };
    expect(keeper.recordNotice(notice('rebalance'), written('rebalance'))).toBe(false);
    expect(keeper.recordNotice(notice('spot-interruption'), written('rebalance'))).toBe(true);
    expect(keeper.recordNotice(notice('preempted', 'm-2'), written('spot-interruption'))).toBe(false);
    expect(keeper.recordNotice(notice('spot-interruption', 'm-3'), written('terminated'))).toBe(true);
    expect([await events('rebalance'), await events('interruption')]).toEqual([undefined, 2]);
  });

  it('learns nothing from other notices, and nothing of machines that are not spot', () => {
    const { keeper, notice } = world();
    expect(keeper.recordNotice(notice('scheduled-maintenance'), claim())).toBe(false);
    expect(keeper.recordNotice(notice('terminated'), claim())).toBe(false);
    expect(keeper.recordNotice(notice('preempted'), claim('on-demand'))).toBe(false);
    expect(keeper.recordNotice(notice('preempted'), aNodeClaim())).toBe(false);
    expect(keeper.rate(POOL)).toBeCloseTo(PRIOR, 12);
  });

  it('takes a notice from the future for one of now', async () => {
    const { clock, keeper, notice } = world();
    keeper.recordNotice(notice('spot-interruption', 'm-1', 100 * HOUR), claim());
    await clock.advance(6 * HOUR);
    expect(keeper.rate(POOL)).toBeCloseTo(0.05, 2);
  });

  it('learns from launches that find no spot capacity, not from quotas, notices and on-demand', () => {
    const { clock, keeper } = world();
    const unavailable = new UnavailableOfferings({ clock });
    const stop = keeper.followLaunches(unavailable);
    const spot = { ...POOL, capacityType: 'spot' as const };
    for (const cause of ['notice', 'quota'] as const) {
      unavailable.mark(spot, 'out of the market', { cause });
      unavailable.restore(spot);
    }
    unavailable.mark({ ...spot, capacityType: 'on-demand' }, 'no capacity', { cause: 'capacity' });
    expect(keeper.rate(POOL)).toBeCloseTo(PRIOR, 12);
    unavailable.mark(spot, 'no capacity', { cause: 'capacity' });
    const once = keeper.rate(POOL);
    expect(once).toBeGreaterThan(PRIOR);
    unavailable.restore(spot);
    stop();
    unavailable.mark(spot, 'no capacity', { cause: 'capacity' });
    expect(keeper.rate(POOL)).toBe(once);
  });

  it('keeps what it learns while the status that it wrote before is on its way back', async () => {
    const { clock, keeper, notice } = world();
    const handlers: InformerHandler<SpotPolicy>[] = [];
    keeper.followPolicies({
      addHandler: (handler: never) => handlers.push(handler),
    } as unknown as Informer<SpotPolicy>);
    const late = notice('spot-interruption', 'm-2');
    await clock.advance(5000);
    keeper.recordNotice(notice('spot-interruption'), claim());
    await clock.advance(1000);
    const status = { riskiest: writeRisks(keeper.known(), undefined) };
    keeper.recordNotice(late, claim());
    const rate = keeper.rate(POOL);
    for (const { updated } of handlers) updated?.({ status } as SpotPolicy, {} as SpotPolicy);
    expect(keeper.rate(POOL)).toBeCloseTo(rate, 4);
  });

  it('falls with every hour in which nodes were there and none was taken back', async () => {
    const { clock, keeper, notice } = world();
    keeper.recordNotice(notice('spot-interruption'), claim());
    const nodes = Array.from({ length: 100 }, () => POOL);
    keeper.watch(nodes);
    const before = keeper.rate(POOL);
    await clock.advance(60_000);
    keeper.watch(nodes);
    expect(keeper.known()).toMatchObject([{ nodeHours: expect.closeTo(100 / 60, 9) }]);
    expect(keeper.rate(POOL)).toBeLessThan(before);
  });

  it('is no longer shown once it is forgotten', async () => {
    const { clock, keeper, notice, shown } = world();
    keeper.recordNotice(notice('spot-interruption'), claim());
    await clock.advance(40 * HOUR);
    keeper.watch([]);
    expect(await shown()).toBeUndefined();
    expect(keeper.known()).toEqual([]);
  });
});
