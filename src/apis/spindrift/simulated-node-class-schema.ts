/** The schema of SimulatedNodeClass, spindrift.dev/v1alpha1. An empty spec is a cloud with everything and without trouble. */
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

const spotMarket = object(
  'How the market of spot machines behaves; each pair of instance type and zone is a market of its own.',
  {
    volatility: defaulted(0.05, share('How far prices move in an hour, as a share of the price; 0 keeps them still.')),
    priceFactor: defaulted(1, number('All spot prices times this.', { minimum: 0, maximum: 1000 })),
    capacityPerPool: integer('How many machines each market has; without end when it is not given.', {
      minimum: 0,
      maximum: 1_000_000,
    }),
    interruptionsPerHour: defaulted(
      0,
      number('How often each market takes machines back, per hour on average.', { minimum: 0, maximum: 3600 }),
    ),
    interruptedShare: defaulted(0.3, share('Which share of its machines a market takes back at a time.')),
    correlation: defaulted(0.2, share('How likely the other markets of the zone take machines back at the same time.')),
    notice: defaulted('120s', shortDuration('How long before it is taken back a machine is told.')),
  },
);

const reservation = object('Machines that are paid for whether they run or not.', {
  id: required(name('The name of the reservation.')),
  instanceType: required(name('The instance type of its machines.')),
  zone: required(name('The zone of its machines.')),
  count: required(integer('How many machines are reserved.', { minimum: 0, maximum: 1_000_000 })),
  match: defaulted(
    'targeted',
    choice('Whether any machine of that type and zone uses it, or only those that ask for it.', ['open', 'targeted']),
  ),
  endTime: time(
    'When the reservation ends; its machines stay and are paid for as on-demand. Never when it is not given.',
  ),
});

const override = object('What is different for some offerings. Where several fit, the last in the list counts.', {
  capacityType: required(choice('The capacity type.', CAPACITY_TYPES)),
  instanceType: defaulted(EVERY, name('The instance type; * for all.')),
  zone: defaulted(EVERY, name('The zone; * for all.')),
  capacity: integer('How many machines there are; 0 for none left.', { minimum: 0, maximum: 1_000_000 }),
  priceFactor: number('The price times this.', { minimum: 0, maximum: 1000 }),
});

const faults = object('What goes wrong.', {
  latency: defaulted('0s', shortDuration('How long each call takes.')),
  errorRate: defaulted(0, share('Which share of the calls fails on the side of the cloud.')),
  hangRate: defaulted(0, share('Which share of the launches is never answered.')),
  launchFailureRate: defaulted(0, share('Which share of the launches finds no capacity.')),
  registrationFailureRate: defaulted(0, share('Which share of the machines never becomes a node.')),
  requestsPerSecond: integer('Calls beyond so many in a second are throttled; none are when it is not given.', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  consistencyDelay: defaulted('0s', shortDuration('How long a new machine is missing from lists.')),
});

const inRegions = 'self.regions.exists(region, item.zone in region.zones)';

export const SIMULATED_NODE_CLASS_SPEC = object(
  'A cloud that exists only in this program.',
  {
    catalog: defaulted('standard', choice('Which built-in list of instance types is sold.', ['standard'])),
    dialect: defaulted(
      'plain',
      choice('How the API of the cloud is shaped: after one of the clouds there are, with its bad habits.', [
        'plain',
        'fleet',
        'late-failure',
        'operations',
        'leftovers',
        'machines',
      ]),
    ),
    catalogFile: text(
      'A JSON file with InstanceTypes, on the machine that the autoscaler runs on, that is sold instead of the built-in list.',
      { minLength: 1, maxLength: 4096 },
    ),
    regions: list('The regions with their zones; those that the catalogue has when it is not given.', region, {
      minItems: 1,
      maxItems: 10,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
    seed: text(
      'Where chance starts; with the same seed the same things happen. The seed of the program when it is not given.',
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
    overrides: list('Offerings that have run out or cost something else.', override, {
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
  match: required(choice('Who may use it.', ['open', 'targeted'])),
  count: required(integer('How many machines are reserved.')),
  available: required(integer('How many of them are free.')),
  state: required(choice('Whether it can still be used.', ['active', 'expiring', 'expired'])),
  endTime: time('When it ends.'),
});

export const SIMULATED_NODE_CLASS_STATUS = object('What the autoscaler found.', {
  instanceTypes: integer('How many instance types the catalogue has.'),
  zones: list(
    'The zones there are.',
    object('A zone.', { name: required(text('Its name.')), region: required(text('Its region.')) }),
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  ),
  capacityReservations: list('The reservations there are.', reservationStatus, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['id'],
  }),
  conditions: conditions('reason required'),
});
