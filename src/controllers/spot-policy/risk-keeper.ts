/** What this process knows of the risk of spot pools: fed by notices, failed launches and the nodes there are. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import type { UnavailableOfferings } from '../../cloud/unavailable-offerings.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { type KnownRisk, type RiskEvent, RiskModel } from '../../engine/risk/risk-model.ts';
import { RiskPrices } from '../../engine/risk/risk-prices.ts';
import type { SpotPool } from '../../engine/spot/spot-pool.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { RecentKeys } from '../../platform/recent-keys.ts';
import { interruptionOf } from '../interruption/interruption-of-claim.ts';
import { type RiskMetrics, riskMetrics } from './metrics.ts';
import { readRisks } from './risk-status.ts';
import { spotPoolOf } from './spot-pool-of.ts';

export interface RiskKeeperOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** What notices say of a pool; the others say nothing of it. */
const EVENTS: Readonly<Partial<Record<NoticeKind, RiskEvent>>> = {
  'spot-interruption': 'interruption',
  preempted: 'interruption',
  rebalance: 'rebalance',
};

/** Machines whose notices are remembered, so that what is said twice counts once. */
const REMEMBERED = 20_000;
const HOUR_MS = 3_600_000;

export class RiskKeeper {
  readonly #clock: Clock;
  readonly #model = new RiskModel();
  readonly #prices = new RiskPrices(this.#model);
  readonly #metrics: RiskMetrics;
  readonly #heard = new RecentKeys(REMEMBERED);
  #watchedAt: number | undefined;

  constructor({ clock, metrics }: RiskKeeperOptions) {
    this.#clock = clock;
    this.#metrics = riskMetrics(metrics, () => this.#model.overallRate(clock.now()));
  }

  /** A notice about the machine of a claim; false when it tells nothing new about a spot pool. */
  recordNotice(notice: Notice, claim: NodeClaim): boolean {
    const event = EVENTS[notice.kind];
    const pool = spotPoolOf(claim.metadata.labels);
    if (event === undefined || pool === undefined) return false;
    const known = interruptionOf(claim);
    // Whoever wrote that on the claim has counted it, also a former process.
    if (known !== undefined && EVENTS[known.kind] === event) return false;
    if (!this.#heard.add(`${event} ${notice.machine}`)) return false;
    this.#record(pool, event, notice.at);
    return true;
  }

  /** Hears of launches that find no spot capacity. Call the result to stop. */
  followLaunches(unavailable: UnavailableOfferings): () => void {
    return unavailable.onMark(({ offering: { capacityType, instanceType, zone }, cause }) => {
      if (cause === 'capacity' && capacityType === 'spot' && instanceType !== undefined && zone !== undefined)
        this.#record({ instanceType, zone }, 'launch-failure', this.#clock.now());
    });
  }

  /** Takes over what was written on policies: by a former process, or by the one that leads. Call the result to stop. */
  followPolicies(policies: Informer<SpotPolicy>): () => void {
    const take = ({ status }: SpotPolicy): void => this.#model.restore(readRisks(status));
    return policies.addHandler({ added: take, updated: take });
  }

  /** So many nodes are in each spot pool now, and were since the last time. */
  watch(nodes: readonly SpotPool[]): void {
    const now = this.#clock.now();
    const elapsed = this.#clock.elapsed();
    const hours = (elapsed - (this.#watchedAt ?? elapsed)) / HOUR_MS;
    this.#watchedAt = elapsed;
    if (hours > 0) for (const pool of nodes) this.#model.expose(pool, hours, now);
    for (const pool of this.#model.forgetQuiet(now)) this.#metrics.rate.remove(labelsOf(pool));
    for (const pool of this.#model.known(now)) this.#metrics.rate.set(labelsOf(pool), this.#model.rate(pool, now));
  }

  /** Interruptions to expect in a pool, per node and hour. */
  rate(pool: SpotPool): number {
    return this.#model.rate(pool, this.#clock.now());
  }

  /** All that is known now, with what it means. */
  known(): (KnownRisk & { readonly rate: number })[] {
    const now = this.#clock.now();
    return this.#model.known(now).map((known) => ({ ...known, rate: this.#model.rate(known, now) }));
  }

  /** What a node class sells, with risk in the prices of spot; the same array while nothing that matters changed. */
  priced(types: readonly InstanceType[], weight: number): readonly InstanceType[] {
    return this.#prices.of(types, weight, this.#clock.now());
  }

  #record(pool: SpotPool, event: RiskEvent, at: number): void {
    const now = this.#clock.now();
    // A cloud's clock may be ahead of ours.
    this.#model.record(pool, event, Math.min(at, now));
    this.#metrics.events.add({ ...labelsOf(pool), event });
    this.#metrics.rate.set(labelsOf(pool), this.#model.rate(pool, now));
  }
}

function labelsOf({ instanceType, zone }: SpotPool): { instance_type: string; zone: string } {
  return { instance_type: instanceType, zone };
}
