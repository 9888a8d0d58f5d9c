/** The fields that a NodePool's template and a NodeClaim share. */
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

const taint = object('A taint repels pods that do not tolerate it.', {
  key: required(text('The name of the taint.', { minLength: 1, pattern: QUALIFIED_NAME })),
  value: text('The value of the taint.', { pattern: QUALIFIED_NAME }),
  effect: required(
    choice('The effect on pods that do not tolerate it.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
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
    'The node class, which holds the settings of the cloud.',
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
      'Taints that a new node has until something on it removes them; pods do not need to tolerate them for a node to be launched.',
      taint,
    ),
    requirements: required(requirements(of)),
    nodeClassRef: required(nodeClassRef(of)),
    terminationGracePeriod: text(
      'The maximum duration of a drain. Pods are evicted as their PodDisruptionBudgets allow. Near the end, remaining pods are deleted regardless of budgets and karpenter.sh/do-not-disrupt, early enough for their own grace period. Without it, a drain waits for its pods forever.',
      { pattern: DURATION_PATTERN, patternMessage: IN_UNITS, maxLength: 64 },
    ),
    expireAfter: defaulted('720h', durationOrNever('The maximum lifetime of a node; then it is replaced.')),
  };
}
