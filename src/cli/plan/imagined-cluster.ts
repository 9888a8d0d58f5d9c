/**
 * A cluster that exists only while a plan is made: an API server in this process takes the manifests, so that they get the
 * defaults and validation errors of a real one.
 */
import { DEFINITIONS } from '../../apis/custom-resource-definitions.ts';
import { CORE_LABEL_RULES, extendLabelRules } from '../../apis/karpenter/label-rules.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import { nodePoolProblems } from '../../apis/karpenter/validate-node-pool.ts';
import { NAMESPACES } from '../../apis/kubernetes/core.ts';
import type { KubeObject, ObjectKey, Resource } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { OPEN_MODEL_DEFINITION } from '../../apis/llmaz/open-model.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../apis/schema/custom-resource-definition.ts';
import { ApiServer } from '../../embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../embedded/in-memory-client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { asError, hasCode } from '../../platform/errors.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { KnownClouds } from '../offline-clouds.ts';
import type { Manifest } from './read-manifests.ts';

const UNKNOWN_FIELDS = 'strict decoding error: ';

/** The objects of manifests, as an API server keeps them. */
export class ImaginedCluster {
  readonly #server = new ApiServer({ clock: new VirtualClock(), random: seededRandom('plan') });
  readonly #client = new InMemoryClient(this.#server);
  readonly #problems: string[] = [];
  readonly #unknown = new Set<string>();
  /** Where each object was written, by its UID. */
  readonly #sources = new Map<string, string>();

  /** A cluster that serves our kinds, and the models of llmaz. */
  static async create(): Promise<ImaginedCluster> {
    const cluster = new ImaginedCluster();
    for (const definition of [...DEFINITIONS, OPEN_MODEL_DEFINITION])
      await cluster.#client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    return cluster;
  }

  /** Validation errors, one line each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Unknown kinds, which are ignored. */
  get unknownKinds(): readonly string[] {
    return [...this.#unknown].sort();
  }

  /** Creates the object of a manifest. */
  async apply({ source, object }: Manifest): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const served = this.#server.world.kinds.byName(apiVersion, kind);
    if (served === undefined) {
      this.#unknown.add(`${apiVersion} ${kind}`);
      return;
    }
    const where = `${source}: ${kind} ${metadata.name}`;
    const { namespace = 'default' } = metadata;
    try {
      if (served.namespaced) await this.#ensureNamespace(namespace);
      const placed = served.namespaced ? { ...object, metadata: { ...metadata, namespace } } : object;
      const made = await this.#create(served as Resource, placed, where);
      this.#sources.set(made.metadata.uid ?? '', where);
      if (kind === NODE_POOLS.kind) await this.#checkPool(made as NodePool, where);
    } catch (error) {
      if (hasCode(error, 'KUBE_ALREADY_EXISTS') && kind === 'Namespace') return;
      this.#refuse(where, error);
    }
  }

  /** Reports unknown fields, and validates the object without them to find all other errors too. */
  async #create(kind: Resource, object: KubeObject, where: string): Promise<KubeObject> {
    try {
      return await this.#client.create(kind, object, { fieldValidation: 'Strict' });
    } catch (error) {
      if (!asError(error).message.startsWith(UNKNOWN_FIELDS)) throw error;
      this.#refuse(where, error);
      return this.#client.create(kind, object, { fieldValidation: 'Ignore' });
    }
  }

  async list<T extends KubeObject>(kind: Resource<T>): Promise<readonly T[]> {
    return (await this.#client.list(kind)).items;
  }

  /** One object; KUBE_NOT_FOUND where it is not among the manifests. */
  get<T extends KubeObject>(kind: Resource<T>, key: ObjectKey): Promise<T> {
    return this.#client.get(kind, key);
  }

  /** A pod with the defaults of the API server; undefined when it is invalid, which is added to `problems`. */
  async admitted(pod: Pod, owner: KubeObject): Promise<Pod | undefined> {
    try {
      return await this.#client.create(PODS, pod, { dryRun: true });
    } catch (error) {
      this.#problems.push(
        `${this.#sources.get(owner.metadata.uid ?? '')}: the API server would refuse its pods: ${wordsOf(error)}`,
      );
      return undefined;
    }
  }

  #refuse(where: string, error: unknown): void {
    this.#problems.push(...wordsOf(error).map((words) => `${where}: ${words}`));
  }

  async #checkPool(pool: NodePool, where: string): Promise<void> {
    const { nodeClassRef } = pool.spec.template.spec;
    const labels = (await KnownClouds.load([nodeClassRef])).labelsOf(nodeClassRef);
    const rules = labels === undefined ? CORE_LABEL_RULES : extendLabelRules(CORE_LABEL_RULES, labels);
    for (const { field, problem } of nodePoolProblems(pool, rules))
      this.#problems.push(`${where}: ${field} ${problem}`);
  }

  async #ensureNamespace(name: string): Promise<void> {
    try {
      await this.#client.get(NAMESPACES, { name });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
      await this.#client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
  }
}

/** A phrase for each thing that is wrong. */
function wordsOf(error: unknown): string[] {
  const causes = error instanceof KubeError ? (error.status.details?.causes ?? []) : [];
  const { message: whole } = asError(error);
  const message = whole.startsWith(UNKNOWN_FIELDS) ? whole.slice(UNKNOWN_FIELDS.length) : whole;
  if (causes.length === 0) return [message];
  const phrases = causes.map(({ field = '', message: words = '' }) => ({ field, words }));
  // A rule in words says more than the pattern of the same field.
  const told = phrases.filter(({ words }) => !isPattern(words)).map(({ field }) => plain(field));
  return phrases
    .filter(({ field, words }) => !isPattern(words) || !told.includes(plain(field)))
    .map(({ field, words }) => `${field}: ${words}`);
}

function isPattern(words: string): boolean {
  return words.includes(' should match ');
}

/** `spec.limits[cpu]` and `spec.limits.cpu` are the same field. */
function plain(field: string): string {
  return field.replaceAll(/[[\]]/g, '.').replaceAll(/\.+/g, '.').replace(/\.$/, '');
}
