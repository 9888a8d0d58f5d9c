/** AWSMachine: `spotMarketOptions` or `marketType: Spot` make an instance spot, always one-time and terminated when taken back. */
import { type MachineSettings, objectAt, type RawSpec, type SettingsProblem, textAt } from './machine-settings.ts';

export function awsMachineSettings(spec: RawSpec): MachineSettings {
  const options = objectAt(spec, 'spotMarketOptions');
  const market = textAt(spec, 'marketType');
  const isSpot = market === 'Spot' || (market === undefined && options !== undefined);
  const maxPrice = priceOf(options?.maxPrice);
  const zone = textAt(spec, 'failureDomain');
  const instanceType = textAt(spec, 'instanceType');
  return {
    provider: 'aws',
    ...(instanceType !== undefined && { instanceType }),
    ...(zone !== undefined && { zone }),
    ...(isSpot && { spot: { ...(maxPrice !== undefined && { maxPrice }), staysWhenEvicted: false } }),
    problems: problemsOf(spec, options, market, isSpot),
  };
}

function problemsOf(
  spec: RawSpec,
  options: RawSpec | undefined,
  market: string | undefined,
  isSpot: boolean,
): readonly SettingsProblem[] {
  const refused = (field: string, message: string): SettingsProblem => ({ severity: 'refused', field, message });
  const request = textAt(options ?? {}, 'spotInstanceType');
  const behaviour = textAt(options ?? {}, 'instanceInterruptionBehavior');
  return [
    ...(options !== undefined && (market === 'OnDemand' || market === 'CapacityBlock')
      ? [
          refused(
            'spotMarketOptions',
            `goes only with marketType Spot, and marketType is ${market}: remove one of them`,
          ),
        ]
      : []),
    ...(isSpot && textAt(spec, 'capacityReservationId') !== undefined
      ? [refused('capacityReservationId', 'cannot be used by a spot instance: remove it, or the spot fields')]
      : []),
    ...(request !== undefined && request !== 'one-time'
      ? [
          refused(
            'spotMarketOptions.spotInstanceType',
            `is ${request}: only one-time keeps one machine to one instance`,
          ),
        ]
      : []),
    ...(behaviour !== undefined && behaviour !== 'terminate'
      ? [
          refused(
            'spotMarketOptions.instanceInterruptionBehavior',
            `is ${behaviour}: only terminate is possible for one-time requests`,
          ),
        ]
      : []),
    ...(isSpot && objectAt(spec, 'hibernationOptions')?.configured === true
      ? [refused('hibernationOptions', 'a spot instance that hibernates is never given back: remove it')]
      : []),
  ];
}

/** A price; a number is taken too, as YAML makes one of digits without quotes. */
function priceOf(value: unknown): string | undefined {
  if (typeof value === 'number') return `${value}`;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
