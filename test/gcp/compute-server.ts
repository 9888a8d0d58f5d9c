/**
 * Compute Engine as far as instances go, in memory: it behaves as the real one where that hides bugs. An insert is accepted and fails
 * later in its operation, operations take their time, a request ID is replayed, names are unique per zone only, lists come in pages of
 * which some are empty, rate limits are a 403, labels have rules, families refuse boot disks, and a preempted instance may stay as TERMINATED.
 */
import type { HttpAnswer, HttpCall } from '../../src/cloud/http-send.ts';
import { type Clock, toTimestamp } from '../../src/platform/clock.ts';
import { type ServedHandler, serveHandler } from '../http/serve-handler.ts';

export type ServerTrouble = 'hang' | 'lost-answer' | 'throttled' | 'denied' | 'quota' | 'server-error';

interface InsertBody {
  readonly name?: string;
  readonly machineType?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly scheduling?: { readonly provisioningModel?: string; readonly instanceTerminationAction?: string };
  readonly disks?: readonly {
    readonly boot?: boolean;
    readonly autoDelete?: boolean;
    readonly initializeParams?: { readonly sourceImage?: string; readonly diskType?: string };
  }[];
}

interface StoredInstance {
  readonly body: InsertBody & Record<string, unknown>;
  readonly id: string;
  readonly zone: string;
  readonly createdAt: number;
  status: 'PROVISIONING' | 'STAGING' | 'RUNNING' | 'STOPPING' | 'TERMINATED';
}

interface StoredOperation {
  readonly name: string;
  readonly zone: string;
  readonly type: 'insert' | 'delete';
  readonly target: string;
  readonly requestId?: string;
  readonly doneAt: number;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
  readonly effect: () => void;
  applied: boolean;
}

export interface ComputeServerOptions {
  readonly clock: Clock;
  readonly project?: string;
  readonly zones?: readonly string[];
  readonly machineTypes?: readonly string[];
  readonly operationMs?: number;
  readonly pageSize?: number;
}

const LABEL = /^[a-z0-9_-]{0,63}$/;
const HYPERDISK_ONLY = /^(n4|c4|c4a|c4d)-/;
const BASE = 'https://www.googleapis.com/compute/v1';

export class ComputeServer {
  readonly #options: Required<ComputeServerOptions>;
  readonly #instances = new Map<string, StoredInstance>();
  readonly #operations = new Map<string, StoredOperation>();
  /** Offerings without stock: `zone/type/model`. */
  readonly exhausted = new Set<string>();
  /** What the next inserts end with, first to last; after that they end well. */
  readonly endings: { readonly code: string; readonly message: string }[] = [];
  /** A zone that does not answer. */
  unreachable: string | undefined;
  trouble: ServerTrouble | undefined;
  launches = 0;
  #serial = 0;

  constructor(options: ComputeServerOptions) {
    this.#options = {
      project: 'p',
      zones: ['us-central1-a', 'us-central1-b'],
      machineTypes: ['e2-standard-2', 'n2-standard-4'],
      operationMs: 2_000,
      pageSize: 3,
      ...options,
    };
  }

  get instances(): number {
    return this.#instances.size;
  }

  /** The instances that there are, with what they were asked for. */
  get all(): readonly {
    readonly name: string;
    readonly zone: string;
    readonly status: string;
    readonly body: object;
  }[] {
    this.#tick();
    return [...this.#instances.values()].map(({ body, zone, status }) => ({
      name: body.name ?? '',
      zone,
      status,
      body,
    }));
  }

  /** Compute Engine takes a spot instance back. */
  preempt(name: string): void {
    for (const [key, instance] of this.#instances) {
      if (instance.body.name !== name) continue;
      if (instance.body.scheduling?.instanceTerminationAction === 'DELETE') this.#instances.delete(key);
      else instance.status = 'TERMINATED';
    }
  }

  /** Answers one call; never when it hangs. */
  async handle(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
    signal.throwIfAborted();
    const isInsert = call.method === 'POST';
    if (this.trouble === 'hang' && isInsert) return never(signal);
    const answer = this.#refusal(call) ?? this.#route(call);
    if (this.trouble === 'lost-answer' && isInsert) return never(signal);
    return answer;
  }

  /** The same over a socket on this machine, for SDKs. */
  listen(): Promise<ServedHandler> {
    return serveHandler(
      (call, signal) => this.handle(call, signal),
      () => 'http://127.0.0.1',
    );
  }

  #refusal({ method }: HttpCall): HttpAnswer | undefined {
    switch (this.trouble) {
      case 'throttled':
        return refusal(403, 'rateLimitExceeded', "Quota exceeded for quota metric 'Queries'");
      case 'denied':
        return method === 'POST'
          ? refusal(403, 'forbidden', "Required 'compute.instances.create' permission")
          : undefined;
      case 'server-error':
        return refusal(503, 'backendError', 'Internal error encountered.');
      default:
        return undefined;
    }
  }

  #route({ method, url, body }: HttpCall): HttpAnswer {
    const { pathname, searchParams } = new URL(url);
    const { project } = this.#options;
    const path = pathname.split(`/projects/${project}/`)[1] ?? '';
    const [scope, zone = '', collection, name = ''] = path.split('/');
    if (scope === 'aggregated') return this.#aggregated(zone, searchParams);
    if (scope !== 'zones' || !this.#options.zones.includes(zone))
      return refusal(404, 'notFound', `The resource '${path}' was not found`);
    if (collection === 'operations') return this.#operation(name);
    if (method === 'POST' && name === '')
      return this.#insert(zone, JSON.parse(body ?? '{}') as InsertBody, searchParams.get('requestId') ?? undefined);
    this.#tick();
    const instance = this.#instances.get(`${zone}/${name}`);
    if (instance === undefined)
      return refusal(
        404,
        'notFound',
        `The resource 'projects/${project}/zones/${zone}/instances/${name}' was not found`,
      );
    if (method === 'GET') return json(this.#shown(instance));
    instance.status = 'STOPPING';
    return this.#begin({
      zone,
      type: 'delete',
      target: name,
      errors: [],
      effect: () => this.#instances.delete(`${zone}/${name}`),
    });
  }

  #insert(zone: string, body: InsertBody, requestId: string | undefined): HttpAnswer {
    const replayed = [...this.#operations.values()].find(
      (operation) => requestId !== undefined && operation.requestId === requestId && operation.zone === zone,
    );
    if (replayed !== undefined) return json(this.#shownOperation(replayed));
    const { name = '' } = body;
    if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      return refusal(400, 'invalid', `Invalid value for field 'resource.name': '${name}'`);
    for (const [key, value] of Object.entries(body.labels ?? {})) {
      if (!LABEL.test(value) || !/^[a-z]/.test(key))
        return refusal(400, 'invalid', `Invalid value for field 'resource.labels': '${key}: ${value}'`);
    }
    this.#tick();
    if (this.#instances.has(`${zone}/${name}`))
      return refusal(409, 'alreadyExists', `The resource '${name}' already exists`);
    const type = body.machineType?.split('/').at(-1) ?? '';
    if (!this.#options.machineTypes.includes(type))
      return refusal(400, 'invalid', `Invalid value for field 'resource.machineType': '${body.machineType}'`);
    const { diskType = '', sourceImage = '' } = body.disks?.[0]?.initializeParams ?? {};
    const disk = diskType.slice(diskType.lastIndexOf('/') + 1);
    if (HYPERDISK_ONLY.test(type) && disk.startsWith('pd-'))
      return refusal(400, 'invalid', `[${disk}] disk type cannot be used by ${type} machine type.`);
    if (sourceImage.endsWith('/missing'))
      return refusal(404, 'notFound', `The resource '${sourceImage}' was not found`);
    const model = body.scheduling?.provisioningModel ?? 'STANDARD';
    const ending = this.endings.shift();
    const errors =
      ending !== undefined
        ? [ending]
        : this.trouble === 'quota'
          ? [
              {
                code: 'QUOTA_EXCEEDED',
                message: "Quota 'PREEMPTIBLE_CPUS' exceeded. Limit: 0.0 in region us-central1.",
              },
            ]
          : this.exhausted.has(`${zone}/${type}/${model}`)
            ? [
                {
                  code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
                  message: `The zone 'projects/p/zones/${zone}' does not have enough resources available`,
                },
              ]
            : [];
    if (errors.length === 0) {
      const createdAt = this.#options.clock.now();
      this.#instances.set(`${zone}/${name}`, {
        body: body as StoredInstance['body'],
        id: `${1_000_000 + ++this.#serial}`,
        zone,
        createdAt,
        status: 'PROVISIONING',
      });
      this.launches++;
    }
    const effect = (): void => {
      const made = this.#instances.get(`${zone}/${name}`);
      if (made !== undefined && made.status === 'PROVISIONING') made.status = 'RUNNING';
    };
    return this.#begin({
      zone,
      type: 'insert',
      target: name,
      errors,
      effect,
      ...(requestId !== undefined && { requestId }),
    });
  }

  #begin(operation: Omit<StoredOperation, 'name' | 'doneAt' | 'applied'>): HttpAnswer {
    const name = `operation-${++this.#serial}`;
    const stored = {
      ...operation,
      name,
      doneAt: this.#options.clock.now() + this.#options.operationMs,
      applied: false,
    };
    this.#operations.set(name, stored);
    return json(this.#shownOperation(stored));
  }

  #operation(name: string): HttpAnswer {
    this.#tick();
    const operation = this.#operations.get(name);
    return operation === undefined
      ? refusal(404, 'notFound', `The resource '${name}' was not found`)
      : json(this.#shownOperation(operation));
  }

  /** What was to happen by now has happened. */
  #tick(): void {
    for (const operation of this.#operations.values()) {
      if (operation.applied || this.#options.clock.now() < operation.doneAt) continue;
      operation.applied = true;
      operation.effect();
    }
  }

  #aggregated(collection: string, query: URLSearchParams): HttpAnswer {
    this.#tick();
    const { zones, machineTypes, project, pageSize } = this.#options;
    const all =
      collection === 'machineTypes'
        ? zones.flatMap((zone) =>
            machineTypes.map(
              (name, index) =>
                [
                  zone,
                  {
                    kind: 'compute#machineType',
                    id: `${index + 1}`,
                    name,
                    zone,
                    guestCpus: Number(name.split('-').at(-1)),
                    memoryMb: 8192,
                    isSharedCpu: false,
                  },
                ] as const,
            ),
          )
        : [...this.#instances.values()]
            .filter((instance) => passes(instance, query.get('filter')))
            .map((instance) => [instance.zone, this.#shown(instance)] as const);
    const from = Number(query.get('pageToken') ?? 0);
    const size = Math.min(pageSize, Number(query.get('maxResults') ?? 500));
    const page = all.slice(from, from + size);
    const items = Object.fromEntries(
      zones.map((zone) => {
        const ofZone = page.filter(([place]) => place === zone).map(([, item]) => item);
        const empty = {
          warning: {
            code: 'NO_RESULTS_ON_PAGE',
            message: `There are no results for scope 'zones/${zone}' on this page.`,
            data: [{ key: 'scope', value: `zones/${zone}` }],
          },
        };
        const away = { warning: { code: 'UNREACHABLE', message: `zones/${zone} could not be reached` } };
        if (zone === this.unreachable) return [`zones/${zone}`, away];
        return [`zones/${zone}`, ofZone.length === 0 ? empty : { [collection]: ofZone }];
      }),
    );
    const kind = collection === 'machineTypes' ? 'compute#machineTypeAggregatedList' : 'compute#instanceAggregatedList';
    const next = from + size < all.length ? { nextPageToken: `${from + size}` } : {};
    return json({
      kind,
      id: `projects/${project}/aggregated/${collection}`,
      items,
      ...next,
      selfLink: `${BASE}/projects/${project}/aggregated/${collection}`,
    });
  }

  #shown({ body, id, zone, createdAt, status }: StoredInstance): object {
    const { project } = this.#options;
    return {
      ...body,
      kind: 'compute#instance',
      id,
      creationTimestamp: toTimestamp(createdAt as never),
      zone: `${BASE}/projects/${project}/zones/${zone}`,
      machineType: `${BASE}/projects/${project}/${body.machineType}`,
      status,
      labelFingerprint: '42WmSpB8rSM=',
      selfLink: `${BASE}/projects/${project}/zones/${zone}/instances/${body.name}`,
    };
  }

  #shownOperation({ name, zone, type, target, requestId, doneAt, errors }: StoredOperation): object {
    const { project, clock } = this.#options;
    const isDone = clock.now() >= doneAt;
    return {
      kind: 'compute#operation',
      id: `${name.length}${doneAt}`,
      name,
      zone: `${BASE}/projects/${project}/zones/${zone}`,
      operationType: type,
      targetLink: `${BASE}/projects/${project}/zones/${zone}/instances/${target}`,
      status: isDone ? 'DONE' : 'RUNNING',
      progress: isDone ? 100 : 0,
      user: 'test@example.com',
      ...(requestId !== undefined && { clientOperationId: requestId }),
      ...(isDone &&
        errors.length > 0 && { error: { errors }, httpErrorStatusCode: 503, httpErrorMessage: 'SERVICE UNAVAILABLE' }),
      selfLink: `${BASE}/projects/${project}/zones/${zone}/operations/${name}`,
    };
  }
}

function passes({ body }: StoredInstance, filter: string | null): boolean {
  const match = /^labels\.([a-z0-9_-]+)=(.*)$/.exec(filter ?? '');
  return match === null || body.labels?.[match[1] ?? ''] === match[2];
}

function json(body: object): HttpAnswer {
  return { status: 200, headers: { 'content-type': 'application/json; charset=UTF-8' }, body: JSON.stringify(body) };
}

function refusal(code: number, reason: string, message: string): HttpAnswer {
  const body = { error: { code, message, errors: [{ message, domain: 'global', reason }] } };
  return { status: code, headers: { 'content-type': 'application/json; charset=UTF-8' }, body: JSON.stringify(body) };
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
