/**
 * ValidatingAdmissionPolicies: refuses writes that a bound policy denies. Policies with parameters are stored but not
 * evaluated. Of a binding's actions, only Deny has an effect.
 */
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import { asError } from '../../../platform/errors.ts';
import { asWritten, forEvaluator } from '../schema/cel/dialect.ts';
import { kubernetesEnvironment } from '../schema/cel/library/kubernetes-library.ts';
import { refusedByPolicy } from '../status-errors.ts';
import type { World } from '../world.ts';
import { type AdmissionRequest, covers, type MatchResources } from './request-rules.ts';

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';

interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

interface Policy extends KubeObject {
  readonly spec?: {
    readonly paramKind?: object;
    readonly matchConstraints?: MatchResources;
    readonly matchConditions?: readonly NamedExpression[];
    readonly variables?: readonly NamedExpression[];
    readonly validations?: readonly Validation[];
    readonly failurePolicy?: 'Fail' | 'Ignore';
  };
}

interface Binding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
    readonly matchResources?: MatchResources;
  };
}

/** Throws the refusal of the first policy that denies the request. */
export function admit(world: World, request: AdmissionRequest): void {
  const bindings = world.store.collection(BINDINGS);
  // Policies themselves are never checked, or a policy could block its own removal.
  if (bindings.size === 0 || request.kind.group === 'admissionregistration.k8s.io') return;
  for (const binding of bindings.values() as Iterable<Binding>) {
    const { policyName = '', validationActions = [], matchResources } = binding.spec ?? {};
    const policy = world.store.get(POLICIES, policyName) as Policy | undefined;
    if (policy?.spec === undefined || policy.spec.paramKind !== undefined) continue;
    if (!validationActions.includes('Deny')) continue;
    if (!covers(policy.spec.matchConstraints, request) || !covers(matchResources, request)) continue;
    const refusal = judge(policy, request);
    if (refusal === undefined) continue;
    const { name = '' } = binding.metadata;
    const problem = `ValidatingAdmissionPolicy '${policyName}' with binding '${name}' denied request: ${refusal.message}`;
    throw refusedByPolicy(request.kind, request.name, problem, refusal.reason);
  }
}

interface Refusal {
  readonly message: string;
  readonly reason: string;
}

function judge({ spec = {} }: Policy, request: AdmissionRequest): Refusal | undefined {
  const { matchConditions = [], variables = [], validations = [], failurePolicy = 'Fail' } = spec;
  try {
    const evaluate = evaluator(request, variables);
    if (!matchConditions.every(({ expression }) => evaluate(expression) === true)) return undefined;
    for (const { expression, message, messageExpression, reason = 'Invalid' } of validations) {
      if (evaluate(expression) === true) continue;
      const said = messageExpression === undefined ? undefined : orNothing(() => evaluate(messageExpression));
      const text = typeof said === 'string' && said !== '' ? said : message;
      return { message: text ?? `failed expression: ${expression.trim()}`, reason };
    }
    return undefined;
  } catch (error) {
    if (failurePolicy === 'Ignore') return undefined;
    return { message: asWritten(asError(error).message), reason: 'Invalid' };
  }
}

/** Evaluates CEL expressions about one request. A variable can use the variables before it. */
function evaluator(request: AdmissionRequest, variables: readonly NamedExpression[]): (text: string) => unknown {
  const { operation, kind, subresource = '', name, object, oldObject, dryRun = false } = request;
  const env = kubernetesEnvironment();
  for (const variable of ['object', 'oldObject', 'request', 'variables']) env.registerVariable(variable, 'dyn');
  const { group, version, plural: resource } = kind;
  const values = {
    object: celValue(object ?? null),
    oldObject: celValue(oldObject ?? null),
    request: {
      ...{ operation, name, dryRun, subResource: subresource },
      namespace: (object ?? oldObject)?.metadata.namespace ?? '',
      kind: { group, version, kind: kind.kind },
      resource: { group, version, resource },
    },
    variables: {} as Record<string, unknown>,
  };
  const evaluate = (text: string): unknown => env.parse(forEvaluator(text))(values);
  for (const variable of variables) values.variables[variable.name] = evaluate(variable.expression);
  return evaluate;
}

/** Converts whole numbers to CEL integers, at every depth. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, celValue(field)]));
}

function orNothing(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch {
    return undefined;
  }
}
