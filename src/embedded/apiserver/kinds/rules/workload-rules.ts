/** Defaults and validation of the kinds that own pods. */
import { compileLabelSelector } from '../../../../apis/kubernetes/label-selector.ts';
import type { LabelSelector, PodSpec } from '../../../../apis/kubernetes/pod.ts';
import { sameJson } from '../../../frozen.ts';
import { validateLabels } from '../../object-meta.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import type { Draft, Fields, KindRules } from '../kind.ts';
import { podSpecDefaults } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: PodSpec;
}

interface WorkloadSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: Template;
}

const IMMUTABLE = 'field is immutable';
const ROLLING_UPDATE = Object.freeze({ maxUnavailable: '25%', maxSurge: '25%' });

/** Fills in missing fields of the spec, and the pod defaults in its template. */
function specDefaults(missing: (spec: Fields) => Fields): NonNullable<KindRules['defaults']> {
  return (object) => {
    const { spec } = object;
    if (spec === undefined) return object;
    const filled = missing(spec);
    const strategies = Object.entries(filled).filter(([name]) => name === 'strategy' || name === 'updateStrategy');
    // A filled-in strategy already contains the fields that were given.
    return { ...object, spec: { ...filled, ...spec, ...Object.fromEntries(strategies), ...templateDefaults(spec) } };
  };
}

/** The pod template with its defaults. */
export function templateDefaults(spec: Fields): Fields {
  const template = spec.template as { readonly spec?: Fields } | undefined;
  if (template?.spec === undefined) return {};
  return { template: { ...template, spec: podSpecDefaults(template.spec) } };
}

function specOf(object: Draft): WorkloadSpec {
  return (object.spec ?? {}) as WorkloadSpec;
}

/** Validates selector and template; `kind` is the kind's name in messages. */
function validateWorkload(object: Draft, old: Draft | undefined, kind: string): FieldError[] {
  const spec = specOf(object);
  if (old !== undefined && object.spec === old.spec) return [];
  const errors: FieldError[] = [];
  if (spec.replicas !== undefined && spec.replicas < 0) {
    errors.push(invalid('spec.replicas', spec.replicas, 'must be greater than or equal to 0'));
  }
  errors.push(...validateSelector(spec, kind));
  if (old !== undefined && !sameJson(spec.selector, specOf(old).selector)) {
    errors.push(invalid('spec.selector', spec.selector as never, IMMUTABLE));
  }
  if (old === undefined || !sameJson(spec.template, specOf(old).template)) {
    errors.push(...validateTemplate(spec.template));
  }
  return errors;
}

function validateSelector({ selector, template }: WorkloadSpec, kind: string): FieldError[] {
  const errors = selector === undefined ? [required('spec.selector')] : [];
  const matcher = compileLabelSelector(selector);
  if (selector !== undefined && matcher.requirements.length === 0) {
    return [invalid('spec.selector', selector as never, `empty selector is invalid for ${kind}`)];
  }
  const labels = template?.metadata?.labels ?? {};
  if (matcher.matches(labels)) return errors;
  return [...errors, invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

function validateTemplate(template: Template | undefined): FieldError[] {
  const errors = [
    ...validateLabels(template?.metadata?.labels, 'spec.template.labels'),
    ...validatePodSpec(template?.spec, 'spec.template.spec'),
  ];
  const policy = template?.spec?.restartPolicy;
  if (policy !== undefined && policy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  }
  return errors;
}

export const deploymentRules: KindRules = {
  defaults: specDefaults((spec) => {
    const strategy = (spec.strategy as Fields | undefined) ?? {};
    const type = strategy.type ?? 'RollingUpdate';
    const rolling = { rollingUpdate: { ...ROLLING_UPDATE, ...(strategy.rollingUpdate as Fields | undefined) } };
    return {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { ...strategy, type, ...(type === 'RollingUpdate' ? rolling : {}) },
    };
  }),
  validate: (object, old) => [...validateWorkload(object, old, 'deployment'), ...validateStrategy(object)],
};

const STRATEGIES = ['Recreate', 'RollingUpdate'];

function validateStrategy({ spec }: Draft): FieldError[] {
  const type = (spec?.strategy as Fields | undefined)?.type;
  return STRATEGIES.includes(String(type)) ? [] : [notSupported('spec.strategy', spec?.strategy as never, STRATEGIES)];
}

export const replicaSetRules: KindRules = {
  prepareCreate: (object) => ({ ...object, status: { replicas: 0 } }),
  defaults: specDefaults(() => ({ replicas: 1 })),
  validate: (object, old) => validateWorkload(object, old, 'deployment'),
};

export const replicationControllerRules: KindRules = {
  defaults: (object) => {
    const { spec } = object;
    if (spec === undefined) return object;
    const labels = (spec.template as Template | undefined)?.metadata?.labels;
    return {
      ...object,
      spec: { replicas: 1, ...(labels && { selector: labels }), ...spec, ...templateDefaults(spec) },
    };
  },
};

export const daemonSetRules: KindRules = {
  prepareCreate: (object) => ({
    ...object,
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
  defaults: specDefaults((spec) => ({
    revisionHistoryLimit: 10,
    updateStrategy: withRolling(spec, { maxUnavailable: 1, maxSurge: 0 }),
  })),
  validate: (object, old) => validateWorkload(object, old, 'daemonset'),
};

const STATEFUL_SET_CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const statefulSetRules: KindRules = {
  prepareCreate: (object) => ({ ...object, status: { replicas: 0, availableReplicas: 0 } }),
  defaults: specDefaults((spec) => ({
    replicas: 1,
    revisionHistoryLimit: 10,
    podManagementPolicy: 'OrderedReady',
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    updateStrategy: withRolling(spec, { partition: 0 }),
  })),
  validate: (object, old) => {
    const errors = validateWorkload(object, undefined, 'statefulset');
    if (old === undefined || object.spec === old.spec) return errors;
    const fixed = (spec: Fields | undefined): object =>
      Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => !STATEFUL_SET_CHANGEABLE.includes(name)));
    if (!sameJson(fixed(object.spec), fixed(old.spec))) {
      const names = STATEFUL_SET_CHANGEABLE.map((name) => `'${name}'`);
      const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
      errors.push(forbidden('spec', `updates to statefulset spec for fields other than ${list} are forbidden`));
    }
    return errors;
  },
};

function withRolling(spec: Fields, rollingUpdate: Fields): Fields {
  const strategy = (spec.updateStrategy as Fields | undefined) ?? {};
  const type = strategy.type ?? 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...strategy, type };
  return { ...strategy, type, rollingUpdate: { ...rollingUpdate, ...(strategy.rollingUpdate as Fields | undefined) } };
}
