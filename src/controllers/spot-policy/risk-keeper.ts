/** Interruption risk of spot pools, learnt from notices, failed launches and the running spot nodes. */
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

/** Notice kinds that count toward a spot pool's interruption rate. */
const EVENTS: Readonly<Partial<Record<NoticeKind, RiskEvent>>> = {
  'spot-interruption': 'interruption',
  preempted: 'interruption',
  rebalance: 'rebalance',
};

/** Remembered notices, so that a repeated notice counts once. */
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

  /** Records a notice about the machine of a claim; false if it adds nothing to the risk of a spot pool. */
  recordNotice(notice: Notice, claim: NodeClaim): boolean {
    const event = EVENTS[notice.kind];
    const pool = spotPoolOf(claim.metadata.labels);
    if (event === undefined || pool === undefined) return false;
    const known = interruptionOf(claim);
    // The process that wrote the notice on the claim has counted it.
    if (known !== undefined && EVENTS[known.kind] === event) return false;
    if (!this.#heard.add(`${event} ${notice.machine}`)) return false;
    this.#record(pool, event, notice.at);
    return true;
  }

  /** Records launches that fail for lack of spot capacity. Call the result to stop. */
  followLaunches(unavailable: UnavailableOfferings): () => void {
    return unavailable.onMark(({ offering: { capacityType, instanceType, zone }, cause }) => {
      if (cause === 'capacity' && capacityType === 'spot' && instanceType !== undefined && zone !== undefined)
        this.#record({ instanceType, zone }, 'launch-failure', this.#clock.now());
    });
  }

  /** Reads the risk that the leader, or a former process, wrote on SpotPolicies. Call the result to stop. */
  followPolicies(policies: Informer<SpotPolicy>): () => void {
    const take = ({ status }: SpotPolicy): void => this.#model.restore(readRisks(status));
    return policies.addHandler({ added: take, updated: take });
  }

  /** Adds the time since the last call as exposure of each spot node; one entry per node. */
  watch(nodes: readonly SpotPool[]): void {
    const now = this.#clock.now();
    const elapsed = this.#clock.elapsed();
    const hours = (elapsed - (this.#watchedAt ?? elapsed)) / HOUR_MS;
    this.#watchedAt = elapsed;
    if (hours > 0) for (const pool of nodes) this.#model.expose(pool, hours, now);
    for (const pool of this.#model.forgetQuiet(now)) this.#metrics.rate.remove(labelsOf(pool));
    for (const pool of this.#model.known(now)) this.#metrics.rate.set(labelsOf(pool), this.#model.rate(pool, now));
  }

  /** Expected interruptions in a spot pool, per node and hour. */
  rate(pool: SpotPool): number {
    return this.#model.rate(pool, this.#clock.now());
  }

  /** The known risk of all spot pools, with its rate. */
  known(): (KnownRisk & { readonly rate: number })[] {
    const now = this.#clock.now();
    return this.#model.known(now).map((known) => ({ ...known, rate: this.#model.rate(known, now) }));
  }

  /** Instance types with risk-adjusted spot prices; the same array while nothing relevant changed. */
  priced(types: readonly InstanceType[], weight: number): readonly InstanceType[] {
    return this.#prices.of(types, weight, this.#clock.now());
  }

  #record(pool: SpotPool, event: RiskEvent, at: number): void {
    const now = this.#clock.now();
    // The clock of the cloud may be ahead.
    this.#model.record(pool, event, Math.min(at, now));
    this.#metrics.events.add({ ...labelsOf(pool), event });
    this.#metrics.rate.set(labelsOf(pool), this.#model.rate(pool, now));
  }
}

function labelsOf({ instanceType, zone }: SpotPool): { instance_type: string; zone: string } {
  return { instance_type: instanceType, zone };
}
