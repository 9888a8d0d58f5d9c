/**
 * Calls AWS through its SDK. Each client is imported and created with its first call. Credentials, region, endpoints, proxies and retries
 * are the SDK's: from the environment, the shared files, web identity, or the instance.
 */
import type { Clock } from '../../../platform/clock.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import type { AwsApi, AwsOperation, AwsOperations } from './aws-api.ts';
import { asCloudError } from './aws-error.ts';
import type { CallGate } from './call-gate.ts';

interface SdkClient {
  send(command: unknown, options: { abortSignal: AbortSignal }): Promise<unknown>;
  destroy(): void;
  readonly config: { region(): Promise<string> };
}
type SdkModule = Readonly<Record<string, new (input: unknown) => unknown>>;

interface Service {
  readonly client: SdkClient;
  readonly module: SdkModule;
}

const SERVICES = {
  ec2: { name: 'EC2Client', load: () => import('@aws-sdk/client-ec2') },
  ssm: { name: 'SSMClient', load: () => import('@aws-sdk/client-ssm') },
  iam: { name: 'IAMClient', load: () => import('@aws-sdk/client-iam') },
  pricing: { name: 'PricingClient', load: () => import('@aws-sdk/client-pricing') },
  eks: { name: 'EKSClient', load: () => import('@aws-sdk/client-eks') },
} as const;
type ServiceName = keyof typeof SERVICES;

export interface SdkApiOptions {
  /** Used if the SDK's own sources name no region. */
  readonly region?: string;
  /** Additional settings of every client, such as an endpoint, credentials, or a retry strategy. */
  readonly client?: Readonly<Record<string, unknown>>;
  readonly gate: CallGate;
  /** Called after every call, with its outcome. */
  readonly onCall?: (operation: AwsOperation, outcome: 'ok' | 'failed', ms: number) => void;
  readonly clock: Clock;
  /** A call that takes longer fails. */
  readonly timeoutMs?: number;
}

/** Longer than the SDK takes with its own retries. */
const TIMEOUT_MS = 60_000;

export class SdkApi implements AwsApi {
  readonly #options: SdkApiOptions;
  readonly #services = new Map<ServiceName, Promise<Service>>();

  constructor(options: SdkApiOptions) {
    this.#options = options;
  }

  async call<Op extends AwsOperation>(
    operation: Op,
    input: AwsOperations[Op][0],
    signal: AbortSignal,
  ): Promise<AwsOperations[Op][1]> {
    const [service, name] = operation.split(':') as [ServiceName, string];
    await this.#options.gate.pass(operation, signal);
    const { client, module } = await this.#service(service);
    const Command = module[`${name}Command`];
    if (Command === undefined) throw new TypeError(`the SDK has no ${operation}`);
    const { clock, timeoutMs = TIMEOUT_MS } = this.#options;
    const since = clock.elapsed();
    const deadline = clock.deadline(timeoutMs, signal);
    try {
      const answer = await client.send(new Command(input), { abortSignal: deadline.signal });
      this.#options.gate.succeeded(operation);
      this.#options.onCall?.(operation, 'ok', clock.elapsed() - since);
      return answer as AwsOperations[Op][1];
    } catch (error) {
      signal.throwIfAborted();
      this.#options.onCall?.(operation, 'failed', clock.elapsed() - since);
      deadline.signal.throwIfAborted();
      const failure = asCloudError(operation, error);
      if (failure.code === 'CLOUD_THROTTLED') this.#options.gate.throttled(operation);
      throw failure;
    } finally {
      deadline.cancel();
    }
  }

  /** The region of the SDK; CLOUD_NOT_CONFIGURED if none is set. */
  async region(): Promise<string> {
    const { client } = await this.#service('ec2');
    try {
      return await client.config.region();
    } catch (cause) {
      throw new SpindriftError(
        'CLOUD_NOT_CONFIGURED',
        { cloud: 'aws', problem: 'no region is known: set AWS_REGION or pass --aws-region' },
        { cause },
      );
    }
  }

  /** The SDK client of a service, for callers that use it directly. */
  async client(name: ServiceName): Promise<unknown> {
    return (await this.#service(name)).client;
  }

  /** Closes all clients. */
  async close(): Promise<void> {
    for (const service of this.#services.values()) (await service).client.destroy();
  }

  #service(name: ServiceName): Promise<Service> {
    const known = this.#services.get(name);
    if (known !== undefined) return known;
    const opened = this.#open(name);
    this.#services.set(name, opened);
    // If a module could not be loaded, the next call tries again.
    opened.catch(() => this.#services.delete(name));
    return opened;
  }

  async #open(name: ServiceName): Promise<Service> {
    const { load, name: client } = SERVICES[name];
    const module = (await load()) as unknown as SdkModule;
    const Client = module[client];
    if (Client === undefined) throw new TypeError(`the SDK has no ${client}`);
    const region = name === 'pricing' ? pricingRegion(this.#options.region) : this.#options.region;
    return {
      module,
      client: new Client({ ...this.#options.client, ...(region === undefined ? {} : { region }) }) as SdkClient,
    };
  }
}

/** The Pricing API exists in a few regions only; this is the nearest. */
function pricingRegion(region = 'us-east-1'): string {
  if (region.startsWith('cn-')) return 'cn-northwest-1';
  if (region.startsWith('ap-')) return 'ap-south-1';
  if (region.startsWith('eu-') || region.startsWith('me-') || region.startsWith('af-')) return 'eu-central-1';
  return 'us-east-1';
}
