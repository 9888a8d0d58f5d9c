/** What this process knows of the risk of spot pools: fed by notices, failed launches and the nodes there are. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { type RiskEvent, RiskModel } from '../../engine/risk/risk-model.ts';
import { RiskPrices } from '../../engine/risk/risk-prices.ts';
import type { SpotPool } from '../../engine/spot/spot-pool.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { type RiskMetrics, riskMetrics } from './metrics.ts';

export interface RiskKeeperOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly model?: RiskModel;
}

/** What notices say of a pool; the others say nothing of it. */
const EVENTS: Readonly<Partial<Record<NoticeKind, RiskEvent>>> = {
  'spot-interruption': 'interruption',
  preempted: 'interruption',
  rebalance: 'rebalance',
};

/** Machines whose notices are remembered, so that what is said twice counts once. */
const REMEMBERED = 20_000;

export class RiskKeeper {
  readonly model: RiskModel;
  readonly #clock: Clock;
  readonly #prices: RiskPrices;
  readonly #metrics: RiskMetrics;
  readonly #heard = new Set<string>();

  constructor({ clock, metrics, model = new RiskModel() }: RiskKeeperOptions) {
    this.#clock = clock;
    this.model = model;
    this.#prices = new RiskPrices(model);
    this.#metrics = riskMetrics(metrics);
  }

  /** A notice about the machine of a claim; false when it tells nothing new about a spot pool. */
  recordNotice(notice: Notice, claim: NodeClaim): boolean {
    const event = EVENTS[notice.kind];
    const pool = spotPoolOf(claim);
    if (event === undefined || pool === undefined) return false;
    if (!this.#isNew(`${event} ${notice.providerID}`)) return false;
    this.#record(pool, event, notice.at);
    return true;
  }

  /** A launch found no spot capacity. */
  recordLaunchFailure(pool: SpotPool): void {
    this.#record(pool, 'launch-failure', this.#clock.now());
  }

  /** Interruptions to expect in a pool, per node and hour. */
  rate(pool: SpotPool): number {
    return this.model.rate(pool, this.#clock.now());
  }

  /** What a node class sells, with risk in the prices of spot; the same array while nothing that matters changed. */
  priced(types: readonly InstanceType[], weight: number): readonly InstanceType[] {
    return this.#prices.of(types, weight, this.#clock.now());
  }

  #record(pool: SpotPool, event: RiskEvent, at: number): void {
    const now = this.#clock.now();
    // A cloud's clock may be ahead of ours.
    this.model.record(pool, event, Math.min(at, now));
    const labels = { instance_type: pool.instanceType, zone: pool.zone };
    this.#metrics.events.add({ ...labels, event });
    this.#metrics.rate.set(labels, this.model.rate(pool, now));
  }

  #isNew(key: string): boolean {
    if (this.#heard.has(key)) return false;
    this.#heard.add(key);
    const [oldest] = this.#heard;
    if (this.#heard.size > REMEMBERED && oldest !== undefined) this.#heard.delete(oldest);
    return true;
  }
}

/** The spot pool that the machine of a claim is in; undefined when it is not spot, or not launched. */
export function spotPoolOf({ metadata }: NodeClaim): SpotPool | undefined {
  const { labels = {} } = metadata;
  const instanceType = labels[LABEL_INSTANCE_TYPE];
  const zone = labels[LABEL_ZONE];
  if (labels[LABEL_CAPACITY_TYPE] !== 'spot' || instanceType === undefined || zone === undefined) return undefined;
  return { instanceType, zone };
}
