/** The schema of SpotPolicy, spindrift.dev/v1alpha1. An empty spec is what pools without a policy have. */
import { conditions } from '../karpenter/condition-schema.ts';
import { LABEL_VALUE, LABEL_VALUE_WORDS, QUALIFIED_NAME } from '../karpenter/requirement-schema.ts';
import {
  choice,
  defaulted,
  integer,
  list,
  map,
  number,
  object,
  removed,
  required,
  type Schema,
  text,
  time,
} from '../schema/schema.ts';
import { duration, durationOrNever } from './duration-schema.ts';

/** What is done when the cloud says that a machine is in danger, without a date. */
export const REBALANCE_ACTIONS = ['Event', 'Cordon', 'Replace'] as const;

/** How the flavors of a model and capacity types are ranked. */
export const FLAVOR_ORDERS = ['Strict', 'SpotFirst', 'Price'] as const;

const value = (description: string): Schema<string> =>
  text(description, { maxLength: 63, pattern: LABEL_VALUE, patternMessage: LABEL_VALUE_WORDS });

const condition = object(
  'One condition on a label.',
  {
    key: required(text('The label.', { maxLength: 317, pattern: QUALIFIED_NAME })),
    operator: required(choice('How it is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist'])),
    values: list('The values.', value('A value.'), { maxItems: 50 }),
  },
  {
    rules: [
      {
        rule: "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
        message: 'In and NotIn compare with values: add values, or write Exists or DoesNotExist',
      },
      {
        rule: "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
        message: 'Exists and DoesNotExist compare with nothing: remove values, or write In or NotIn',
      },
    ],
  },
);

const nodePoolSelector = object(
  'Which NodePools the policy is for, by their labels; all of them when it is not given.',
  {
    matchLabels: map('Labels that a NodePool must have.', value('The value.'), { maxProperties: 50 }),
    matchExpressions: list('Conditions on its labels; all of them must hold.', condition, { maxItems: 50 }),
  },
  {
    rules: [
      {
        // The API server drops what it does not know before it asks: labels without matchLabels would select everything.
        rule: 'has(self.matchLabels) || has(self.matchExpressions)',
        message:
          'nodePoolSelector names no labels: write them under matchLabels, as in matchLabels: {spot: careful}, or leave nodePoolSelector out for every NodePool',
      },
    ],
  },
);

const percent = (description: string, least: number, message: string): Schema<number> =>
  integer(description, { format: 'int32', rules: [{ rule: `self >= ${least} && self <= 100`, message }] });

const onDemand = object('How many nodes of each NodePool are on-demand or reserved, whatever spot would cost.', {
  base: defaulted(
    0,
    integer('The first so many nodes.', {
      format: 'int32',
      rules: [{ rule: 'self >= 0', message: 'base is a number of nodes: write 0 or more' }],
    }),
  ),
  percent: defaulted(
    0,
    percent('So many percent of the nodes beyond base, rounded up.', 0, 'percent is a share: write 0 to 100'),
  ),
  // What others call it: the API server would drop it, and nothing would be on-demand.
  baseCapacity: removed('integer', 'write it as base'),
  percentage: removed('integer', 'write it as percent'),
  percentageAboveBaseCapacity: removed('integer', 'write it as percent'),
});

const returnToSpot = object(
  'When machines are exchanged for spot that were bought on-demand because there was no spot.',
  {
    after: defaulted(
      '15m',
      durationOrNever('How long such a machine is kept at least; Never keeps it until something else takes it away.'),
    ),
    budget: defaulted(
      '10%',
      text('How many of them go at a time in each NodePool: so many, or so many percent of its nodes, rounded up.', {
        pattern: '^((100|[0-9]{1,2})%|[0-9]+)$',
        patternMessage: 'budget is a percentage or a number of nodes, as in "10%" or "5"',
        maxLength: 20,
      }),
    ),
  },
);

export const SPOT_POLICY_SPEC = object('How NodePools use spot capacity.', {
  nodePoolSelector,
  priority: defaulted(
    0,
    integer(
      'Where several policies select a NodePool, the one of the highest priority holds; of equals the first by name.',
      {
        format: 'int32',
      },
    ),
  ),
  onRebalance: defaulted(
    'Event',
    choice(
      'What is done when the cloud recommends to leave a machine: Event says so, Cordon also keeps new pods off it, Replace launches another and drains it.',
      REBALANCE_ACTIONS,
    ),
  ),
  onDemand: defaulted({}, onDemand),
  maxPercentPerSpotPool: defaulted(
    100,
    percent(
      'At most so many percent of the nodes of a NodePool are in one spot pool, that is of one instance type in one zone; one always may be.',
      1,
      'maxPercentPerSpotPool is a share: write 1 to 100',
    ),
  ),
  riskWeight: defaulted(
    1,
    number(
      'What an interruption costs, in hours of the machine: a spot price counts as price × (1 + riskWeight × interruptions expected per hour). 0 looks at prices alone.',
      {
        rules: [
          { rule: 'self >= 0.0 && self <= 1000.0', message: 'riskWeight is in hours of the machine: write 0 to 1000' },
        ],
      },
    ),
  ),
  unavailableFor: defaulted(
    '3m',
    duration('How long a NodePool does not try an offering again after it had no capacity, or took a machine back.', [
      { rule: "self.matches('[1-9]')", message: 'unavailableFor must be longer than nothing: write at least 1s' },
    ]),
  ),
  returnToSpot: defaulted({}, returnToSpot),
  flavorOrder: choice(
    'How machines are chosen for pods that serve a model with flavors (llmaz.io OpenModel): Strict takes a later flavor only where an earlier one cannot be had, on spot or on demand; SpotFirst tries every flavor on spot or reserved machines before any on demand; Price takes the cheapest of all. It holds for all such pods; of several policies the one of the highest priority decides, and the annotation spindrift.dev/flavor-order of a pod decides for that pod. Strict where nobody says anything.',
    FLAVOR_ORDERS,
  ),
});

const riskyPool = object('A spot pool, and what was learned about it.', {
  instanceType: required(text('The instance type.')),
  zone: required(text('The zone.')),
  interruptionsPerHour: required(number('Interruptions to expect, per node and hour.')),
  events: required(number('Interruptions seen, where older ones and mere warnings count less.')),
  nodeHours: required(number('Hours of nodes watched, where older ones count less.')),
  at: required(time('When this was so.')),
});

export const SPOT_POLICY_STATUS = object('What the policy does.', {
  nodePools: list('The NodePools it holds for.', text('A name.')),
  nodes: object('The nodes of these, by how they are paid for.', {
    spot: required(integer('Spot.')),
    onDemand: required(integer('On-demand.')),
    reserved: required(integer('Reserved.')),
  }),
  riskiest: list(
    'The riskiest spot pools, whoever uses them; after a restart, what is known starts from these.',
    riskyPool,
    {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['instanceType', 'zone'],
    },
  ),
  conditions: conditions('reason required'),
});
