import type { Resource } from '../../../apis/kubernetes/object.ts';
import { noSuchPath } from '../status-errors.ts';
import type { Kind } from './kind.ts';

/** The kinds that are served now; custom resources come and go while the server runs. */
export class KindRegistry {
  readonly #byPath = new Map<string, Kind>();
  #revision = 0;

  constructor(kinds: Iterable<Kind> = []) {
    for (const kind of kinds) this.#byPath.set(pathOf(kind), kind);
  }

  /** Goes up with every change, so that what is made from the registry can be kept until then. */
  get revision(): number {
    return this.#revision;
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** The kind of a resource; a path that is not served is not found. */
  get(resource: Pick<Resource, 'group' | 'version' | 'plural'>): Kind {
    const kind = this.find(resource.group, resource.version, resource.plural);
    if (kind === undefined) throw noSuchPath();
    return kind;
  }

  /** The kind by what its objects say of themselves. */
  byName(apiVersion: string, name: string): Kind | undefined {
    for (const kind of this.#byPath.values()) if (kind.kind === name && kind.apiVersion === apiVersion) return kind;
    return undefined;
  }

  /** All versions of one resource that are served. */
  versionsOf(group: string, plural: string): Kind[] {
    return [...this.#byPath.values()].filter((kind) => kind.group === group && kind.plural === plural);
  }

  /** In the order in which they came. */
  all(): Kind[] {
    return [...this.#byPath.values()];
  }

  /** A kind whose objects are in the collection. */
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

  /** Serves these versions of a resource and no others. */
  replace(group: string, plural: string, kinds: readonly Kind[]): void {
    for (const kind of this.versionsOf(group, plural)) this.#byPath.delete(pathOf(kind));
    for (const kind of kinds) this.#byPath.set(pathOf(kind), kind);
    this.#revision++;
  }
}

function pathOf(kind: Pick<Kind, 'group' | 'version' | 'plural'>): string {
  return `${kind.group}/${kind.version}/${kind.plural}`;
}
