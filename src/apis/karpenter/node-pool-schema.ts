/** The schema of NodePool, karpenter.sh/v1. */
import type { ResourceList } from '../kubernetes/pod.ts';
import type { Rule } from '../schema/json-schema.ts';
import {
  choice,
  defaulted,
  integer,
  list,
  map,
  object,
  quantity,
  removed,
  required,
  requiredByRule,
  type Schema,
  text,
} from '../schema/schema.ts';
import { conditions } from './condition-schema.ts';
import { durationOrNever, nodeClaimTemplateFields } from './node-claim-template-schema.ts';
import { LABEL_VALUE, LABEL_VALUE_WORDS, labelKeyRules } from './requirement-schema.ts';

/** Why nodes are taken away that nobody asked to be taken away. */
export const DISRUPTION_REASONS = ['Underutilized', 'Empty', 'Drifted', 'Unhealthy'] as const;

/** Which nodes consolidation may take away. */
export const CONSOLIDATION_POLICIES = ['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'] as const;

/** How many nodes of a budget may go at once: a percentage or a number. */
const BUDGET_NODES = '^((100|[0-9]{1,2})%|[0-9]+)$';
/** Hours and minutes, with the `0s` that Go adds to them. */
const BUDGET_DURATION = '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$';

const budget = object(
  'How many nodes of the pool may go at once, always or at certain times.',
  {
    nodes: defaulted(
      '10%',
      text('So many nodes, or so many percent of them, rounded up.', {
        pattern: BUDGET_NODES,
        patternMessage: 'nodes is a percentage or a number of nodes, as in "10%" or "5"',
        maxLength: 20,
      }),
    ),
    reasons: list(
      'Only disruptions for these reasons count; all of them when it is not given.',
      choice('Why nodes are taken away.', DISRUPTION_REASONS),
      { maxItems: 50, 'x-kubernetes-list-type': 'set' },
    ),
    schedule: text(
      'When the budget begins to hold: minute, hour, day of month, month and day of week as in cron, or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually; in UTC unless the five fields begin with a zone, as in TZ=Europe/Berlin 0 9 * * *. Goes together with duration.',
      {
        pattern: '^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$',
        patternMessage:
          "a schedule has five fields, minute, hour, day of month, month and day of week, as in '0 9 * * mon-fri', or is a word such as @daily",
        maxLength: 256,
      },
    ),
    duration: text('How long the budget holds each time, in hours and minutes. Goes together with schedule.', {
      pattern: BUDGET_DURATION,
      patternMessage: 'the duration of a budget is written in whole hours and minutes, as in 8h, 30m or 1h30m',
      maxLength: 32,
    }),
  },
  {
    rules: [
      {
        rule: 'has(self.schedule) == has(self.duration)',
        message:
          "schedule and duration go together: add the one that is missing, as in schedule: '0 9 * * mon-fri' and duration: 8h, or remove both",
      },
    ],
  },
);

const disruption = object('When nodes may be taken away that nobody asked to be taken away.', {
  consolidateAfter: defaulted(
    '0s',
    durationOrNever('How long no pod must have come to or gone from a node before consolidation looks at it.'),
  ),
  consolidationPolicy: defaulted(
    'WhenEmptyOrUnderutilized',
    choice(
      'Which nodes consolidation takes away: with WhenEmpty empty ones, with WhenEmptyOrUnderutilized also those whose pods fit elsewhere or on a cheaper node, with Balanced those only where the saving is worth the disruption.',
      CONSOLIDATION_POLICIES,
      { WhenUnderutilized: 'WhenEmptyOrUnderutilized' },
    ),
  ),
  budgets: defaulted(
    [{ nodes: '10%' }],
    list('How many nodes may go at once; where several budgets hold, the tightest counts.', budget, { maxItems: 50 }),
  ),
  expireAfter: removed('text', 'write it under template.spec as expireAfter'),
});

const { domain, nodePool, hostname } = labelKeyRules('x');
const forAllKeys = ({ rule, message = '' }: Rule): Rule => ({ rule: `self.all(x, ${rule})`, message });

const template = object('Required. What the claims of the pool are made from.', {
  metadata: object('What claims and nodes of the pool carry.', {
    labels: map(
      'Labels of the nodes.',
      text('The value.', { maxLength: 63, pattern: LABEL_VALUE, patternMessage: LABEL_VALUE_WORDS }),
      {
        maxProperties: 100,
        'x-kubernetes-map-type': 'atomic',
        rules: [domain, nodePool, hostname].map(forAllKeys),
      },
    ),
    annotations: map('Annotations of the nodes.', text('The value.'), { 'x-kubernetes-map-type': 'granular' }),
  }),
  spec: required(
    object('What the nodes of the pool are.', {
      ...nodeClaimTemplateFields('pool'),
      kubelet: removed('object', 'write it in the node class'),
    }),
  ),
});

const limits = map(
  'The most the nodes of the pool may have together, by resource; nodes is their number. No node is made beyond it.',
  quantity({
    maxLength: 64,
    rules: [
      {
        rule: 'type(self) == int || isQuantity(self)',
        message:
          'a limit is a number with one of the suffixes m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or none, as in cpu: 1000 or memory: 4000Gi',
      },
    ],
  }),
  {
    maxProperties: 100,
    rules: [
      {
        rule: "!('cpu' in self) || type(self['cpu']) == int || !self['cpu'].endsWith('i')",
        message: 'limits.cpu counts cores: write it without Ki, Mi, Gi, as in cpu: 1000',
      },
      {
        rule: "!('memory' in self) || !isQuantity(string(self['memory'])) || quantity(string(self['memory'])).compareTo(quantity('0')) <= 0 || quantity(string(self['memory'])).compareTo(quantity('1Mi')) >= 0",
        message:
          'limits.memory counts bytes and this is less than any node has: write it with a unit, as in memory: 1000Gi',
      },
    ],
  },
);

const inTemplate = (field: string): string => `write it under template.spec as ${field}`;

export const NODE_POOL_SPEC = object(
  'Which nodes the pool may make, how many, and when they may be taken away.',
  {
    template: requiredByRule(template, 'template is required: write requirements and nodeClassRef under template.spec'),
    disruption: defaulted({ consolidateAfter: '0s' }, disruption),
    limits,
    weight: integer(
      'Pools of a higher weight are asked first; a pool without it has weight 0. Not for pools with replicas.',
      { format: 'int32', minimum: 1, maximum: 100 },
    ),
    replicas: integer(
      'Keeps exactly so many nodes, whatever pods there are. Such a pool has no weight and no limits but nodes, and is not consolidated.',
      { format: 'int64', minimum: 0 },
    ),
    requirements: removed('list', inTemplate('requirements')),
    taints: removed('list', inTemplate('taints')),
    startupTaints: removed('list', inTemplate('startupTaints')),
    labels: removed('object', 'write them under template.metadata as labels'),
    provider: removed('object', 'name a node class under template.spec as nodeClassRef'),
    providerRef: removed('object', 'name the node class under template.spec as nodeClassRef'),
    consolidation: removed('object', 'write disruption.consolidationPolicy: WhenEmptyOrUnderutilized'),
    ttlSecondsAfterEmpty: removed(
      'integer',
      'write disruption.consolidationPolicy: WhenEmpty and the time as disruption.consolidateAfter, as in 30s',
    ),
    ttlSecondsUntilExpired: removed('integer', 'write the time under template.spec as expireAfter, as in 720h'),
  },
  {
    rules: [
      {
        rule: 'has(self.replicas) == has(oldSelf.replicas)',
        message: 'replicas cannot be added to or taken from a NodePool: make a new one',
      },
      {
        rule: "!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits))",
        message: 'with replicas, nodes is the only limit there can be: remove the others',
      },
      {
        rule: '!has(self.replicas) || !has(self.weight)',
        message: 'with replicas there is no weight: remove one of them',
      },
    ],
  },
);

export const NODE_POOL_STATUS = object('What the pool has.', {
  nodes: defaulted(0, integer('How many nodes there are.', { format: 'int64' })),
  resources: map('What the nodes have together, by resource.', quantity()) as Schema<ResourceList>,
  nodeClassObservedGeneration: integer(
    'The generation of the node class that NodeRegistrationHealthy was judged on; a new one starts the judgement anew.',
    { format: 'int64' },
  ),
  conditions: conditions('reason required'),
});
