/** The account that a SimulatedNodeClass describes. */
import { durationMs } from '../../apis/karpenter/duration.ts';
import type { SimulatedNodeClassSpec } from '../../apis/spindrift/simulated-node-class.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import type { AccountSettings, FaultSettings, OfferingOverride, SpotMarketSettings } from './account-settings.ts';
import { NO_FAULTS } from './account-settings.ts';
import { REGION } from './catalogue.ts';

/** Time from termination until a machine is gone. */
const STOP_MS = 1_000;

/** The account settings of a node class with this catalogue. */
export function accountSettings(spec: SimulatedNodeClassSpec, catalogue: readonly InstanceType[]): AccountSettings {
  return {
    dialect: spec.dialect,
    regions: spec.regions ?? [{ name: REGION, zones: zonesOf(catalogue) }],
    catalogue,
    ...(spec.seed !== undefined && { seed: spec.seed }),
    market: marketSettings(spec.spotMarket),
    reservations: (spec.reservations ?? []).map(({ endTime, ...reservation }) => {
      const endsAt = parseTimestamp(endTime);
      return endsAt === undefined ? reservation : { ...reservation, endsAt };
    }),
    overrides: (spec.overrides ?? []).map(offeringOverride),
    faults: faultSettings(spec.faults),
    startMs: durationMs(spec.registrationDelay) ?? 0,
    stopMs: STOP_MS,
  };
}

/** A problem in the settings that the schema cannot catch. Undefined if there is none. */
export function settingsProblem({
  reservations,
  catalogue,
  regions,
}: AccountSettings): { readonly reason: string; readonly message: string } | undefined {
  const types = new Set(catalogue.map((type) => type.name));
  const sold = zonesOf(catalogue);
  const zones = new Set(regions.flatMap((region) => region.zones).filter((zone) => sold.includes(zone)));
  if (zones.size === 0) {
    const message = `the catalogue sells nothing in these regions: name some of its zones, ${sold.join(', ')}`;
    return { reason: 'RegionsInvalid', message };
  }
  const lost = reservations.find(({ instanceType, zone }) => !types.has(instanceType) || !zones.has(zone));
  if (lost === undefined) return undefined;
  const what = types.has(lost.instanceType) ? `zone ${lost.zone}` : `instance type ${lost.instanceType}`;
  const message = `reservation ${lost.id} names ${what}, which the catalogue does not have: name one that it has`;
  return { reason: 'ReservationInvalid', message };
}

function zonesOf(sold: readonly InstanceType[]): readonly string[] {
  return [...new Set(sold.flatMap((type) => type.offerings.map((offering) => offering.zone)))].sort();
}

function marketSettings(market: SimulatedNodeClassSpec['spotMarket']): SpotMarketSettings {
  const { notice, capacityPerPool, ...rest } = market;
  return { ...rest, noticeMs: durationMs(notice) ?? 0, ...(capacityPerPool !== undefined && { capacityPerPool }) };
}

function offeringOverride(override: NonNullable<SimulatedNodeClassSpec['overrides']>[number]): OfferingOverride {
  const { capacityType, instanceType, zone, capacity, priceFactor } = override;
  return {
    capacityType,
    ...(instanceType !== '*' && { instanceType }),
    ...(zone !== '*' && { zone }),
    ...(capacity !== undefined && { capacity }),
    ...(priceFactor !== undefined && { priceFactor }),
  };
}

function faultSettings(faults: SimulatedNodeClassSpec['faults']): FaultSettings {
  const { latency, consistencyDelay, requestsPerSecond, ...rates } = faults;
  return {
    ...NO_FAULTS,
    ...rates,
    latencyMs: durationMs(latency) ?? 0,
    consistencyDelayMs: durationMs(consistencyDelay) ?? 0,
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
  };
}
