import type { Resource } from '../../../apis/kubernetes/object.ts';
import { noSuchPath } from '../status-errors.ts';
import type { Kind } from './kind.ts';

/** The kinds served now. Custom resources are added and removed while the server runs. */
export class KindRegistry {
  readonly #byPath = new Map<string, Kind>();
  #revision = 0;

  constructor(kinds: Iterable<Kind> = []) {
    for (const kind of kinds) this.#byPath.set(pathOf(kind), kind);
  }

  /** Increases with every change, so that results derived from the registry can be cached. */
  get revision(): number {
    return this.#revision;
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** The kind of a resource; 404 if it is not served. */
  get(resource: Pick<Resource, 'group' | 'version' | 'plural'>): Kind {
    const kind = this.find(resource.group, resource.version, resource.plural);
    if (kind === undefined) throw noSuchPath();
    return kind;
  }

  /** The kind with this apiVersion and kind name. */
  byName(apiVersion: string, name: string): Kind | undefined {
    for (const kind of this.#byPath.values()) if (kind.kind === name && kind.apiVersion === apiVersion) return kind;
    return undefined;
  }

  /** All served versions of one resource. */
  versionsOf(group: string, plural: string): Kind[] {
    return [...this.#byPath.values()].filter((kind) => kind.group === group && kind.plural === plural);
  }

  /** All kinds, in the order they were added. */
  all(): Kind[] {
    return [...this.#byPath.values()];
  }

  /** A kind whose objects are stored in the collection. */
  ofCollection(collection: string): Kind | undefined {
    for (const kind of this.#byPath.values()) if (kind.stored && kind.collection === collection) return kind;
    return undefined;
  }

  /** One kind for each collection of stored objects. */
  collections(): Kind[] {
    const byCollection = new Map<string, Kind>();
    for (const kind of this.#byPath.values()) {
      if (kind.stored && !byCollection.has(kind.collection)) byCollection.set(kind.collection, kind);
    }
    return [...byCollection.values()];
  }

  /** Serves exactly these versions of a resource. */
  replace(group: string, plural: string, kinds: readonly Kind[]): void {
    for (const kind of this.versionsOf(group, plural)) this.#byPath.delete(pathOf(kind));
    for (const kind of kinds) this.#byPath.set(pathOf(kind), kind);
    this.#revision++;
  }
}

function pathOf(kind: Pick<Kind, 'group' | 'version' | 'plural'>): string {
  return `${kind.group}/${kind.version}/${kind.plural}`;
}
