/** What a pool says about its nodes and a claim says about its own. */
import type { Taint } from '../kubernetes/node.ts';
import {
  choice,
  defaulted,
  list,
  object,
  removed,
  required,
  requiredByRule,
  type Schema,
  text,
  time,
} from '../schema/schema.ts';
import { DURATION_OR_NEVER_PATTERN, DURATION_PATTERN } from './duration.ts';
import { QUALIFIED_NAME, requirements } from './requirement-schema.ts';

const IN_UNITS = 'a duration is written in whole hours, minutes and seconds, as in 720h, 1h30m or 30s';

/** A duration, or Never. */
export function durationOrNever(description: string): Schema<string> {
  return text(description, {
    pattern: DURATION_OR_NEVER_PATTERN,
    patternMessage: `${IN_UNITS}, or Never`,
    maxLength: 64,
  });
}

const taint = object('Keeps pods away from a node unless they tolerate it.', {
  key: required(text('The name of the taint.', { minLength: 1, pattern: QUALIFIED_NAME })),
  value: text('The value of the taint.', { pattern: QUALIFIED_NAME }),
  effect: required(
    choice('What happens to pods that do not tolerate it.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  ),
  timeAdded: time('When the taint was set.'),
}) satisfies Schema<Taint>;

function nodeClassRef(of: 'pool' | 'claim') {
  const named = (field: string, description: string, pattern: object = {}): Schema<string> =>
    text(description, { ...pattern, rules: [{ rule: "self != ''", message: `${field} may not be empty` }] });
  const immutable = ['group', 'kind'].map((field) => ({
    rule: `self.${field} == oldSelf.${field}`,
    message: `nodeClassRef.${field} cannot be changed: make a new NodePool`,
  }));
  return object(
    'The node class, which says what is particular to the cloud.',
    {
      group: requiredByRule(
        named('group', 'Required. The API group of the node class, without a version.', { pattern: '^[^/]*$' }),
        'group is required: write the API group of the node class without a version, as in group: karpenter.k8s.aws',
      ),
      kind: required(named('kind', 'The kind of the node class.')),
      name: required(named('name', 'The name of the node class.')),
      apiVersion: removed('text', 'write the part before the slash as group'),
    },
    { rules: of === 'pool' ? immutable : [] },
  );
}

/** The fields that a pool's template and a claim share. */
export function nodeClaimTemplateFields(of: 'pool' | 'claim') {
  return {
    taints: list('Taints of the node; pods must tolerate them.', taint),
    startupTaints: list(
      'Taints the node starts with and something on it takes away soon; pods need not tolerate them to have a node made for them.',
      taint,
    ),
    requirements: required(requirements(of)),
    nodeClassRef: required(nodeClassRef(of)),
    terminationGracePeriod: text(
      'The longest time a node takes to go. Its pods are asked to leave first, as their disruption budgets allow; each is deleted so early that it has its own grace period before the time is over, whatever budgets and karpenter.sh/do-not-disrupt say. Without it a node waits for its pods for ever.',
      { pattern: DURATION_PATTERN, patternMessage: IN_UNITS, maxLength: 64 },
    ),
    expireAfter: defaulted('720h', durationOrNever('The longest life of a node: after it the node is replaced.')),
  };
}
