/** A cluster in virtual time for tests of its parts: an in-memory API server, its informers, and the parts that a test adds. */
import type { KubeObject, ObjectKey, Resource } from '../../apis/kubernetes/object.ts';
import { EventRecorder } from '../../kube/event-recorder.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { ApiServer } from '../apiserver/api-server.ts';
import { ClusterInformers } from '../cluster-informers.ts';
import { InMemoryClient } from '../in-memory-client.ts';

/** A part of the cluster; runs until the signal aborts. */
export interface Part {
  run(signal: AbortSignal): Promise<void>;
}

export class World implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly random = seededRandom('world');
  readonly server = new ApiServer({ clock: this.clock, random: this.random });
  readonly client = new InMemoryClient(this.server);
  readonly informers = new ClusterInformers({ client: this.client, clock: this.clock, random: this.random });
  readonly recorder = new EventRecorder({
    client: this.client,
    clock: this.clock,
    random: this.random,
    component: 'test',
  });
  readonly logger = SILENT_LOGGER;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  /** Starts the informers and these parts. */
  async start(...parts: Part[]): Promise<void> {
    if (this.#running.length === 0) this.#running.push(this.informers.run(this.#stop.signal));
    for (const part of parts) this.#running.push(part.run(this.#stop.signal));
    await this.clock.advance(0);
  }

  /** Advances the clock, and lets everything happen that is due by then. */
  settle(milliseconds = 0): Promise<void> {
    return this.clock.advance(milliseconds);
  }

  async get<T extends KubeObject>(kind: Resource<T>, name: string, namespace = 'default'): Promise<T> {
    const key: ObjectKey = kind.namespaced ? { name, namespace } : { name };
    return this.client.get(kind, key);
  }

  async list<T extends KubeObject>(kind: Resource<T>): Promise<readonly T[]> {
    return (await this.client.list(kind)).items;
  }

  async create<T extends KubeObject>(kind: Resource<T>, ...objects: T[]): Promise<void> {
    for (const object of objects) await this.client.create(kind, object);
  }

  /** Changes an object by a merge patch, as a user with kubectl does. */
  async change<T extends KubeObject>(
    kind: Resource<T>,
    name: string,
    body: object,
    subresource?: 'status',
  ): Promise<T> {
    const key: ObjectKey = kind.namespaced ? { name, namespace: 'default' } : { name };
    return this.client.patch(kind, key, { type: 'merge', body }, subresource === undefined ? {} : { subresource });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}
