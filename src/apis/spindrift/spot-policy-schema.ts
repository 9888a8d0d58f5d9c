/** The schema of SpotPolicy, spindrift.dev/v1alpha1. An empty spec holds the defaults of pools without a policy. */
import { conditions } from '../karpenter/condition-schema.ts';
import { CAPACITY_TYPES } from '../karpenter/labels.ts';
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

/** Reactions to a rebalance recommendation: a machine is at risk, without a deadline. */
export const REBALANCE_ACTIONS = ['Event', 'Cordon', 'Replace'] as const;

/** How the flavors of a model and capacity types are ranked. */
export const FLAVOR_ORDERS = ['Strict', 'SpotFirst', 'Price', 'Weight'] as const;

const value = (description: string): Schema<string> =>
  text(description, { maxLength: 63, pattern: LABEL_VALUE, patternMessage: LABEL_VALUE_WORDS });

const condition = object(
  'One condition on a label.',
  {
    key: required(text('The label.', { maxLength: 317, pattern: QUALIFIED_NAME })),
    operator: required(choice('The operator.', ['In', 'NotIn', 'Exists', 'DoesNotExist'])),
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
  'Selects NodePools by their labels; defaults to all NodePools.',
  {
    matchLabels: map('Labels that a NodePool must have.', value('The value.'), { maxProperties: 50 }),
    matchExpressions: list('Conditions on its labels; all of them must hold.', condition, { maxItems: 50 }),
  },
  {
    rules: [
      {
        // The API server prunes unknown fields first: labels without matchLabels would select everything.
        rule: 'has(self.matchLabels) || has(self.matchExpressions)',
        message:
          'nodePoolSelector names no labels: write them under matchLabels, as in matchLabels: {spot: careful}, or leave nodePoolSelector out for every NodePool',
      },
    ],
  },
);

const percent = (description: string, least: number, message: string): Schema<number> =>
  integer(description, { format: 'int32', rules: [{ rule: `self >= ${least} && self <= 100`, message }] });

const onDemand = object('The nodes of each NodePool that are on-demand or reserved, whatever spot costs.', {
  base: defaulted(
    0,
    integer('A fixed number of nodes.', {
      format: 'int32',
      rules: [{ rule: 'self >= 0', message: 'base is a number of nodes: write 0 or more' }],
    }),
  ),
  percent: defaulted(
    0,
    percent('A percentage of the nodes beyond base, rounded up.', 0, 'percent is a share: write 0 to 100'),
  ),
  // Names of other tools: the API server would prune them, and nothing would be on-demand.
  baseCapacity: removed('integer', 'write it as base'),
  percentage: removed('integer', 'write it as percent'),
  percentageAboveBaseCapacity: removed('integer', 'write it as percent'),
});

const returnToSpot = object('When on-demand machines that replaced unavailable spot are replaced by spot again.', {
  after: defaulted(
    '15m',
    durationOrNever('The minimum time such a machine is kept; Never keeps it until something else disrupts it.'),
  ),
  budget: defaulted(
    '10%',
    text(
      'How many of them are replaced at the same time in each NodePool: a number, or a percentage of its nodes, rounded up.',
      {
        pattern: '^((100|[0-9]{1,2})%|[0-9]+)$',
        patternMessage: 'budget is a percentage or a number of nodes, as in "10%" or "5"',
        maxLength: 20,
      },
    ),
  ),
});

/** The weight of a flavor on a capacity type. */
export const FLAVOR_WEIGHT = object('The weight of a flavor on a capacity type.', {
  flavor: required(text('The name of the flavor, as OpenModels call it.', { minLength: 1, maxLength: 253 })),
  capacityType: required(
    choice(
      'The capacity type. Reserved capacity without a weight of its own has that of spot: it is paid for already.',
      CAPACITY_TYPES,
    ),
  ),
  weight: required(
    integer('Higher weights are tried first.', {
      format: 'int32',
      rules: [
        { rule: 'self >= 1 && self <= 100', message: 'weight is a rank: write 1 to 100, the highest is tried first' },
      ],
    }),
  ),
});

const spec = {
  nodePoolSelector,
  priority: defaulted(
    0,
    integer(
      'Of several policies that select a NodePool, the one with the highest priority applies; ties go to the first by name.',
      {
        format: 'int32',
      },
    ),
  ),
  onRebalance: defaulted(
    'Event',
    choice(
      'The reaction to a rebalance recommendation. Event: only an event. Cordon: also cordons the node. Replace: launches a replacement and drains the node.',
      REBALANCE_ACTIONS,
    ),
  ),
  onDemand: defaulted({}, onDemand),
  maxPercentPerSpotPool: defaulted(
    100,
    percent(
      'The maximum percentage of the nodes of a NodePool in one spot pool (one instance type in one zone); one node is always allowed.',
      1,
      'maxPercentPerSpotPool is a share: write 1 to 100',
    ),
  ),
  riskWeight: defaulted(
    1,
    number(
      'The cost of an interruption, in hours of the machine: plans use price × (1 + riskWeight × expected interruptions per hour). 0 ignores risk.',
      {
        rules: [
          { rule: 'self >= 0.0 && self <= 1000.0', message: 'riskWeight is in hours of the machine: write 0 to 1000' },
        ],
      },
    ),
  ),
  unavailableFor: defaulted(
    '3m',
    duration('How long a NodePool does not use an offering after it had no capacity, or after an interruption.', [
      { rule: "self.matches('[1-9]')", message: 'unavailableFor must be longer than nothing: write at least 1s' },
    ]),
  ),
  returnToSpot: defaulted({}, returnToSpot),
  flavorOrder: choice(
    'The order of flavors for pods that serve a model (llmaz.io OpenModel). Strict: a later flavor only where no earlier one is available, on spot or on-demand. SpotFirst: every flavor on spot or reserved machines before any on-demand. Price: the cheapest. Weight: by flavorWeights. It applies to all such pods; of several policies the one with the highest priority decides. The pod annotation spindrift.dev/flavor-order wins. Defaults to Strict.',
    FLAVOR_ORDERS,
  ),
  flavorWeights: list(
    'With flavorOrder Weight: flavors on capacity types, the highest weight first. Equal weights follow the order of the flavors; flavors on capacity types without a weight are tried last, in the order of the flavors.',
    FLAVOR_WEIGHT,
    {
      minItems: 1,
      maxItems: 100,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['flavor', 'capacityType'],
    },
  ),
};

export const SPOT_POLICY_SPEC = object('How NodePools use spot capacity.', spec, {
  rules: [
    {
      rule: "!has(self.flavorOrder) || self.flavorOrder != 'Weight' || has(self.flavorWeights)",
      message:
        'flavorOrder Weight needs weights: add flavorWeights, as in flavorWeights: [{flavor: l4, capacityType: spot, weight: 100}]',
    },
    {
      rule: "!has(self.flavorWeights) || (has(self.flavorOrder) && self.flavorOrder == 'Weight')",
      message: 'flavorWeights needs flavorOrder Weight: write flavorOrder: Weight, or remove flavorWeights',
    },
  ],
});

const riskyPool = object('A spot pool and its observed interruptions.', {
  instanceType: required(text('The instance type.')),
  zone: required(text('The zone.')),
  interruptionsPerHour: required(number('Expected interruptions per node and hour.')),
  events: required(number('Observed interruptions; older ones and warnings count less.')),
  nodeHours: required(number('Observed node hours; older ones count less.')),
  at: required(time('When these values were computed.')),
});

export const SPOT_POLICY_STATUS = object('The effect of the policy.', {
  nodePools: list('The NodePools that the policy applies to.', text('A name.')),
  nodes: object('The nodes of these NodePools, by capacity type.', {
    spot: required(integer('Spot.')),
    onDemand: required(integer('On-demand.')),
    reserved: required(integer('Reserved.')),
  }),
  riskiest: list('The spot pools with the highest risk; a restarted controller continues from these.', riskyPool, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['instanceType', 'zone'],
  }),
  conditions: conditions('reason required'),
});
