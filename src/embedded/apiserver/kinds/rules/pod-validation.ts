/** Pod validation in kube-apiserver's words; only the rules that users and programs run into. */

import type { Container, Pod, PodSpec, Toleration } from '../../../../apis/kubernetes/pod.ts';
import { compareQuantities, formatQuantity, milliValue, parseQuantity } from '../../../../apis/kubernetes/quantity.ts';
import { sameJson } from '../../../frozen.ts';
import { nameProblems } from '../../object-meta.ts';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import type { Draft } from '../kind.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const TOLERATION_OPERATORS = ['Equal', 'Exists', 'Gt', 'Lt'];
const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const CHANGEABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** All validation errors of a new or updated pod. */
export function validatePod(object: Draft, old?: Draft): FieldError[] {
  const pod = object as unknown as Pod;
  if (old === undefined) return validatePodSpec(pod.spec, 'spec');
  const before = old as unknown as Pod;
  if (pod.spec === before.spec) return [];
  return [...validatePodSpec(pod.spec, 'spec'), ...validatePodUpdate(pod.spec, before.spec)];
}

/** Validates a pod spec, alone or in a template; `field` is its path. */
export function validatePodSpec(spec: PodSpec | undefined, field: string): FieldError[] {
  if (spec === undefined) return [required(`${field}.containers`)];
  const errors: FieldError[] = [];
  const { containers = [], initContainers = [], restartPolicy } = spec;
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  for (const [list, at] of [
    [containers, `${field}.containers`],
    [initContainers, `${field}.initContainers`],
  ] as const) {
    for (const [index, container] of list.entries())
      errors.push(...validateContainer(container, `${at}[${index}]`, names));
  }
  if (restartPolicy !== undefined && !RESTART_POLICIES.includes(restartPolicy)) {
    errors.push(notSupported(`${field}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  }
  for (const [index, toleration] of (spec.tolerations ?? []).entries()) {
    errors.push(...validateToleration(toleration, `${field}.tolerations[${index}]`));
  }
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = `${field}.topologySpreadConstraints[${index}]`;
    if (!(constraint.maxSkew > 0))
      errors.push(invalid(`${at}.maxSkew`, constraint.maxSkew ?? 0, 'must be greater than zero'));
    if (!constraint.topologyKey) errors.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!UNSATISFIABLE.includes(constraint.whenUnsatisfiable)) {
      errors.push(notSupported(`${at}.whenUnsatisfiable`, constraint.whenUnsatisfiable ?? '', UNSATISFIABLE));
    }
  }
  return errors;
}

function validateContainer(container: Container, field: string, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const { name = '', image = '' } = container;
  if (name === '') errors.push(required(`${field}.name`));
  else for (const problem of nameProblems(name, 'label')) errors.push(invalid(`${field}.name`, name, problem));
  if (name !== '' && names.has(name)) errors.push(duplicate(`${field}.name`, name));
  names.add(name);
  if (image === '') errors.push(required(`${field}.image`));
  for (const [index, port] of (container.ports ?? []).entries()) {
    if (!port.containerPort) errors.push(required(`${field}.ports[${index}].containerPort`));
    else if (!isPort(port.containerPort)) {
      errors.push(invalid(`${field}.ports[${index}].containerPort`, port.containerPort, PORT_PROBLEM));
    }
    if (port.hostPort !== undefined && port.hostPort !== 0 && !isPort(port.hostPort)) {
      errors.push(invalid(`${field}.ports[${index}].hostPort`, port.hostPort, PORT_PROBLEM));
    }
  }
  return [...errors, ...validateResources(container, `${field}.resources`)];
}

const PORT_PROBLEM = 'must be between 1 and 65535, inclusive';

function isPort(port: number | undefined): boolean {
  return port !== undefined && port >= 1 && port <= 65_535;
}

function validateResources({ resources }: Container, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const part of ['limits', 'requests'] as const) {
    for (const [name, text] of Object.entries(resources?.[part] ?? {})) {
      if (milliValue(text) < 0n) {
        errors.push(invalid(`${field}.${part}[${name}]`, text, 'must be greater than or equal to 0'));
      }
    }
  }
  for (const [name, request] of Object.entries(resources?.requests ?? {})) {
    const limit = resources?.limits?.[name];
    if (limit === undefined) continue;
    if (compareQuantities(parseQuantity(request), parseQuantity(limit)) > 0) {
      const detail = `must be less than or equal to ${name} limit of ${formatQuantity(parseQuantity(limit))}`;
      errors.push(invalid(`${field}.requests`, request, detail));
    }
  }
  return errors;
}

function validateToleration(toleration: Toleration, field: string): FieldError[] {
  const { operator, effect, key = '', value = '', tolerationSeconds } = toleration;
  const errors: FieldError[] = [];
  if (operator !== undefined && !TOLERATION_OPERATORS.includes(operator)) {
    errors.push(notSupported(`${field}.operator`, operator, TOLERATION_OPERATORS));
  }
  if (key === '' && operator !== 'Exists') {
    errors.push(
      invalid(
        `${field}.operator`,
        operator ?? '',
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  }
  if (operator === 'Exists' && value !== '') {
    errors.push(invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  }
  if (effect !== undefined && (effect as string) !== '' && !EFFECTS.includes(effect)) {
    errors.push(notSupported(`${field}.effect`, effect, EFFECTS));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(`${field}.effect`, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  return errors;
}

/** Only a few fields of a pod's spec can be changed. */
function validatePodUpdate(spec: PodSpec, old: PodSpec): FieldError[] {
  const kept = (old.tolerations ?? []).every((toleration) =>
    (spec.tolerations ?? []).some(
      (candidate) => sameJson(candidate, toleration) || sameJson(withoutSeconds(candidate), withoutSeconds(toleration)),
    ),
  );
  const gates = new Set((old.schedulingGates ?? []).map(({ name }) => name));
  if ((spec.schedulingGates ?? []).some(({ name }) => !gates.has(name))) {
    return [forbidden('spec.schedulingGates', 'only deletion is allowed, but found new scheduling gates')];
  }
  // While a pod has scheduling gates, its nodeSelector and affinity may still change.
  const mayNarrow = gates.size > 0;
  if (kept && sameJson(comparable(spec, mayNarrow), comparable(old, mayNarrow))) return [];
  return [forbidden('spec', `pod updates may not change fields other than ${CHANGEABLE}\n`)];
}

function withoutSeconds({ tolerationSeconds: _, ...toleration }: Toleration): Toleration {
  return toleration;
}

/** The part of a spec that cannot change. */
function comparable(spec: PodSpec, mayNarrow: boolean): object {
  const { activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest } = spec;
  const fixed: Record<string, unknown> = {
    ...rest,
    containers: spec.containers.map(withoutImage),
    initContainers: (spec.initContainers ?? []).map(withoutImage),
  };
  if (mayNarrow) {
    delete fixed.nodeSelector;
    delete fixed.affinity;
  }
  return fixed;
}

function withoutImage({ image: _, ...container }: Container): object {
  return container;
}
