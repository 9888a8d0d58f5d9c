/** The failures of the API server, each with the Status that kube-apiserver gives for it, word for word. */
import type { Status, StatusCause } from '../../apis/kubernetes/status.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { describeFieldErrors, type FieldError } from './schema/field-error.ts';

/** What of a kind is needed to speak about it. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
}

type Details = NonNullable<Status['details']>;

function failure(code: number, reason: string, message: string, details?: Details): KubeError {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message } as const;
  return new KubeError({ ...status, ...(reason && { reason }), ...(details && { details }), code });
}

function detailsOf(kind: KindName, name: string, more: Partial<Details> = {}): Details {
  return {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    ...more,
  };
}

/** `pods`, `deployments.apps`. */
export function qualifiedResource(kind: Pick<KindName, 'group' | 'plural'>): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

/** There is no object of that name. */
export function notFound(kind: KindName, name: string): KubeError {
  return failure(404, 'NotFound', `${qualifiedResource(kind)} ${quoted(name)} not found`, detailsOf(kind, name));
}

/** The URL means nothing here. */
export function noSuchPath(): KubeError {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** There is an object of that name already. */
export function alreadyExists(kind: KindName, name: string): KubeError {
  const message = `${qualifiedResource(kind)} ${quoted(name)} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(kind, name));
}

/** The object is not in a state for this. */
export function conflict(kind: KindName, name: string, problem: string): KubeError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(kind)} ${quoted(name)}: ${problem}`;
  return failure(409, 'Conflict', message, detailsOf(kind, name));
}

/** The write was made from an older state than the present one. */
export function modifiedMeanwhile(kind: KindName, name: string): KubeError {
  return conflict(
    kind,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** The object is not the one, or not in the state, that a deletion was meant for. */
export function preconditionFailed(kind: KindName, name: string, problem: string): KubeError {
  const type = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const message = `Operation cannot be fulfilled on ${type} ${quoted(name)}: ${problem}`;
  return failure(409, 'Conflict', message, { ...detailsOf(kind, name), kind: kind.kind });
}

/** Server-side apply met fields of other managers. */
export function applyConflict(message: string, causes: readonly StatusCause[]): KubeError {
  return failure(409, 'Conflict', message, { causes });
}

/** The object breaks rules of its kind. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[]): KubeError {
  const type = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return failure(422, 'Invalid', `${type} ${quoted(name)} is invalid: ${describeFieldErrors(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.kind,
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** A JSON patch that does not fit the object it is for. */
export function patchRejected(): KubeError {
  return failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** The request cannot be understood. */
export function badRequest(message: string): KubeError {
  return failure(400, 'BadRequest', message);
}

/** Nobody knows who asks. */
export function unauthorized(): KubeError {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

/** The request is understood and refused. */
export function forbidden(kind: KindName, name: string, problem: string, causes?: readonly StatusCause[]): KubeError {
  const subject = name === '' ? qualifiedResource(kind) : `${qualifiedResource(kind)} ${quoted(name)}`;
  const details = detailsOf(kind, name, causes === undefined ? {} : { causes });
  return failure(403, 'Forbidden', `${subject} is forbidden: ${problem}`, details);
}

/** An admission policy refuses the request; its reason decides the code. */
export function refusedByPolicy(kind: KindName, name: string, problem: string, reason: string): KubeError {
  const code = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 }[reason] ?? 422;
  const message = `${qualifiedResource(kind)} ${quoted(name)} is forbidden: ${problem}`;
  return failure(code, reason, message, detailsOf(kind, name, { causes: [{ message: problem }] }));
}

/** The path exists, but not for this method. */
export function noSuchMethod(): KubeError {
  return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** The kind does not do this verb. */
export function methodNotAllowed(kind: KindName, verb: string): KubeError {
  const message = `${verb} is not supported on resources of kind "${qualifiedResource(kind)}"`;
  return failure(405, 'MethodNotAllowed', message, detailsOf(kind, ''));
}

/** The answer cannot be given in a form that the client takes. */
export function notAcceptable(offered: readonly string[]): KubeError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`;
  return failure(406, 'NotAcceptable', message, {});
}

/** A body in a format that is not read here; patches are refused more shortly than objects. */
export function unsupportedMediaType(supported?: readonly string[]): KubeError {
  const message =
    supported === undefined
      ? '415: Unsupported Media Type'
      : `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`;
  return failure(415, 'UnsupportedMediaType', message, supported === undefined ? {} : undefined);
}

/** The body is larger than the server reads. */
export function tooLarge(message: string): KubeError {
  return failure(413, 'RequestEntityTooLarge', message);
}

/** A revision or continue token that is older than what is remembered. */
export function expired(message: string): KubeError {
  return failure(410, 'Expired', message);
}

/** The caller knows a revision that has not happened yet. */
export function revisionTooLarge(asked: number, current: number): KubeError {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  return failure(504, 'Timeout', `Timeout: ${message}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** An eviction that a disruption budget does not allow now. */
export function budgetExceeded(cause: string, retryAfterSeconds?: number): KubeError {
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** A failure that has a sentence but no reason of its own. */
export function serverFailure(message: string): KubeError {
  return failure(500, '', message);
}

/** The server itself failed. */
export function internalError(problem: string): KubeError {
  return failure(500, 'InternalError', `Internal error occurred: ${problem}`, { causes: [{ message: problem }] });
}

/** What a delete answers when nothing is left of the object. */
export function deletedStatus(kind: KindName, name: string, uid: string | undefined): Status {
  const details = detailsOf(kind, name, uid === undefined ? {} : { uid });
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** As Go's %q writes it, for all that occurs in names. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
