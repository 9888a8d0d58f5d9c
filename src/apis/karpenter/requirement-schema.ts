import type { Rule } from '../schema/json-schema.ts';
import { choice, integer, list, object, required, type Schema, type Static, text } from '../schema/schema.ts';
import { KARPENTER_GROUP, LABEL_CAPACITY_TYPE, LABEL_HOSTNAME, LABEL_NODE_POOL } from './labels.ts';

/** How a requirement compares a label with its values. */
export const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] as const;

/** A name with an optional domain, as labels and taints have it. */
export const QUALIFIED_NAME =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
/** The pattern of a label value. */
export const LABEL_VALUE = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';

export const LABEL_VALUE_WORDS =
  'the value of a label has letters, digits, -, _ and . between a letter or digit at each end, as in front-end';

const COMPARES = "self.operator in ['Gt', 'Lt', 'Gte', 'Lte']";

const RULES: readonly Rule[] = [
  {
    rule: "self.operator != 'In' || (has(self.values) && size(self.values) > 0)",
    message: "operator 'In' needs at least one value: list them under values, or use operator Exists",
  },
  {
    rule: `!(${COMPARES}) || (has(self.values) && size(self.values) == 1 && self.values[0].matches('^[0-9]{1,18}$'))`,
    message:
      "operators 'Gt', 'Lt', 'Gte' and 'Lte' take exactly one whole number that is not negative, as in values: [\"4\"]",
  },
  {
    rule: "self.operator != 'In' || !has(self.minValues) || (has(self.values) && size(self.values) >= self.minValues)",
    message: 'minValues asks for more values than are listed: list more values or lower minValues',
  },
];

/** Rules on one label key, where `key` is the expression for it. */
export function labelKeyRules(key: string): {
  readonly domain: Rule;
  readonly hostname: Rule;
  readonly nodePool: Rule;
} {
  const domain = `${key}.find('^([^/]+)')`;
  const own = `${domain} == '${KARPENTER_GROUP}' || ${domain}.endsWith('.${KARPENTER_GROUP}')`;
  return {
    domain: {
      rule: `${key} in ['${LABEL_CAPACITY_TYPE}', '${LABEL_NODE_POOL}'] || !(${own})`,
      message: `labels of the domain ${KARPENTER_GROUP} are set by the autoscaler: only ${LABEL_CAPACITY_TYPE} can be asked for`,
    },
    nodePool: {
      rule: `${key} != '${LABEL_NODE_POOL}'`,
      message: `${LABEL_NODE_POOL} is set by the autoscaler to the name of the node pool: leave it out`,
    },
    hostname: {
      rule: `${key} != '${LABEL_HOSTNAME}'`,
      message: `${LABEL_HOSTNAME} is not known before there is a node: leave it out`,
    },
  };
}

/** The owner of requirements: a pool, a claim, or an overlay, which can name pools. */
type RequirementsOf = 'pool' | 'claim' | 'overlay';

function requirement(of: RequirementsOf) {
  const { domain, nodePool, hostname } = labelKeyRules('self');
  return object(
    'One condition on the labels of a node.',
    {
      key: required(
        text('The label.', {
          maxLength: 316,
          pattern: QUALIFIED_NAME,
          patternMessage: 'a label is a name, with a domain and a slash before it or without, as in example.com/team',
          rules: of === 'pool' ? [domain, nodePool, hostname] : [domain, hostname],
        }),
      ),
      operator: required(choice('How the label compares with the values.', OPERATORS)),
      values: list(
        'The values to compare with: some for In and NotIn, one whole number for Gt, Lt, Gte and Lte, none for Exists and DoesNotExist.',
        text('A value of the label.', { maxLength: 63, pattern: LABEL_VALUE }),
      ),
      minValues: integer(
        'The minimum number of different values of the label among the offerings of a node, for flexibility at launch.',
        { minimum: 1, maximum: 50 },
      ),
    },
    { rules: RULES },
  );
}

/** One condition on the labels of a node. */
export type NodeRequirement = Static<ReturnType<typeof requirement>>;

/** The conditions on the labels of a node, all of which must hold. */
export function requirements(of: RequirementsOf): Schema<readonly NodeRequirement[]> {
  return list('Conditions on the labels of a node; all of them must hold.', requirement(of), {
    maxItems: 100,
  });
}
