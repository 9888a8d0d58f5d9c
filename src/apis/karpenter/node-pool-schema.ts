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

/** Reasons of voluntary disruptions. */
export const DISRUPTION_REASONS = ['Underutilized', 'Empty', 'Drifted', 'Unhealthy'] as const;

/** Which nodes consolidation can remove. */
export const CONSOLIDATION_POLICIES = ['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'] as const;

/** The nodes of a budget: a percentage or a number. */
const BUDGET_NODES = '^((100|[0-9]{1,2})%|[0-9]+)$';
/** Hours and minutes, with the `0s` that Go adds to them. */
const BUDGET_DURATION = '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$';

const budget = object(
  'The number of nodes that can be disrupted at the same time, always or on a schedule.',
  {
    nodes: defaulted(
      '10%',
      text('A number of nodes, or a percentage of the nodes of the pool, rounded up.', {
        pattern: BUDGET_NODES,
        patternMessage: 'nodes is a percentage or a number of nodes, as in "10%" or "5"',
        maxLength: 20,
      }),
    ),
    reasons: list(
      'The reasons that the budget applies to; defaults to all.',
      choice('The reason of a disruption.', DISRUPTION_REASONS),
      { maxItems: 50, 'x-kubernetes-list-type': 'set' },
    ),
    schedule: text(
      'When the budget becomes active: minute, hour, day of month, month and day of week as in cron, or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually; in UTC unless the five fields begin with a zone, as in TZ=Europe/Berlin 0 9 * * *. Requires duration.',
      {
        pattern: '^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$',
        patternMessage:
          "a schedule has five fields, minute, hour, day of month, month and day of week, as in '0 9 * * mon-fri', or is a word such as @daily",
        maxLength: 256,
      },
    ),
    duration: text('How long the budget is active each time, in hours and minutes. Requires schedule.', {
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

const disruption = object('Settings of voluntary disruptions.', {
  consolidateAfter: defaulted(
    '0s',
    durationOrNever('How long the pods of a node must not have changed before consolidation considers it.'),
  ),
  consolidationPolicy: defaulted(
    'WhenEmptyOrUnderutilized',
    choice(
      'Which nodes consolidation removes. WhenEmpty: empty nodes. WhenEmptyOrUnderutilized: also nodes whose pods fit elsewhere or on a cheaper node. Balanced: the same, where the saving is worth the disruption.',
      CONSOLIDATION_POLICIES,
      { WhenUnderutilized: 'WhenEmptyOrUnderutilized' },
    ),
  ),
  budgets: defaulted(
    [{ nodes: '10%' }],
    list('How many nodes can be disrupted at the same time; of several active budgets, the tightest counts.', budget, {
      maxItems: 50,
    }),
  ),
  expireAfter: removed('text', 'write it under template.spec as expireAfter'),
});

const { domain, nodePool, hostname } = labelKeyRules('x');
const forAllKeys = ({ rule, message = '' }: Rule): Rule => ({ rule: `self.all(x, ${rule})`, message });

const template = object('Required. The template of the NodeClaims of the pool.', {
  metadata: object('Metadata of the NodeClaims and nodes of the pool.', {
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
    object('The spec of the NodeClaims of the pool.', {
      ...nodeClaimTemplateFields('pool'),
      kubelet: removed('object', 'write it in the node class'),
    }),
  ),
});

const limits = map(
  'The maximum total resources of the nodes of the pool; nodes limits their number. No node is launched beyond a limit.',
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
  'Which nodes the pool can launch, how many, and when they can be disrupted.',
  {
    template: requiredByRule(template, 'template is required: write requirements and nodeClassRef under template.spec'),
    disruption: defaulted({ consolidateAfter: '0s' }, disruption),
    limits,
    weight: integer('Pools of a higher weight are tried first; the default is 0. Not allowed with replicas.', {
      format: 'int32',
      minimum: 1,
      maximum: 100,
    }),
    replicas: integer(
      'Keeps exactly this number of nodes, regardless of pods. Such a pool has no weight, no limits except nodes, and is not consolidated.',
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

export const NODE_POOL_STATUS = object('The state of the pool.', {
  nodes: defaulted(0, integer('The number of nodes.', { format: 'int64' })),
  resources: map('The total resources of the nodes.', quantity()) as Schema<ResourceList>,
  nodeClassObservedGeneration: integer(
    'The generation of the node class that NodeRegistrationHealthy is based on; a new generation resets the condition.',
    { format: 'int64' },
  ),
  conditions: conditions('reason required'),
});
