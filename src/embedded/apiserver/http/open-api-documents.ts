import type { Kind } from '../kinds/kind.ts';
import type { KindRegistry } from '../kinds/kind-registry.ts';
import { type OpenApiKind, openApiDocument, openApiIndex } from '../openapi/open-api.ts';
import { noSuchPath } from '../status-errors.ts';
import type { Answer } from './http-api.ts';

/** The OpenAPI v3 documents, built on request and cached until the served kinds change. */
export class OpenApi {
  readonly #kinds: KindRegistry;
  #revision = -1;
  #documents = new Map<string, Buffer>();
  #index = '';

  constructor(kinds: KindRegistry) {
    this.#kinds = kinds;
  }

  /** `path` is what follows `/openapi/v3/`; empty for the index. */
  answer(path: string): Answer {
    if (this.#revision !== this.#kinds.revision) this.#make();
    if (path === '') return { code: 200, body: this.#index };
    const document = this.#documents.get(path);
    if (document === undefined) throw noSuchPath();
    return { code: 200, body: document };
  }

  #make(): void {
    const byPath = new Map<string, Kind[]>();
    for (const kind of this.#kinds.all()) {
      const path = kind.group === '' ? `api/${kind.version}` : `apis/${kind.group}/${kind.version}`;
      byPath.set(path, [...(byPath.get(path) ?? []), kind]);
    }
    this.#documents = new Map(
      [...byPath].map(([path, kinds]) => {
        const { group, version } = kinds[0] as Kind;
        return [path, Buffer.from(JSON.stringify(openApiDocument({ group, version }, kinds.map(forOpenApi))))];
      }),
    );
    this.#index = JSON.stringify(openApiIndex(this.#documents));
    this.#revision = this.#kinds.revision;
  }
}

function forOpenApi(kind: Kind): OpenApiKind {
  const schema = kind.schema()?.schema;
  return {
    kind: kind.kind,
    plural: kind.plural,
    namespaced: kind.namespaced,
    ...(schema === undefined ? {} : { schema }),
    strategicMergePatch: kind.builtIn,
    subresources: [...(kind.hasStatus ? ['status'] : []), ...(kind.scale === undefined ? [] : ['scale'])],
  };
}
