/** Reads the query parameters of a request, as kube-apiserver does. */
import type { ListQuery, Selection, WatchQuery } from '../../../kube/client.ts';
import type { DeleteRequest } from '../deleting.ts';
import { isFields } from '../patch/merge-patch.ts';
import { forbidden, notSupported } from '../schema/field-error.ts';
import { badRequest, invalid } from '../status-errors.ts';
import type { WriteRequest } from '../writing.ts';
import type { IncludeObject } from './presentation.ts';

type Parameters = URLSearchParams;

function text(parameters: Parameters, name: string): string | undefined {
  const value = parameters.get(name);
  return value === null || value === '' ? undefined : value;
}

function flag(parameters: Parameters, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === null) return undefined;
  return value !== 'false' && value !== '0';
}

function count(parameters: Parameters, name: string): number | undefined {
  const value = text(parameters, name);
  if (value === undefined) return undefined;
  if (!/^-?\d{1,15}$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return Number(value);
}

function present<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Whether the request is a watch. */
export function isWatch(parameters: Parameters): boolean {
  return flag(parameters, 'watch') === true;
}

/** Namespace and selectors. */
export function selectionOf(parameters: Parameters, namespace: string | undefined): Selection {
  return present<Selection>({
    namespace,
    labelSelector: text(parameters, 'labelSelector'),
    fieldSelector: text(parameters, 'fieldSelector'),
  });
}

/** The parameters of a list. */
export function listQuery(parameters: Parameters, namespace: string | undefined): ListQuery {
  return {
    ...selectionOf(parameters, namespace),
    ...present<ListQuery>({
      limit: count(parameters, 'limit'),
      continue: text(parameters, 'continue'),
      resourceVersion: text(parameters, 'resourceVersion'),
      resourceVersionMatch: resourceVersionMatch(parameters),
    }),
  };
}

function resourceVersionMatch(parameters: Parameters): 'Exact' | 'NotOlderThan' | undefined {
  const value = text(parameters, 'resourceVersionMatch');
  if (
    value !== undefined &&
    parameters.get('resourceVersion') === null &&
    parameters.get('sendInitialEvents') === null
  ) {
    const detail = 'resourceVersionMatch is forbidden unless resourceVersion is provided';
    throw invalid(LIST_OPTIONS, '', [forbidden('resourceVersionMatch', detail)]);
  }
  if (value === undefined || value === 'Exact' || value === 'NotOlderThan') return value;
  throw invalid(LIST_OPTIONS, '', [notSupported('resourceVersionMatch', value, ['Exact', 'NotOlderThan', ''])]);
}

const LIST_OPTIONS = { group: 'meta.k8s.io', kind: 'ListOptions', plural: 'listoptions' };
const DELETE_OPTIONS = { group: 'meta.k8s.io', kind: 'DeleteOptions', plural: 'deleteoptions' };
const PATCH_OPTIONS = { group: 'meta.k8s.io', kind: 'PatchOptions', plural: 'patchoptions' };

/** The parameters of a watch. */
export function watchQuery(parameters: Parameters, namespace: string | undefined): WatchQuery {
  if (flag(parameters, 'sendInitialEvents') !== undefined && resourceVersionMatch(parameters) !== 'NotOlderThan') {
    const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    throw invalid(LIST_OPTIONS, '', [forbidden('resourceVersionMatch', detail)]);
  }
  return {
    ...selectionOf(parameters, namespace),
    ...present<WatchQuery>({
      resourceVersion: text(parameters, 'resourceVersion'),
      sendInitialEvents: flag(parameters, 'sendInitialEvents'),
      allowBookmarks: flag(parameters, 'allowWatchBookmarks'),
      timeoutSeconds: count(parameters, 'timeoutSeconds'),
    }),
  };
}

/** Which part of its object a table row includes. */
export function includeObject(parameters: Parameters): IncludeObject {
  const value = text(parameters, 'includeObject');
  return value === 'None' || value === 'Object' ? value : 'Metadata';
}

/** The field manager of a request; by default the program name at the start of its User-Agent. */
export function fieldManagerOf(parameters: Parameters, userAgent: string | undefined): string {
  return text(parameters, 'fieldManager') ?? (userAgent ?? '').split('/')[0]?.slice(0, 128) ?? '';
}

/** The parameters of a create, an update or a patch. */
export function writeRequest(
  parameters: Parameters,
  userAgent: string | undefined,
  duplicateFields: readonly string[],
  warn: (warning: string) => void,
): WriteRequest {
  return {
    fieldManager: fieldManagerOf(parameters, userAgent),
    dryRun: dryRun(parameters.getAll('dryRun')),
    // kube-apiserver warns by default.
    fieldValidation: fieldValidation(parameters) ?? 'Warn',
    duplicateFields,
    warn,
  };
}

function fieldValidation(parameters: Parameters): WriteRequest['fieldValidation'] {
  const value = text(parameters, 'fieldValidation');
  if (value === undefined || value === 'Strict' || value === 'Warn' || value === 'Ignore') return value;
  const errors = [notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn'])];
  throw invalid(PATCH_OPTIONS, '', errors);
}

function dryRun(values: readonly string[]): boolean {
  const wanted = values.filter((value) => value !== '');
  if (wanted.some((value) => value !== 'All')) {
    throw invalid(PATCH_OPTIONS, '', [notSupported('dryRun', wanted as never, ['All'])]);
  }
  return wanted.length > 0;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;

/** DeleteOptions from the body. Query parameters fill in fields that the body leaves out. */
export function deleteRequest(parameters: Parameters, body: unknown): DeleteRequest {
  const options = isFields(body) ? body : {};
  const grace = options.gracePeriodSeconds ?? count(parameters, 'gracePeriodSeconds');
  const policy = options.propagationPolicy ?? text(parameters, 'propagationPolicy');
  const orphan = options.orphanDependents ?? flag(parameters, 'orphanDependents');
  const given = options.preconditions;
  const drySelected = options.dryRun ?? parameters.getAll('dryRun');
  if (grace !== undefined && grace !== null && typeof grace !== 'number') {
    throw badRequest('gracePeriodSeconds must be a number');
  }
  if (policy !== undefined && policy !== null && !POLICIES.includes(policy as never)) {
    throw invalid(DELETE_OPTIONS, '', [notSupported('propagationPolicy', policy as never, [...POLICIES, 'nil'])]);
  }
  return present<DeleteRequest>({
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    propagationPolicy: (policy ?? orphanPolicy(orphan)) as DeleteRequest['propagationPolicy'],
    preconditions: isFields(given) ? (given as NonNullable<DeleteRequest['preconditions']>) : undefined,
    dryRun: Array.isArray(drySelected) && dryRun(drySelected.map(String)) ? true : undefined,
  });
}

function orphanPolicy(orphan: unknown): DeleteRequest['propagationPolicy'] {
  if (orphan === true) return 'Orphan';
  return orphan === false ? 'Background' : undefined;
}
