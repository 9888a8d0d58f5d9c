/**
 * Every error that Spindrift raises on purpose, in one table: its code, how a caller reacts to it, and its message.
 * `docs/reference/errors.md` is generated from it.
 */

/**
 * How a caller reacts to an error.
 * - `terminal`: the same call fails again until something is changed
 * - `retry`: a passing failure; repeat the same call with back-off
 * - `refresh`: our data is stale; read again and decide again
 * - `capacity`: the cloud has no capacity now; try the next offering
 */
export type RetryClass = 'terminal' | 'retry' | 'refresh' | 'capacity';

interface ErrorDefinition {
  readonly retry: RetryClass;
  /** A lower-case phrase without a full stop; `{name}` is replaced by the detail of that name. */
  readonly message: string;
  /** For the reference: when it happens and what to do. */
  readonly help: string;
}

export const ERRORS = {
  // Platform
  OPTION_INVALID: {
    retry: 'terminal',
    message: '{option} is {value}, but it must be {allowed}',
    help: 'A flag or environment variable has an invalid value; the message names the allowed values.',
  },
  OPTION_UNKNOWN: {
    retry: 'terminal',
    message: '{option} is not an option of {command}{hint}',
    help: 'A flag was mistyped or belongs to another command; `--help` lists the flags of a command.',
  },
  COMMAND_UNKNOWN: {
    retry: 'terminal',
    message: '{command} is not a command of spindrift{hint}',
    help: 'The first word is not a command; `spindrift --help` lists all commands.',
  },
  ARGUMENT_INVALID: {
    retry: 'terminal',
    message: '{command}: {problem}',
    help: 'An argument of a command is missing or invalid; the message says what to write.',
  },
  MANIFESTS_INVALID: {
    retry: 'terminal',
    message: '{problems}',
    help: 'Manifests given to a command are invalid; one line per problem names the file, the document, the object and the field.',
  },
  OBJECT_UNKNOWN: {
    retry: 'terminal',
    message: 'there is no {object}{hint}',
    help: 'A command names an object that does not exist in the cluster, or no longer.',
  },
  CLUSTER_WITHOUT_KINDS: {
    retry: 'terminal',
    message:
      'the cluster at {server} has no NodePool definition: install it with the chart spindrift-crd, or with spindrift run --install-definitions',
    help: 'The command needs a cluster with the kinds of Spindrift installed.',
  },
  SETTINGS_INVALID: {
    retry: 'terminal',
    message: 'settings file {file} is invalid: {problem}',
    help: 'The file of live settings has a mistake; the previous settings stay until it is corrected.',
  },
  DEADLINE_EXCEEDED: {
    retry: 'retry',
    message: 'not finished within {milliseconds} ms',
    help: 'A step exceeded its time limit and was stopped.',
  },
  CLOCK_DEADLOCK: {
    retry: 'terminal',
    message: '{what} can never finish: no timer is left on the virtual clock at {now}',
    help: 'Virtual time only: a promise waits for an event that can never happen. This is a bug in the test or in the code under test.',
  },

  // Running
  STATUS_SERVER_FAILED: {
    retry: 'terminal',
    message: 'cannot listen on {host}:{port} for probes and metrics: {problem}',
    help: 'The port is in use or not permitted; choose another with --metrics-port or --health-probe-port.',
  },

  // Kubernetes API
  KUBE_CONFIG_INVALID: {
    retry: 'terminal',
    message: 'no cluster to talk to: {problem}',
    help: 'The kubeconfig is missing, unreadable, or has no usable context; pass `--kubeconfig`, set KUBECONFIG, or run inside a cluster.',
  },
  KUBE_BAD_REQUEST: { retry: 'terminal', message: '{message}', help: 'The API server could not parse the request.' },
  KUBE_UNAUTHORIZED: {
    retry: 'retry',
    message: '{message}',
    help: 'The API server does not accept our credentials; they may have just been rotated.',
  },
  KUBE_FORBIDDEN: {
    retry: 'terminal',
    message: '{message}',
    help: 'RBAC or an admission policy refuses the request; `spindrift doctor` lists missing rights.',
  },
  KUBE_NOT_FOUND: { retry: 'refresh', message: '{message}', help: 'The object does not exist, or no longer.' },
  KUBE_ALREADY_EXISTS: { retry: 'refresh', message: '{message}', help: 'An object of that name exists already.' },
  KUBE_CONFLICT: {
    retry: 'refresh',
    message: '{message}',
    help: 'The object changed since it was read, a precondition failed, or another field manager owns the field.',
  },
  KUBE_EXPIRED: {
    retry: 'refresh',
    message: '{message}',
    help: 'The resource version or continue token is too old; list again.',
  },
  KUBE_INVALID: {
    retry: 'terminal',
    message: '{message}',
    help: 'The object fails the validation of its kind; the message names the field.',
  },
  KUBE_UNSUPPORTED: {
    retry: 'terminal',
    message: '{message}',
    help: 'The API server does not support this verb, media type or content.',
  },
  KUBE_TOO_LARGE: {
    retry: 'terminal',
    message: '{message}',
    help: 'The request is larger than the API server accepts.',
  },
  KUBE_THROTTLED: {
    retry: 'retry',
    message: '{message}',
    help: 'The API server asks to retry later (429, or 503 with Retry-After).',
  },
  KUBE_DISRUPTION_BUDGET: {
    retry: 'retry',
    message: '{message}',
    help: 'The eviction would break a PodDisruptionBudget; it may be allowed later.',
  },
  KUBE_SERVER_ERROR: { retry: 'retry', message: '{message}', help: 'The API server failed (5xx).' },
  KUBE_UNREACHABLE: {
    retry: 'retry',
    message: '{method} {path} got no answer from {server}: {problem}',
    help: 'The connection failed before the answer was complete; the request may or may not have been executed.',
  },
  KUBE_PROTOCOL: {
    retry: 'retry',
    message: '{method} {path} was answered by {server} with something that is not Kubernetes: {problem}',
    help: 'The answer could not be parsed; a proxy in between may have sent it.',
  },

  // Kubernetes nouns
  QUANTITY_INVALID: {
    retry: 'terminal',
    message: '{text} is not a quantity: {problem}',
    help: 'A resource quantity is invalid; write a number with an optional suffix, as in 500m, 2, 1.5Gi or 1e3.',
  },
  SELECTOR_INVALID: {
    retry: 'terminal',
    message: '{problem}',
    help: 'A label or field selector is invalid; it follows the grammar of kubectl, as in app=web,tier!=cache.',
  },

  // Kinds of Karpenter
  CRON_INVALID: {
    retry: 'terminal',
    message: '{text} is not a schedule: {problem}',
    help: 'The schedule of a disruption budget is invalid; write the five fields of cron, or a name such as @daily, in UTC unless a zone such as TZ=Europe/Berlin precedes them.',
  },

  // Embedded API server: schemas and encodings
  KUBE_BODY_UNREADABLE: {
    retry: 'terminal',
    message: 'the body of the request could not be read: {problem}',
    help: 'A client sent the embedded API server a body that does not match its content type, or a kind that it cannot read in protobuf; send JSON.',
  },

  // Embedded cluster: its server and files
  EMBEDDED_PORT_TAKEN: {
    retry: 'terminal',
    message: 'port {port} on {host} is in use by another program: choose another with --port',
    help: 'The embedded cluster could not listen on its port.',
  },
  EMBEDDED_PORT_REFUSED: {
    retry: 'terminal',
    message: 'cannot listen on {host}:{port}: {problem}',
    help: 'The system refuses to listen there; the address may belong to another machine, or the port needs privileges.',
  },
  EMBEDDED_HOST_UNSAFE: {
    retry: 'terminal',
    message: 'the embedded cluster does not listen on {host} without TLS and a token',
    help: 'On an address that other machines can reach, the embedded cluster needs a certificate and a token.',
  },
  EMBEDDED_FILE_UNWRITABLE: {
    retry: 'terminal',
    message: 'cannot write {path}: {problem}',
    help: 'The folder does not exist or is not writable; choose another file with --kubeconfig.',
  },
  EMBEDDED_KUBECONFIG_IN_USE: {
    retry: 'terminal',
    message:
      '{path} belongs to an embedded cluster that runs at {url}: stop it, or choose another file with --kubeconfig',
    help: 'Another embedded cluster wrote this kubeconfig and still runs; a second one needs its own file and port.',
  },
  EMBEDDED_KUBECONFIG_FOREIGN: {
    retry: 'terminal',
    message: '{path} is a kubeconfig that the embedded cluster did not write: choose another file with --kubeconfig',
    help: 'The embedded cluster overwrites only its own kubeconfig files, so that access to another cluster is never lost.',
  },

  // Clouds
  CLOUD_INSUFFICIENT_CAPACITY: {
    retry: 'capacity',
    message: 'no capacity for {claim}: {offerings}',
    help: 'The cloud has no capacity for any offering of the NodeClaim; these offerings are unavailable for a while, and its pods are planned again.',
  },
  CLOUD_QUOTA_EXCEEDED: {
    retry: 'capacity',
    message: 'no launch of {claim}: a quota of the account is exhausted: {problem}',
    help: 'The account has reached a quota; other offerings may still be launched, or ask the cloud to raise the quota.',
  },
  CLOUD_INSTANCE_NOT_FOUND: {
    retry: 'refresh',
    message: 'there is no instance {instance}',
    help: 'The instance of a NodeClaim does not exist, no longer, or is so young that the cloud does not show it yet.',
  },
  CLOUD_NODE_CLASS_NOT_READY: {
    retry: 'refresh',
    message: 'node class {nodeClass} is not ready: {problem}',
    help: 'Nothing can be launched from the node class now; its status conditions say what is missing.',
  },
  CLOUD_THROTTLED: {
    retry: 'retry',
    message: '{operation} was throttled: too many requests',
    help: 'The cloud, or a rate limit of Spindrift, asked for fewer requests; the call is repeated later.',
  },
  CLOUD_DENIED: {
    retry: 'terminal',
    message: '{operation} was denied: {problem}',
    help: 'The cloud identity of Spindrift lacks a permission.',
  },
  CLOUD_REFUSED: {
    retry: 'terminal',
    message: '{operation} was refused: {problem}',
    help: 'The cloud rejects the request as invalid: correct the node class or the options; the message quotes the cloud.',
  },
  CLOUD_CREDENTIALS: {
    retry: 'retry',
    message: '{operation} failed: the cloud does not accept the credentials: {problem}',
    help: 'Credentials are missing, wrong or expired; they are read again with the next call.',
  },
  CLOUD_NOT_CONFIGURED: {
    retry: 'terminal',
    message: 'cloud {cloud} cannot be used: {problem}',
    help: 'A setting that the cloud needs is missing; the message says what to set.',
  },
  CLOUD_UNAVAILABLE: {
    retry: 'retry',
    message: '{operation} failed in the cloud: {problem}',
    help: 'The cloud failed or could not be reached; the call may or may not have been executed, and repeating it is safe.',
  },
  CLOUD_USER_DATA_INVALID: {
    retry: 'terminal',
    message: 'the user data is invalid: {problem}',
    help: 'The user data of a node class cannot be merged with the part that joins the node to the cluster, or is too long; the message says what to change.',
  },
  CLOUD_NOT_OPEN: {
    retry: 'retry',
    message: 'the cloud {cloud} cannot be used yet: {problem}',
    help: 'An enabled cloud could not be opened: its node class kind is not installed, or credentials or settings are missing. Spindrift retries; other clouds are not affected.',
  },
  CLOUD_NOT_ENABLED: {
    retry: 'terminal',
    message: 'no enabled cloud has node classes of kind {kind}: enable its cloud with --cloud',
    help: 'A NodePool or NodeClaim refers to a node class of a cloud that is not enabled; another autoscaler may own it.',
  },
  CLOUD_REBOOT_REFUSED: {
    retry: 'terminal',
    message: '{instance} cannot be rebooted: {problem}',
    help: 'The cloud or the state of the instance does not allow a reboot; the node is replaced instead.',
  },
  AWS_QUEUE_MISSING: {
    retry: 'retry',
    message:
      'there is no interruption queue {queue} in this account and region: create it with spindrift aws setup-queue, or correct the name',
    help: 'Spindrift receives no interruption messages from AWS. It checks for the queue again from time to time.',
  },

  // Engine
  PROBLEM_INVALID: {
    retry: 'terminal',
    message: '{object}: {field} {problem}',
    help: 'The engine was given an invalid problem; the message names the object and the field to correct.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** The details of an error: one for each `{name}` in its message, and any others. */
export type ErrorDetails<Code extends ErrorCode> = {
  readonly [Name in Placeholders<(typeof ERRORS)[Code]['message']>]: string | number;
} & Readonly<Record<string, unknown>>;

/** An error of the table above. */
export class SpindriftError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, details: ErrorDetails<Code>, options?: ErrorOptions) {
    super(fill(ERRORS[code].message, details), options);
    this.name = 'SpindriftError';
    this.code = code;
    this.details = details;
  }

  /** How the caller should react. */
  get retry(): RetryClass {
    return ERRORS[this.code].retry;
  }
}

/** Whether a caught value is an error with one of these codes. */
export function hasCode<Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is SpindriftError<Code> {
  return error instanceof SpindriftError && (codes as ErrorCode[]).includes(error.code);
}

/** Whether the same call fails again until something is changed. */
export function isTerminal(error: unknown): boolean {
  return error instanceof SpindriftError && error.retry === 'terminal';
}

/** Converts a thrown value to an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function fill(template: string, details: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name]));
}
