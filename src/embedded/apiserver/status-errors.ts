/** The errors of the API server, each with kube-apiserver's Status, word for word. */
import type { Status, StatusCause } from '../../apis/kubernetes/status.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { describeFieldErrors, type FieldError } from './schema/field-error.ts';

/** The names of a kind that error messages need. */
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

/** No object has this name. */
export function notFound(kind: KindName, name: string): KubeError {
  return failure(404, 'NotFound', `${qualifiedResource(kind)} ${quoted(name)} not found`, detailsOf(kind, name));
}

/** No resource is served at this URL. */
export function noSuchPath(): KubeError {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** An object with this name already exists. */
export function alreadyExists(kind: KindName, name: string): KubeError {
  const message = `${qualifiedResource(kind)} ${quoted(name)} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(kind, name));
}

/** The state of the object does not allow the operation. */
export function conflict(kind: KindName, name: string, problem: string): KubeError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(kind)} ${quoted(name)}: ${problem}`;
  return failure(409, 'Conflict', message, detailsOf(kind, name));
}

/** The write is based on an outdated version of the object. */
export function modifiedMeanwhile(kind: KindName, name: string): KubeError {
  return conflict(
    kind,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** The object does not match the preconditions of a delete. */
export function preconditionFailed(kind: KindName, name: string, problem: string): KubeError {
  const type = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const message = `Operation cannot be fulfilled on ${type} ${quoted(name)}: ${problem}`;
  return failure(409, 'Conflict', message, { ...detailsOf(kind, name), kind: kind.kind });
}

/** A server-side apply conflicts with fields of other managers. */
export function applyConflict(message: string, causes: readonly StatusCause[]): KubeError {
  return failure(409, 'Conflict', message, { causes });
}

/** The object violates the rules of its kind. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[]): KubeError {
  const type = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return failure(422, 'Invalid', `${type} ${quoted(name)} is invalid: ${describeFieldErrors(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.kind,
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** A JSON patch that does not fit its object. */
export function patchRejected(): KubeError {
  return failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** The request is malformed. */
export function badRequest(message: string): KubeError {
  return failure(400, 'BadRequest', message);
}

/** The request has no valid credentials. */
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

/** The kind does not support this verb. */
export function methodNotAllowed(kind: KindName, verb: string): KubeError {
  const message = `${verb} is not supported on resources of kind "${qualifiedResource(kind)}"`;
  return failure(405, 'MethodNotAllowed', message, detailsOf(kind, ''));
}

/** The client accepts none of the available representations. */
export function notAcceptable(offered: readonly string[]): KubeError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`;
  return failure(406, 'NotAcceptable', message, {});
}

/** The format of the body is not supported. The message is shorter for patches than for objects. */
export function unsupportedMediaType(supported?: readonly string[]): KubeError {
  const message =
    supported === undefined
      ? '415: Unsupported Media Type'
      : `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`;
  return failure(415, 'UnsupportedMediaType', message, supported === undefined ? {} : undefined);
}

/** The body is larger than the server accepts. */
export function tooLarge(message: string): KubeError {
  return failure(413, 'RequestEntityTooLarge', message);
}

/** A revision or continue token that is too old; the log no longer has its events. */
export function expired(message: string): KubeError {
  return failure(410, 'Expired', message);
}

/** The client asks for a revision that does not exist yet. */
export function revisionTooLarge(asked: number, current: number): KubeError {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  return failure(504, 'Timeout', `Timeout: ${message}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** A PodDisruptionBudget does not allow the eviction now. */
export function budgetExceeded(cause: string, retryAfterSeconds?: number): KubeError {
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** A failure with a message but without a reason. */
export function serverFailure(message: string): KubeError {
  return failure(500, '', message);
}

/** The server itself failed. */
export function internalError(problem: string): KubeError {
  return failure(500, 'InternalError', `Internal error occurred: ${problem}`, { causes: [{ message: problem }] });
}

/** The answer to a delete that removed the object. */
export function deletedStatus(kind: KindName, name: string, uid: string | undefined): Status {
  const details = detailsOf(kind, name, uid === undefined ? {} : { uid });
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** Go's %q for the characters that occur in names. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
