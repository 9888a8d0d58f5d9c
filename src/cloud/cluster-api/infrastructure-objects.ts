/** Reads templates and machines of infrastructure providers, whose kinds and versions are known only from references to them. */
import { kindOf } from '../../apis/cluster-api/core-kinds.ts';
import { CLUSTER_API_GROUP, INFRASTRUCTURE_GROUP } from '../../apis/cluster-api/names.ts';
import type { Referred } from '../../apis/cluster-api/reference.ts';
import type { KubeObject, Resource } from '../../apis/kubernetes/object.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../../apis/schema/custom-resource-definition.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasCode } from '../../platform/errors.ts';
import type { InfrastructureStatus } from './infrastructure/create-failure.ts';
import type { RawSpec } from './infrastructure/machine-settings.ts';

/** An infrastructure machine or template; no field is sure to be there. */
export interface InfrastructureObject extends KubeObject {
  readonly spec?: RawSpec;
  readonly status?: InfrastructureStatus & Readonly<Record<string, unknown>>;
}

export interface InfrastructureObjectsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Only this namespace; all when absent. */
  readonly namespace?: string;
}

interface Listing {
  readonly readAt: number;
  readonly objects: Promise<ReadonlyMap<string, InfrastructureObject>>;
}

/** A list is used for this long. */
const FRESH_MS = 15_000;
const CONTRACTS = ['v1beta2', 'v1beta1'] as const;
/** Versions that the providers serve, where we may not read definitions. */
const VERSIONS: Readonly<Record<string, string>> = { AWS: 'v1beta2', GCP: 'v1beta1', Azure: 'v1beta1' };

export class InfrastructureObjects {
  readonly #options: InfrastructureObjectsOptions;
  readonly #kinds = new Map<string, Promise<Resource<InfrastructureObject>>>();
  readonly #listings = new Map<string, Listing>();

  constructor(options: InfrastructureObjectsOptions) {
    this.#options = options;
  }

  /** One object as it is now; undefined when it is not there. */
  async read(reference: Referred, namespace: string, signal: AbortSignal): Promise<InfrastructureObject | undefined> {
    const kind = await this.kind(reference, signal);
    try {
      return await this.#options.client.get(kind, { namespace, name: reference.name }, { signal });
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /** One object out of a list of its kind that may be some seconds old: for callers that look at many. */
  async recent(reference: Referred, namespace: string, signal: AbortSignal): Promise<InfrastructureObject | undefined> {
    const { clock } = this.#options;
    const key = `${reference.group}/${reference.kind}`;
    let listing = this.#listings.get(key);
    if (listing === undefined || clock.elapsed() - listing.readAt >= FRESH_MS) {
      listing = { readAt: clock.elapsed(), objects: this.#list(reference, signal) };
      this.#listings.set(key, listing);
      listing.objects.catch(() => this.#listings.delete(key));
    }
    return (await listing.objects).get(`${namespace}/${reference.name}`);
  }

  /** The kind in the version that its definition promises. */
  kind(
    reference: Pick<Referred, 'group' | 'kind' | 'version'>,
    signal: AbortSignal,
  ): Promise<Resource<InfrastructureObject>> {
    const key = `${reference.group}/${reference.kind}`;
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const kind = this.#version(reference, signal).then((version) =>
      kindOf<InfrastructureObject>(reference.group, version, reference.kind),
    );
    this.#kinds.set(key, kind);
    kind.catch(() => this.#kinds.delete(key));
    return kind;
  }

  async #list(reference: Referred, signal: AbortSignal): Promise<ReadonlyMap<string, InfrastructureObject>> {
    const { client, namespace } = this.#options;
    const kind = await this.kind(reference, signal);
    const found = new Map<string, InfrastructureObject>();
    let next: string | undefined;
    do {
      const query = {
        limit: 500,
        ...(namespace !== undefined && { namespace }),
        ...(next !== undefined && { continue: next }),
      };
      const page = await client.list(kind, query, { signal });
      for (const object of page.items) found.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
      next = page.continue;
    } while (next !== undefined);
    return found;
  }

  /** The newest version of the newest contract that the definition of the kind promises. */
  async #version(
    { group, kind, version }: Pick<Referred, 'group' | 'kind' | 'version'>,
    signal: AbortSignal,
  ): Promise<string> {
    const name = `${kindOf(group, '', kind).plural}.${group}`;
    try {
      const definition = await this.#options.client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }, { signal });
      return contractVersion(definition) ?? version ?? 'v1beta1';
    } catch (error) {
      if (!hasCode(error, 'KUBE_FORBIDDEN', 'KUBE_NOT_FOUND')) throw error;
      const provider = Object.keys(VERSIONS).find(
        (prefix) => group === INFRASTRUCTURE_GROUP && kind.startsWith(prefix),
      );
      return version ?? VERSIONS[provider ?? ''] ?? 'v1beta1';
    }
  }
}

/** `v1beta2` of a label `cluster.x-k8s.io/v1beta1: v1beta1_v1beta2`; the version that is stored where there is no label. */
export function contractVersion({ metadata, spec }: CustomResourceDefinition): string | undefined {
  for (const contract of CONTRACTS) {
    const versions = metadata.labels?.[`${CLUSTER_API_GROUP}/${contract}`]?.split('_') ?? [];
    const last = versions.at(-1);
    if (last !== undefined && spec.versions.some(({ name, served }) => name === last && served)) return last;
  }
  return spec.versions.find(({ storage }) => storage)?.name;
}
