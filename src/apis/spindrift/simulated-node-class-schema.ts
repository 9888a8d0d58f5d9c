/** The schema of SimulatedNodeClass, spindrift.dev/v1alpha1. An empty spec is a cloud with all instance types and no faults. */
import { conditions } from '../karpenter/condition-schema.ts';
import { CAPACITY_TYPES } from '../karpenter/labels.ts';
import {
  choice,
  defaulted,
  integer,
  list,
  number,
  object,
  required,
  type Schema,
  text,
  time,
} from '../schema/schema.ts';
import { shortDuration } from './duration-schema.ts';

const EVERY = '*';

const name = (description: string): Schema<string> => text(description, { minLength: 1, maxLength: 63 });
const share = (description: string): Schema<number> => number(description, { minimum: 0, maximum: 1 });

const region = object('A region with its zones.', {
  name: required(name('The name of the region.')),
  zones: required(
    list('The names of its zones.', name('A zone.'), { minItems: 1, maxItems: 20, 'x-kubernetes-list-type': 'set' }),
  ),
});

const spotMarket = object('How spot capacity behaves; each pair of instance type and zone is a spot pool.', {
  volatility: defaulted(0.05, share('How far prices move in an hour, as a share of the price; 0 keeps them still.')),
  priceFactor: defaulted(1, number('Multiplies all spot prices.', { minimum: 0, maximum: 1000 })),
  capacityPerPool: integer('The number of machines in each spot pool; defaults to unlimited.', {
    minimum: 0,
    maximum: 1_000_000,
  }),
  interruptionsPerHour: defaulted(
    0,
    number('The average number of times per hour that each spot pool interrupts machines.', {
      minimum: 0,
      maximum: 3600,
    }),
  ),
  interruptedShare: defaulted(0.3, share('The share of its machines that a spot pool interrupts each time.')),
  correlation: defaulted(
    0.2,
    share('The probability that each other spot pool of the zone interrupts machines at the same time.'),
  ),
  notice: defaulted('120s', shortDuration('The notice before an interruption.')),
});

const reservation = object('Reserved machines, which are paid for whether they run or not.', {
  id: required(name('The name of the reservation.')),
  instanceType: required(name('The instance type of its machines.')),
  zone: required(name('The zone of its machines.')),
  count: required(integer('The number of reserved machines.', { minimum: 0, maximum: 1_000_000 })),
  match: defaulted(
    'targeted',
    choice('open: any machine of that type and zone uses it. targeted: only machines that name it.', [
      'open',
      'targeted',
    ]),
  ),
  endTime: time('When the reservation ends; its machines then continue as on-demand. Defaults to never.'),
});

const override = object('Overrides for some offerings; the last match in the list counts.', {
  capacityType: required(choice('The capacity type.', CAPACITY_TYPES)),
  instanceType: defaulted(EVERY, name('The instance type; * for all.')),
  zone: defaulted(EVERY, name('The zone; * for all.')),
  capacity: integer('The number of machines; 0 for no capacity.', { minimum: 0, maximum: 1_000_000 }),
  priceFactor: number('Multiplies the price.', { minimum: 0, maximum: 1000 }),
});

const faults = object('Faults of the API and of machines.', {
  latency: defaulted('0s', shortDuration('The duration of each call.')),
  errorRate: defaulted(0, share('The share of calls that fail with a server error.')),
  hangRate: defaulted(0, share('The share of launches that are never answered.')),
  launchFailureRate: defaulted(0, share('The share of launches that find no capacity.')),
  registrationFailureRate: defaulted(0, share('The share of machines that never become a node.')),
  requestsPerSecond: integer('Calls beyond this rate per second are throttled; defaults to no limit.', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  consistencyDelay: defaulted('0s', shortDuration('How long a new machine is missing from list results.')),
});

const inRegions = 'self.regions.exists(region, item.zone in region.zones)';

export const SIMULATED_NODE_CLASS_SPEC = object(
  'The simulated cloud.',
  {
    catalog: defaulted('standard', choice('The built-in list of instance types.', ['standard'])),
    dialect: defaulted(
      'plain',
      choice('The real cloud whose API behaviour is imitated.', [
        'plain',
        'fleet',
        'late-failure',
        'operations',
        'leftovers',
        'machines',
      ]),
    ),
    catalogFile: text(
      'A JSON file of InstanceTypes, on the machine of the autoscaler, to use instead of the built-in list.',
      { minLength: 1, maxLength: 4096 },
    ),
    regions: list('The regions with their zones; defaults to those of the catalogue.', region, {
      minItems: 1,
      maxItems: 10,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
    seed: text(
      'The seed of prices, interruptions and faults; the same seed repeats them. Defaults to the seed of the program.',
      {
        maxLength: 253,
      },
    ),
    spotMarket: defaulted({}, spotMarket),
    reservations: list('Reserved capacity.', reservation, {
      maxItems: 100,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
    }),
    overrides: list('Offerings with a different capacity or price.', override, {
      maxItems: 1000,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['capacityType', 'instanceType', 'zone'],
    }),
    faults: defaulted({}, faults),
    registrationDelay: defaulted('1s', shortDuration('How long after its launch a machine becomes a node.')),
  },
  {
    rules: [
      {
        rule: `!has(self.regions) || !has(self.reservations) || self.reservations.all(item, ${inRegions})`,
        message: 'a reservation is in a zone that is not in regions: name one of their zones',
      },
      {
        rule: `!has(self.regions) || !has(self.overrides) || self.overrides.all(item, item.zone == '${EVERY}' || ${inRegions})`,
        message: 'an override names a zone that is not in regions: name one of their zones, or *',
      },
    ],
  },
);

const reservationStatus = object('A reservation, and how much of it is free.', {
  id: required(text('The name of the reservation.')),
  instanceType: required(text('The instance type of its machines.')),
  zone: required(text('The zone of its machines.')),
  match: required(choice('Which machines use it.', ['open', 'targeted'])),
  count: required(integer('The number of reserved machines.')),
  available: required(integer('The number of free machines.')),
  state: required(choice('Whether it can still be used.', ['active', 'expiring', 'expired'])),
  endTime: time('When it ends.'),
});

export const SIMULATED_NODE_CLASS_STATUS = object('The state that the autoscaler observed.', {
  instanceTypes: integer('The number of instance types in the catalogue.'),
  zones: list(
    'The zones.',
    object('A zone.', { name: required(text('Its name.')), region: required(text('Its region.')) }),
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  ),
  capacityReservations: list('The reservations.', reservationStatus, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['id'],
  }),
  conditions: conditions('reason required'),
});
