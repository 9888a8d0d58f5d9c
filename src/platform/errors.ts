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
  EMBEDDED_KUBECONFIG_FOREIGN: {
    retry: 'terminal',
    message: '{path} is a kubeconfig that the embedded cluster did not write; choose another file with --kubeconfig',
    help: 'The embedded cluster replaces only kubeconfig files of its own, so that nobody loses the way to another cluster.',
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

/** What was thrown, as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function fill(template: string, details: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name]));
}
