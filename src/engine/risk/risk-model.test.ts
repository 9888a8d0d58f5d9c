import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RiskEvent, RiskModel } from './risk-model.ts';

const HOUR = 3_600_000;
const POOL = { instanceType: 'm5.large', zone: 'a' };
const OTHER = { instanceType: 'm5.large', zone: 'b' };
const PRIOR = 0.0005;

type Happening = { readonly at: number } & (
  | { readonly kind: 'event'; readonly event: RiskEvent }
  | { readonly kind: 'hours'; readonly nodeHours: number }
);

const moments = fc.integer({ min: 0, max: 100 * HOUR });
const events = fc.constantFrom<RiskEvent>('interruption', 'rebalance', 'launch-failure');
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constant('event' as const), event: events, at: moments }),
  fc.record({
    kind: fc.constant('hours' as const),
    nodeHours: fc.double({ min: 0, max: 500, noNaN: true }),
    at: moments,
  }),
);
const stories = fc.array(happening, { size: 'max', maxLength: 40 });

function modelOf(story: readonly Happening[], options = {}): RiskModel {
  const model = new RiskModel(options);
  for (const one of story) {
    if (one.kind === 'event') model.record(POOL, one.event, one.at);
    else model.expose(POOL, one.nodeHours, one.at);
  }
  return model;
}

it('is for all pools together what was seen per hour of a node, and nothing where there were no nodes', () => {
  const model = new RiskModel();
  expect(model.overallRate(0)).toBe(0);
  model.record(POOL, 'interruption', 0);
  model.expose(POOL, 10, 0);
  model.expose(OTHER, 90, 0);
  expect(model.overallRate(0)).toBeCloseTo(0.01, 12);
  expect(model.overallRate(6 * HOUR)).toBeCloseTo(0.01, 12);
});

describe('the risk of a spot pool', () => {
  it('is a small prior while nothing is known', () => {
    expect(new RiskModel().rate(POOL, 0)).toBeCloseTo(PRIOR, 12);
  });

  it('is the interruptions there were for the hours that nodes were there, once there were many of them', () => {
    const model = new RiskModel();
    model.expose(POOL, 1000, 0);
    for (let count = 0; count < 200; count++) model.record(POOL, 'interruption', 0);
    expect(model.rate(POOL, 0)).toBeCloseTo(0.2, 2);
  });

  it('counts an interruption more than a warning, and that more than a launch that found nothing', () => {
    const rates = (['interruption', 'rebalance', 'launch-failure'] as const).map((event) =>
      modelOf([{ kind: 'event', event, at: 0 }]).rate(POOL, 0),
    );
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
    expect(new Set(rates).size).toBe(3);
  });

  it('says nothing about other pools', () => {
    const model = modelOf([{ kind: 'event', event: 'interruption', at: 0 }]);
    expect(model.rate(OTHER, 0)).toBeCloseTo(PRIOR, 12);
  });

  it('counts half after each half-life', () => {
    const model = new RiskModel({ halfLifeMs: HOUR, priorRate: 0 });
    model.record(POOL, 'interruption', 0);
    const rates = [0, 1, 2, 3].map((hours) => model.rate(POOL, hours * HOUR));
    expect(rates).toEqual([0.1, 0.05, 0.025, 0.0125]);
  });

  it('goes steadily towards the prior while nothing happens', () => {
    fc.assert(
      fc.property(stories, fc.array(fc.integer({ min: 0, max: 1000 * HOUR })), (story, waits) => {
        const model = modelOf(story);
        const far = waits
          .toSorted((a, b) => a - b)
          .map((wait) => Math.abs(model.rate(POOL, 100 * HOUR + wait) - PRIOR));
        for (const [index, distance] of far.entries())
          expect(distance).toBeLessThanOrEqual((far[index - 1] ?? 1e9) + 1e-12);
      }),
    );
  });

  it('is never lowered by a notice, whenever it arrives', () => {
    fc.assert(
      fc.property(stories, events, moments, (story, event, at) => {
        const before = modelOf(story).rate(POOL, 100 * HOUR);
        const after = modelOf([...story, { kind: 'event', event, at }]).rate(POOL, 100 * HOUR);
        expect(after).toBeGreaterThan(before);
      }),
    );
  });

  it('does not depend on the order in which notices arrive', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const inTime = modelOf(story.toSorted((a, b) => a.at - b.at)).rate(POOL, 100 * HOUR);
        expect(modelOf(story).rate(POOL, 100 * HOUR)).toBeCloseTo(inTime, 9);
      }),
    );
  });

  it('is the same after it was written down and read again', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const model = modelOf(story);
        const restored = new RiskModel();
        restored.restore(JSON.parse(JSON.stringify(model.known(100 * HOUR))));
        expect(restored.rate(POOL, 101 * HOUR)).toBeCloseTo(model.rate(POOL, 101 * HOUR), 12);
      }),
    );
  });

  it('is what somebody else knows, where that is more', () => {
    const model = new RiskModel({ halfLifeMs: HOUR, priorRate: 0 });
    model.record(POOL, 'interruption', HOUR);
    model.restore([{ ...POOL, events: 8, nodeHours: 0, at: 0 }]);
    expect(model.rate(POOL, HOUR)).toBe(0.4);
    model.restore([{ ...POOL, events: 3, nodeHours: 30, at: HOUR }]);
    expect(model.rate(POOL, HOUR)).toBe(0.1);
    model.restore([{ ...POOL, events: 5, nodeHours: 15, at: 2 * HOUR }]);
    expect(model.rate(POOL, 2 * HOUR)).toBe(0.2);
  });

  it('is not changed by what was known before it was learned, whenever that is read back', () => {
    fc.assert(
      fc.property(stories, stories, moments, (before, after, at) => {
        const model = modelOf(before);
        const written = model.known(at);
        for (const one of after) {
          if (one.kind === 'event') model.record(POOL, one.event, one.at);
          else model.expose(POOL, one.nodeHours, one.at);
        }
        const rate = model.rate(POOL, 100 * HOUR);
        model.restore(written);
        expect(model.rate(POOL, 100 * HOUR)).toBeCloseTo(rate, 9);
      }),
    );
  });

  it('is forgotten once next to nothing of it counts', () => {
    const model = modelOf([{ kind: 'event', event: 'interruption', at: 0 }]);
    model.expose(OTHER, 1000, 0);
    expect(model.forgetQuiet(39 * HOUR)).toEqual([]);
    expect(model.forgetQuiet(40 * HOUR)).toMatchObject([POOL]);
    expect(model.known(40 * HOUR)).toMatchObject([OTHER]);
  });

  it('is forgotten for the least eventful pools when there are too many', () => {
    const model = new RiskModel({ most: 2 });
    const named = (instanceType: string) => ({ instanceType, zone: 'a' });
    const remembered = (): string[] => model.known(HOUR).map(({ instanceType }) => instanceType);
    model.record(named('often'), 'interruption', 0);
    model.record(named('often'), 'interruption', 0);
    model.record(named('once'), 'interruption', 0);
    model.expose(named('quiet'), 1, 0);
    expect(remembered()).toEqual(['often', 'once']);
    model.record(named('later'), 'interruption', HOUR);
    expect(remembered()).toEqual(['often', 'later']);
  });
});
