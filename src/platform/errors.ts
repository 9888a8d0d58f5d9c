/**
 * Every error Spindrift raises on purpose, in one table: what it is called, what a caller should do about it, and the
 * sentence people read. `docs/reference/errors.md` is made from it.
 */

/**
 * What a caller does about an error.
 * - `terminal`: the same call fails again; someone must change something
 * - `retry`: passing trouble; the same call, later, with back-off
 * - `refresh`: our picture is old; read again, decide again
 * - `capacity`: the cloud has none of it now; take the next offering
 */
export type RetryClass = 'terminal' | 'retry' | 'refresh' | 'capacity';

interface ErrorDefinition {
  readonly retry: RetryClass;
  /** A phrase in lower case without a final dot; `{name}` stands for the detail of that name. */
  readonly message: string;
  /** One sentence for the reference: when it happens and what to do. */
  readonly help: string;
}

export const ERRORS = {
  // Platform
  OPTION_INVALID: {
    retry: 'terminal',
    message: '{option} is {value}, but it must be {allowed}',
    help: 'A flag or environment variable has a value that is not allowed; the sentence says what is.',
  },
  OPTION_UNKNOWN: {
    retry: 'terminal',
    message: '{option} is not an option of {command}{hint}',
    help: 'A flag was mistyped or belongs to another command; `--help` lists those there are.',
  },
  COMMAND_UNKNOWN: {
    retry: 'terminal',
    message: '{command} is not a command of spindrift{hint}',
    help: 'The first word is not a command; `spindrift --help` lists those there are.',
  },
  ARGUMENT_INVALID: {
    retry: 'terminal',
    message: '{command}: {problem}',
    help: 'What stands after a command is missing or cannot be understood; the sentence says what to write.',
  },
  MANIFESTS_INVALID: {
    retry: 'terminal',
    message: '{problems}',
    help: 'Manifests that were given to a command are wrong; one line for each problem names the file, the document, the object and the field.',
  },
  OBJECT_UNKNOWN: {
    retry: 'terminal',
    message: 'there is no {object}{hint}',
    help: 'A command was asked about something that the cluster does not have, or has no longer.',
  },
  CLUSTER_WITHOUT_KINDS: {
    retry: 'terminal',
    message:
      'the cluster at {server} does not know NodePools: install their definitions first, with the chart or with spindrift run --install-definitions',
    help: 'A command needs a cluster that Spindrift, or another autoscaler with the same kinds, runs on.',
  },
  SETTINGS_INVALID: {
    retry: 'terminal',
    message: 'settings of {file} cannot be used: {problem}',
    help: 'The file of live settings has a mistake; the former settings hold until it is corrected.',
  },
  DEADLINE_EXCEEDED: {
    retry: 'retry',
    message: 'not finished within {milliseconds} ms',
    help: 'A step took longer than the time it was given and was stopped.',
  },
  CLOCK_DEADLOCK: {
    retry: 'terminal',
    message: '{what} can never finish: no timer is left on the virtual clock at {now}',
    help: 'Virtual time only: something waits for an event that nothing will bring about. It is a bug in the test or in the code under test.',
  },

  // Running
  STATUS_SERVER_FAILED: {
    retry: 'terminal',
    message: 'cannot listen on {host}:{port} for probes and metrics: {problem}',
    help: 'The port is taken or not allowed; choose another with --metrics-port or --health-probe-port.',
  },

  // Kubernetes API
  KUBE_CONFIG_INVALID: {
    retry: 'terminal',
    message: 'no cluster to talk to: {problem}',
    help: 'The kubeconfig is missing, unreadable, or has no usable context; pass `--kubeconfig`, set KUBECONFIG, or run inside a cluster.',
  },
  KUBE_BAD_REQUEST: { retry: 'terminal', message: '{message}', help: 'The API server could not read the request.' },
  KUBE_UNAUTHORIZED: {
    retry: 'retry',
    message: '{message}',
    help: 'The API server does not know who we are; credentials may have just been rotated.',
  },
  KUBE_FORBIDDEN: {
    retry: 'terminal',
    message: '{message}',
    help: 'The API server knows who we are and refuses: a role is missing.',
  },
  KUBE_NOT_FOUND: { retry: 'refresh', message: '{message}', help: 'The object does not exist (any more).' },
  KUBE_ALREADY_EXISTS: { retry: 'refresh', message: '{message}', help: 'An object of that name is there already.' },
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
  KUBE_INVALID: { retry: 'terminal', message: '{message}', help: 'The object breaks a rule of its kind.' },
  KUBE_UNSUPPORTED: {
    retry: 'terminal',
    message: '{message}',
    help: 'The API server does not do this verb, media type or content.',
  },
  KUBE_TOO_LARGE: { retry: 'terminal', message: '{message}', help: 'The request is larger than the API server takes.' },
  KUBE_THROTTLED: {
    retry: 'retry',
    message: '{message}',
    help: 'The API server asks to come back later (429 or 503 with Retry-After).',
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
    help: 'The connection could not be made or broke before the answer was complete; the request may or may not have been carried out.',
  },
  KUBE_PROTOCOL: {
    retry: 'retry',
    message: '{method} {path} was answered by {server} with something that is not Kubernetes: {problem}',
    help: 'The answer could not be parsed; a proxy may stand in between.',
  },

  // Kubernetes nouns
  QUANTITY_INVALID: {
    retry: 'terminal',
    message: '{text} is not a quantity: {problem}',
    help: 'An amount of a resource could not be read; it is a number with a suffix as in 500m, 2, 1.5Gi or 1e3.',
  },
  SELECTOR_INVALID: {
    retry: 'terminal',
    message: '{problem}',
    help: 'A label or field selector does not follow the grammar that kubectl and the API server share.',
  },

  // Kinds of Karpenter
  CRON_INVALID: {
    retry: 'terminal',
    message: '{text} is not a schedule: {problem}',
    help: 'The schedule of a disruption budget could not be read; it has the five fields of cron, or is a name such as @daily, in UTC unless a zone such as TZ=Europe/Berlin stands before them.',
  },

  // Embedded API server: schemas and encodings
  KUBE_BODY_UNREADABLE: {
    retry: 'terminal',
    message: 'the body of the request could not be read: {problem}',
    help: 'A client sent the embedded API server bytes that are not what their content type says, or a kind that it cannot read in protobuf; send JSON.',
  },

  // Embedded cluster: its server and files
  EMBEDDED_PORT_TAKEN: {
    retry: 'terminal',
    message: 'port {port} on {host} is taken by another program; choose another with --port',
    help: 'The embedded cluster could not listen on the port it was given.',
  },
  EMBEDDED_PORT_REFUSED: {
    retry: 'terminal',
    message: 'cannot listen on {host}:{port}: {problem}',
    help: 'The system does not let the embedded cluster listen there; the address may not be of this machine, or the port needs rights.',
  },
  EMBEDDED_HOST_UNSAFE: {
    retry: 'terminal',
    message: 'the embedded cluster does not listen on {host} without TLS and a token',
    help: 'On an address that other machines reach, the embedded cluster only listens with a certificate and a token.',
  },
  EMBEDDED_FILE_UNWRITABLE: {
    retry: 'terminal',
    message: 'cannot write {path}: {problem}',
    help: 'The folder does not exist or may not be written to; choose another file with --kubeconfig.',
  },
  EMBEDDED_KUBECONFIG_IN_USE: {
    retry: 'terminal',
    message: '{path} leads to a cluster that runs at {url}; stop that one, or choose another file with --kubeconfig',
    help: 'Another embedded cluster has written this kubeconfig and still runs; a second one needs a file and a port of its own.',
  },
  EMBEDDED_KUBECONFIG_FOREIGN: {
    retry: 'terminal',
    message: '{path} is a kubeconfig that the embedded cluster did not write; choose another file with --kubeconfig',
    help: 'The embedded cluster replaces only kubeconfig files of its own, so that nobody loses the way to another cluster.',
  },

  // Clouds
  CLOUD_INSUFFICIENT_CAPACITY: {
    retry: 'capacity',
    message: 'no capacity for {claim}: {offerings}',
    help: 'The cloud has none of the offerings that the claim allows; they are kept out of the market for a while and its pods go back to the solver.',
  },
  CLOUD_QUOTA_EXCEEDED: {
    retry: 'capacity',
    message: 'no launch of {claim}: a quota of the account is used up: {problem}',
    help: 'The account may not have more of this; other offerings may still be launched, or ask the cloud to raise the quota.',
  },
  CLOUD_INSTANCE_NOT_FOUND: {
    retry: 'refresh',
    message: 'there is no instance {instance}',
    help: 'The instance of a claim does not exist (any more), or is so young that the cloud does not show it yet.',
  },
  CLOUD_NODE_CLASS_NOT_READY: {
    retry: 'refresh',
    message: 'node class {nodeClass} is not ready: {problem}',
    help: 'Nothing can be launched from the node class now; its conditions say what is missing.',
  },
  CLOUD_THROTTLED: {
    retry: 'retry',
    message: '{operation} was refused because there were too many requests',
    help: 'The cloud asks to slow down; the call is made again later.',
  },
  CLOUD_DENIED: {
    retry: 'terminal',
    message: '{operation} was denied: {problem}',
    help: 'The cloud knows who we are and refuses: a permission is missing.',
  },
  CLOUD_REFUSED: {
    retry: 'terminal',
    message: '{operation} was refused: {problem}',
    help: 'The cloud does not accept the request as it is: a setting of the node class or of the options is wrong; the sentence has the words of the cloud.',
  },
  CLOUD_CREDENTIALS: {
    retry: 'retry',
    message: '{operation} failed because the cloud does not know who we are: {problem}',
    help: 'Credentials are missing, wrong or expired; they are read anew with the next call.',
  },
  CLOUD_NOT_CONFIGURED: {
    retry: 'terminal',
    message: 'cloud {cloud} cannot be used: {problem}',
    help: 'Something that the cloud needs to be opened is missing; the sentence says what to set.',
  },
  CLOUD_UNAVAILABLE: {
    retry: 'retry',
    message: '{operation} failed in the cloud: {problem}',
    help: 'The cloud had trouble of its own or could not be reached; the call may or may not have been carried out, and making it again is safe.',
  },
  CLOUD_USER_DATA_INVALID: {
    retry: 'terminal',
    message: 'the user data cannot be used: {problem}',
    help: 'What the user data of a node class says cannot be joined with what makes a node join, or is too long; the sentence says what to change.',
  },
  CLOUD_NOT_OPEN: {
    retry: 'retry',
    message: 'the cloud {cloud} cannot be used yet: {problem}',
    help: 'An enabled cloud could not be opened: its node class kind is not installed, or credentials or settings are missing. It is tried again; other clouds go on.',
  },
  CLOUD_NOT_ENABLED: {
    retry: 'terminal',
    message: 'no enabled cloud has node classes of {kind}: enable it with --cloud',
    help: 'A pool or claim refers to a node class of a cloud that this Spindrift does not serve; another autoscaler may.',
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
    help: 'Interruption messages of AWS cannot be heard. The queue is looked for again from time to time.',
  },

  // Engine
  PROBLEM_INVALID: {
    retry: 'terminal',
    message: '{object}: {field} {problem}',
    help: 'The engine was asked something that makes no sense; the sentence names the object and the field to correct.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** The details an error must carry: one for each `{name}` in its message; more are welcome. */
export type ErrorDetails<Code extends ErrorCode> = {
  readonly [Name in Placeholders<(typeof ERRORS)[Code]['message']>]: string | number;
} & Readonly<Record<string, unknown>>;

/** An error out of the table above. */
export class SpindriftError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, details: ErrorDetails<Code>, options?: ErrorOptions) {
    super(fill(ERRORS[code].message, details), options);
    this.name = 'SpindriftError';
    this.code = code;
    this.details = details;
  }

  /** What the caller should do about it. */
  get retry(): RetryClass {
    return ERRORS[this.code].retry;
  }
}

/** Tells whether something caught is the error of that code. */
export function hasCode<Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is SpindriftError<Code> {
  return error instanceof SpindriftError && (codes as ErrorCode[]).includes(error.code);
}

/** Whether the same call will fail again until someone changes something. */
export function isTerminal(error: unknown): boolean {
  return error instanceof SpindriftError && error.retry === 'terminal';
}

/** What was thrown, as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function fill(template: string, details: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name]));
}
