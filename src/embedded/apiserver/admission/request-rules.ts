/** Decides which requests an admission policy covers. */
import { compileLabelSelector } from '../../../apis/kubernetes/label-selector.ts';
import type { LabelSelector } from '../../../apis/kubernetes/pod.ts';
import type { Draft, Kind } from '../kinds/kind.ts';

/** A write that admission policies can refuse. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: Kind;
  readonly subresource?: 'status';
  readonly name: string;
  /** The object after the write; absent on delete. */
  readonly object?: Draft;
  /** The object before the write; absent on create. */
  readonly oldObject?: Draft;
  readonly dryRun?: boolean;
}

export interface ResourceRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface MatchResources {
  readonly resourceRules?: readonly ResourceRule[];
  readonly excludeResourceRules?: readonly ResourceRule[];
  readonly objectSelector?: LabelSelector;
}

/** Whether the rules of a policy or of its binding cover a request. A binding without rules covers all requests of its policy. */
export function covers(match: MatchResources | undefined, request: AdmissionRequest): boolean {
  const { resourceRules = [], excludeResourceRules = [], objectSelector } = match ?? {};
  if (excludeResourceRules.some((rule) => isOf(rule, request))) return false;
  if (resourceRules.length > 0 && !resourceRules.some((rule) => isOf(rule, request))) return false;
  if (objectSelector === undefined) return true;
  const selector = compileLabelSelector(objectSelector);
  return [request.object, request.oldObject].some(
    (object) => object !== undefined && selector.matches(object.metadata.labels),
  );
}

function isOf(rule: ResourceRule, { operation, kind, subresource, name }: AdmissionRequest): boolean {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    list?.some((one) => one === '*' || one === value) === true;
  const { resourceNames = [] } = rule;
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, kind.group) &&
    has(rule.apiVersions, kind.version) &&
    (rule.resources ?? []).some((pattern) => isResource(pattern, kind.plural, subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

/** `nodes` is the object alone, `nodes/status` its status, `nodes/*` and `*\/status` more, and `*\/*` everything. */
function isResource(pattern: string, plural: string, subresource: string | undefined): boolean {
  const [resource = '', part] = pattern.split('/');
  if (resource !== '*' && resource !== plural) return false;
  if (part === '*') return true;
  return part === subresource;
}
