/**
 * Azure Resource Manager as far as VMs and interfaces go, in memory: it behaves as the real one where that hides bugs. A PUT is answered
 * 201 and fails later in its operation with the code one level down; a failed create leaves its interface, reserved for a while, and a VM in state Failed;
 * a changed PUT is a 409; IDs come back in mixed case; lists come in pages; spot that is sold out flips LowPriorityCapable.
 */
import type { HttpAnswer, HttpCall } from '../../src/cloud/http-send.ts';
import { type Clock, toTimestamp } from '../../src/platform/clock.ts';
import { type ServedHandler, serveHandler } from '../http/serve-handler.ts';

export type ServerTrouble = 'hang' | 'lost-answer' | 'throttled' | 'denied' | 'quota' | 'server-error';

interface VmBody {
  readonly location?: string;
  readonly zones?: readonly string[];
  readonly properties?: {
    readonly hardwareProfile?: { readonly vmSize?: string };
    readonly priority?: string;
    readonly evictionPolicy?: string;
    readonly networkProfile?: { readonly networkInterfaces?: readonly { readonly id?: string }[] };
  } & Readonly<Record<string, unknown>>;
}

interface StoredVm {
  readonly body: VmBody;
  readonly createdAt: number;
  readonly serial: number;
  state: 'Creating' | 'Succeeded' | 'Failed' | 'Deleting';
  deallocated?: boolean;
}

interface StoredInterface {
  readonly body: Readonly<Record<string, unknown>>;
  readonly serial: number;
  vm?: string;
  reservedUntil?: number;
}

interface StoredOperation {
  readonly doneAt: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly effect: () => void;
  applied: boolean;
}

export interface ArmServerOptions {
  readonly clock: Clock;
  readonly sizes?: readonly string[];
  readonly pageSize?: number;
  readonly operationMs?: number;
  /** Where pages and operations are found; the address that was called when absent. */
  base?: string;
}

const COMPUTE = 'microsoft.compute/virtualmachines';
const NETWORK = 'microsoft.network/networkinterfaces';
const RESERVED_MS = 180_000;

export class ArmServer {
  readonly #options: Required<ArmServerOptions>;
  readonly #vms = new Map<string, StoredVm>();
  readonly #interfaces = new Map<string, StoredInterface>();
  readonly #operations = new Map<string, StoredOperation>();
  /** Offerings without stock: `zone/size/priority`. */
  readonly exhausted = new Set<string>();
  readonly noSpot = new Set<string>();
  /** Sizes that are sold without zones. */
  readonly zoneless = new Set<string>();
  /** What the next PUT of a VM is refused with. */
  readonly refusals: { readonly status: number; readonly code: string; readonly message: string }[] = [];
  trouble: ServerTrouble | undefined;
  launches = 0;
  #serial = 0;

  constructor(options: ArmServerOptions) {
    this.#options = {
      sizes: ['Standard_D2s_v5', 'Standard_D4s_v5'],
      pageSize: 2,
      operationMs: 5_000,
      base: 'https://management.azure.com',
      ...options,
    };
  }

  get leftovers(): number {
    this.#tick();
    return this.#vms.size + this.#interfaces.size;
  }

  /** The VMs that there are, with what they were asked for. */
  get all(): readonly {
    readonly name: string;
    readonly state: string;
    readonly isOff: boolean;
    readonly body: object;
  }[] {
    this.#tick();
    return [...this.#vms].map(([name, { state, deallocated, body }]) => ({
      ...{ name, state, body },
      isOff: deallocated === true,
    }));
  }

  /** Azure evicts a spot VM. */
  evict(name: string): void {
    const key = name.toLowerCase();
    const vm = this.#vms.get(key);
    if (vm === undefined) return;
    if (vm.body.properties?.evictionPolicy === 'Delete') this.#remove(key);
    else vm.deallocated = true;
  }

  async handle(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
    signal.throwIfAborted();
    const isCreate = call.method === 'PUT' && call.url.toLowerCase().includes(COMPUTE);
    if (this.trouble === 'hang' && isCreate) return never(signal);
    const answer = this.#refusal(call) ?? this.#route(call);
    if (this.trouble === 'lost-answer' && isCreate) return never(signal);
    return answer;
  }

  /** The same over a socket on this machine, for SDKs. */
  async listen(): Promise<ServedHandler> {
    const served = await serveHandler(
      (call, signal) => this.handle(call, signal),
      () => this.#options.base,
    );
    this.#options.base = served.url;
    return served;
  }

  #refusal({ method }: HttpCall): HttpAnswer | undefined {
    switch (this.trouble) {
      case 'throttled':
        return refusal(
          429,
          'TooManyRequests',
          'The server rejected the request because too many requests have been received',
          { 'retry-after': '10' },
        );
      case 'denied':
        return method === 'PUT'
          ? refusal(403, 'AuthorizationFailed', 'The client does not have authorization to perform action')
          : undefined;
      case 'server-error':
        return refusal(503, 'ServiceUnavailable', 'The service is unavailable');
      default:
        return undefined;
    }
  }

  #route({ method, url, body }: HttpCall): HttpAnswer {
    this.#tick();
    const { pathname, searchParams } = new URL(url);
    if (searchParams.get('api-version') === null)
      return refusal(400, 'MissingApiVersionParameter', 'The api-version query parameter is required');
    const path = pathname.toLowerCase();
    if (path.includes('/operations/')) return this.#operation(path.split('/').at(-1) ?? '');
    if (path.endsWith('/skus')) return this.#skus();
    const [, kind = '', name = ''] = /\/providers\/(microsoft\.[a-z]+\/[a-z]+)\/?([^/]*)$/.exec(path) ?? [];
    if (kind !== COMPUTE && kind !== NETWORK)
      return refusal(404, 'InvalidResourceType', `The resource type could not be found: ${kind}`);
    if (name === '') return this.#list(kind, pathname, searchParams);
    if (method === 'PUT')
      return kind === COMPUTE
        ? this.#putVm(name, pathname, JSON.parse(body ?? '{}') as VmBody)
        : this.#putInterface(name, pathname, JSON.parse(body ?? '{}'));
    if (kind === COMPUTE) {
      const vm = this.#vms.get(name);
      if (vm === undefined) return method === 'DELETE' ? { status: 204, headers: {}, body: '' } : notFound(pathname);
      if (method === 'GET')
        return json(200, this.#shownVm(name, vm, undefined, searchParams.get('$expand') === 'instanceView'));
      vm.state = 'Deleting';
      return this.#accepted(202, {}, { effect: () => this.#remove(name) });
    }
    const one = this.#interfaces.get(name);
    if (one === undefined) return method === 'DELETE' ? { status: 204, headers: {}, body: '' } : notFound(pathname);
    if (method === 'GET') return json(200, this.#shownInterface(name, one));
    if (one.vm !== undefined)
      return refusal(400, 'NicInUse', `Network Interface ${name} is used by existing VM ${one.vm}`);
    if ((one.reservedUntil ?? 0) > this.#options.clock.now())
      return refusal(409, 'NicReservedForAnotherVm', `Nic(s) ${name} is reserved for another VM for 180 seconds`);
    this.#interfaces.delete(name);
    return this.#accepted(202, {}, { effect: () => undefined });
  }

  #putInterface(name: string, id: string, body: Record<string, unknown>): HttpAnswer {
    const present = this.#interfaces.get(name);
    if (present === undefined) this.#interfaces.set(name, { body, serial: ++this.#serial });
    return json(
      present === undefined ? 201 : 200,
      this.#shownInterface(name, this.#interfaces.get(name) as StoredInterface, id),
    );
  }

  #putVm(name: string, id: string, body: VmBody): HttpAnswer {
    const present = this.#vms.get(name);
    const size = body.properties?.hardwareProfile?.vmSize ?? '';
    if (present !== undefined) {
      const isChanged =
        present.body.properties?.hardwareProfile?.vmSize !== size || present.body.zones?.[0] !== body.zones?.[0];
      return isChanged
        ? refusal(409, 'PropertyChangeNotAllowed', "Changing property 'zones' is not allowed.")
        : json(200, this.#shownVm(name, present, id));
    }
    if (!this.#options.sizes.includes(size))
      return refusal(400, 'InvalidParameter', `The value ${size} provided for the VM size is not valid`);
    const used =
      body.properties?.networkProfile?.networkInterfaces?.map(
        (one) => one.id?.split('/').at(-1)?.toLowerCase() ?? '',
      ) ?? [];
    for (const each of used) {
      const one = this.#interfaces.get(each);
      if (one === undefined)
        return refusal(
          400,
          'InvalidResourceReference',
          `Resource ${each} referenced by resource ${name} was not found`,
        );
      if ((one.reservedUntil ?? 0) > this.#options.clock.now())
        return refusal(409, 'NicReservedForAnotherVm', `Nic(s) ${each} is reserved`);
    }
    const next = this.refusals.shift();
    if (next !== undefined) return refusal(next.status, next.code, next.message);
    if (this.trouble === 'quota')
      return refusal(
        409,
        'OperationNotAllowed',
        'Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Current Limit: 0',
      );
    const vm: StoredVm = { body, createdAt: this.#options.clock.now(), serial: ++this.#serial, state: 'Creating' };
    this.#vms.set(name, vm);
    for (const each of used) (this.#interfaces.get(each) as StoredInterface).vm = name;
    const isOut = this.exhausted.has(`${body.zones?.[0] ?? ''}/${size}/${body.properties?.priority ?? 'Regular'}`);
    if (!isOut) this.launches++;
    const effect = (): void => {
      vm.state = isOut ? 'Failed' : 'Succeeded';
      if (!isOut) return;
      for (const each of used) {
        const one = this.#interfaces.get(each);
        if (one !== undefined) one.reservedUntil = this.#options.clock.now() + RESERVED_MS;
      }
    };
    const error = {
      code: 'ZonalAllocationFailed',
      message: 'Allocation failed. We do not have sufficient capacity for the requested VM size in this zone.',
    };
    return this.#accepted(201, this.#shownVm(name, vm, id), { effect, ...(isOut && { error }) });
  }

  /** Disk and interface go with the VM, where it was made so; a reserved interface stays. */
  #remove(name: string): void {
    this.#vms.delete(name);
    for (const [key, one] of this.#interfaces) {
      if (one.vm !== name) continue;
      if ((one.reservedUntil ?? 0) > this.#options.clock.now()) delete one.vm;
      else this.#interfaces.delete(key);
    }
  }

  #accepted(status: number, body: object, operation: Pick<StoredOperation, 'effect' | 'error'>): HttpAnswer {
    const { clock, operationMs, base } = this.#options;
    const id = `op${++this.#serial}`;
    this.#operations.set(id, { ...operation, doneAt: clock.now() + operationMs, applied: false });
    const url = `${base}/subscriptions/s/providers/Microsoft.Compute/locations/eastus/operations/${id}?api-version=2025-04-01`;
    return {
      ...json(status, body),
      headers: { 'content-type': 'application/json', 'azure-asyncoperation': url, 'retry-after': '1' },
    };
  }

  #operation(id: string): HttpAnswer {
    const operation = this.#operations.get(id);
    if (operation === undefined) return notFound(id);
    const isDone = operation.applied;
    const status = !isDone ? 'InProgress' : operation.error === undefined ? 'Succeeded' : 'Failed';
    const error = operation.error && {
      code: 'ResourceDeploymentFailure',
      message: "The resource operation completed with terminal provisioning state 'Failed'.",
      details: [operation.error],
    };
    return {
      ...json(200, { name: id, status, startTime: '2030-01-01T00:00:00Z', ...(isDone && error && { error }) }),
      headers: { 'content-type': 'application/json', 'retry-after': '1' },
    };
  }

  #tick(): void {
    for (const operation of this.#operations.values()) {
      if (operation.applied || this.#options.clock.now() < operation.doneAt) continue;
      operation.applied = true;
      operation.effect();
    }
  }

  #list(kind: string, pathname: string, query: URLSearchParams): HttpAnswer {
    const all =
      kind === COMPUTE
        ? [...this.#vms].map(([name, vm]) => this.#shownVm(name, vm))
        : [...this.#interfaces].map(([name, one]) => this.#shownInterface(name, one));
    const from = Number(query.get('$skiptoken') ?? 0);
    const next = from + this.#options.pageSize;
    const value = all.slice(from, next);
    const version = query.get('api-version');
    return json(200, {
      value,
      ...(next < all.length && {
        nextLink: `${this.#options.base}${pathname}?api-version=${version}&$skiptoken=${next}`,
      }),
    });
  }

  #skus(): HttpAnswer {
    const value = this.#options.sizes.map((name) => ({
      resourceType: 'virtualMachines',
      name,
      tier: 'Standard',
      size: name.replace('Standard_', ''),
      family: 'standardDSv5Family',
      locations: ['eastus'],
      locationInfo: [{ location: 'eastus', zones: this.zoneless.has(name) ? [] : ['1', '2'], zoneDetails: [] }],
      capabilities: [
        { name: 'vCPUs', value: '2' },
        { name: 'LowPriorityCapable', value: this.noSpot.has(name) ? 'False' : 'True' },
      ],
      restrictions: [],
    }));
    return json(200, { value });
  }

  #shownVm(
    name: string,
    { body, createdAt, serial, state, deallocated }: StoredVm,
    id = this.#id('Microsoft.Compute/virtualMachines', name),
    withView = false,
  ): object {
    // An evicted VM that stays is Succeeded: only its power tells.
    const power = deallocated === true ? 'deallocated' : 'running';
    const statuses = [
      { code: `ProvisioningState/${state.toLowerCase()}`, level: 'Info' },
      { code: `PowerState/${power}`, level: 'Info' },
    ];
    return {
      ...body,
      name,
      id: mixedCase(id),
      type: 'Microsoft.Compute/virtualMachines',
      properties: {
        ...body.properties,
        vmId: `00000000-0000-4000-8000-${`${serial}`.padStart(12, '0')}`,
        provisioningState: state,
        timeCreated: toTimestamp(createdAt as never),
        ...(withView && { instanceView: { statuses } }),
      },
    };
  }

  #shownInterface(
    name: string,
    { body, vm }: StoredInterface,
    id = this.#id('Microsoft.Network/networkInterfaces', name),
  ): object {
    const properties = {
      ...(body.properties as object),
      provisioningState: 'Succeeded',
      ...(vm !== undefined && { virtualMachine: { id: this.#id('Microsoft.Compute/virtualMachines', vm) } }),
    };
    return { ...body, name, id: mixedCase(id), type: 'Microsoft.Network/networkInterfaces', properties };
  }

  #id(kind: string, name: string): string {
    return `/subscriptions/s/resourceGroups/Nodes/providers/${kind}/${name}`;
  }
}

/** The real one does not keep the case of what it was given. */
function mixedCase(id: string): string {
  return id.replace('/resourceGroups/Nodes/', '/resourceGroups/NODES/');
}

function json(status: number, body: object): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
}

function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ error: { code, message } }),
  };
}

function notFound(what: string): HttpAnswer {
  return refusal(404, 'ResourceNotFound', `The Resource '${what}' under resource group 'Nodes' was not found.`);
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
