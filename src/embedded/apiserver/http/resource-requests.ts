/** Requests for resources: maps method and path to the verbs of the API. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KubeObject, ObjectKey } from '../../../apis/kubernetes/object.ts';
import type { JsonPatchOperation, Patch, WatchQuery } from '../../../kube/client.ts';
import { KubeError } from '../../../kube/kube-error.ts';
import type { ApiServer, Part } from '../api-server.ts';
import type { Kind } from '../kinds/kind.ts';
import { badRequest, methodNotAllowed, noSuchMethod, noSuchPath, unsupportedMediaType } from '../status-errors.ts';
import type { Watch } from '../watching.ts';
import type { WriteRequest } from '../writing.ts';
import type { Answer } from './http-api.ts';
import { mediaTypeOf, negotiatePresentation } from './media-types.ts';
import { type PresentationOptions, presentList, presentObject } from './presentation.ts';
import { deleteRequest, includeObject, isWatch, listQuery, selectionOf, watchQuery, writeRequest } from './query.ts';
import { parseJson, parseObject, parseYamlText, type RequestBody, readBytes } from './request-body.ts';
import type { ResourcePath } from './request-path.ts';
import { answerReview } from './reviews.ts';
import { answerSubresource } from './subresources.ts';
import { eventLine, streamWatch, type WatchLines } from './watch-stream.ts';

const NO_LENGTH: RequestBody = { value: undefined, duplicateFields: [] };
const PATCH_TYPES: Readonly<Record<string, Patch['type']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};
/** A watch without a client timeout ends after 30 to 60 minutes, as in kube-apiserver. */
const SHORTEST_WATCH_SECONDS = 1800;

/** A request for a resource, after parsing its path and query. */
export interface ResourceRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly kind: Kind;
  readonly path: ResourcePath;
  readonly parameters: URLSearchParams;
}

/** Carries out requests for resources. */
export class ResourceRequests {
  readonly #server: ApiServer;
  readonly #lines: WatchLines;

  constructor(server: ApiServer, lines: WatchLines) {
    this.#server = server;
    this.#lines = lines;
  }

  /** The answer; undefined if the response is written as a stream. */
  async answer(
    message: IncomingMessage,
    response: ServerResponse,
    path: ResourcePath,
    parameters: URLSearchParams,
  ): Promise<Answer | undefined> {
    const kind = this.#server.kind(path);
    if (path.namespace !== undefined && !kind.namespaced) throw noSuchPath();
    if (kind.deprecationWarning !== undefined) warn(response, kind.deprecationWarning);
    const request = { message, response, kind, path, parameters };
    const { name, subresource } = path;
    if (!kind.stored) return this.#review(request);
    if (subresource !== undefined && subresource !== 'status' && subresource !== 'scale') {
      return answerSubresource(this.#server, request);
    }
    return name === undefined ? this.#onCollection(request) : this.#onObject(request, name, subresource);
  }

  async #onCollection(request: ResourceRequest): Promise<Answer | undefined> {
    const { message, kind, path, parameters } = request;
    switch (message.method) {
      case 'HEAD':
      case 'GET':
        if (isWatch(parameters)) return this.#watch(request);
        return { code: 200, body: this.#presentedList(request) };
      case 'POST': {
        if (kind.namespaced && path.namespace === undefined) throw noSuchMethod();
        const { value, duplicateFields } = await readObject(message, kind.kind);
        const object = this.#server.create(kind, path.namespace, value as KubeObject, write(request, duplicateFields));
        return { code: 201, body: this.#presented(request, object) };
      }
      case 'DELETE': {
        const body = await readOptionalObject(message);
        const selection = selectionOf(parameters, path.namespace);
        const page = this.#server.deleteCollection(kind, selection, deleteRequest(parameters, body.value));
        return { code: 200, body: presentList(kind, page, this.#options(request)) };
      }
      default:
        throw methodNotAllowed(kind, verbOf(message.method));
    }
  }

  async #onObject(request: ResourceRequest, name: string, part: Part): Promise<Answer | undefined> {
    const { message, kind, path, parameters } = request;
    const key: ObjectKey = path.namespace === undefined ? { name } : { name, namespace: path.namespace };
    switch (message.method) {
      case 'HEAD':
      case 'GET':
        if (isWatch(parameters)) return this.#watch(request);
        return { code: 200, body: this.#presented(request, this.#server.get(kind, key, part)) };
      case 'PUT': {
        const { value, duplicateFields } = await readObject(message, kind.kind);
        const object = this.#server.replace(kind, key, value as KubeObject, write(request, duplicateFields), part);
        return { code: 200, body: this.#presented(request, object) };
      }
      case 'PATCH':
        return this.#patch(request, key, part);
      case 'DELETE': {
        if (part !== undefined) throw methodNotAllowed(kind, 'delete');
        const body = await readOptionalObject(message);
        const left = this.#server.delete(kind, key, deleteRequest(parameters, body.value));
        return {
          code: 200,
          body: left.kind === 'Status' ? JSON.stringify(left) : this.#presented(request, left as KubeObject),
        };
      }
      default:
        throw methodNotAllowed(kind, verbOf(message.method));
    }
  }

  async #patch(request: ResourceRequest, key: ObjectKey, part: Part): Promise<Answer> {
    const { message, kind, parameters } = request;
    const type = patchType(message.headers['content-type'], kind);
    const bytes = await readBytes(message);
    const { value, duplicateFields } = type === 'apply' ? parseYamlText(bytes) : parseJson(bytes);
    const written = write(request, duplicateFields);
    let created = false;
    const onCreated = (): void => {
      created = true;
    };
    // Server-side apply needs an explicit field manager; the User-Agent is not used instead.
    const { fieldManager, ...anonymous } = written;
    const byName = parameters.get('fieldManager') ?? '';
    const who = type !== 'apply' ? { fieldManager: fieldManager ?? '' } : byName === '' ? {} : { fieldManager: byName };
    const patch = patchOf(type, value, parameters.get('force') === 'true');
    const object = this.#server.patch(kind, key, patch, { ...anonymous, ...who, onCreated }, part);
    return { code: created ? 201 : 200, body: this.#presented(request, object) };
  }

  #watch(request: ResourceRequest): undefined {
    const { response, kind, path, parameters } = request;
    const asked = watchQuery(parameters, path.namespace);
    const { random, clock } = this.#server.world;
    const named = path.name === undefined ? {} : { fieldSelector: `metadata.name=${path.name}` };
    const timeoutSeconds = asked.timeoutSeconds || SHORTEST_WATCH_SECONDS * (1 + random.next());
    const { now: _, ...presentation } = this.#options(request);
    const watch = this.#openWatch(kind, { ...asked, ...named, timeoutSeconds });
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
    if (watch instanceof KubeError) response.end(eventLine('ERROR', JSON.stringify(watch.status)));
    else streamWatch({ watch, response, lines: this.#lines, presentation, now: () => clock.now() });
    return undefined;
  }

  /**
   * Opens a watch. An expired resource version (410) is returned, to be sent on the stream as kube-apiserver does.
   * Other errors are thrown.
   */
  #openWatch(kind: Kind, query: WatchQuery): Watch | KubeError {
    try {
      return this.#server.watch(kind, query);
    } catch (error) {
      if (error instanceof KubeError && error.status.code === 410) return error;
      throw error;
    }
  }

  async #review(request: ResourceRequest): Promise<Answer> {
    const { message, kind, path } = request;
    if (message.method !== 'POST' || path.name !== undefined) throw methodNotAllowed(kind, verbOf(message.method));
    const { value } = await readObject(message, kind.kind);
    return answerReview(this.#server, kind, path, value);
  }

  #presentedList(request: ResourceRequest): string {
    const page = this.#server.list(request.kind, listQuery(request.parameters, request.path.namespace));
    return presentList(request.kind, page, this.#options(request));
  }

  #presented(request: ResourceRequest, object: KubeObject): string {
    if (object.kind === 'Scale') return JSON.stringify(object);
    return presentObject(request.kind, object, this.#options(request));
  }

  #options({ message, parameters }: ResourceRequest): PresentationOptions {
    return {
      presentation: negotiatePresentation(message.headers.accept),
      includeObject: includeObject(parameters),
      now: this.#server.world.clock.now(),
    };
  }
}

/** The object in the body of a request; `kind` is the expected kind. */
export async function readObject(message: IncomingMessage, kind: string): Promise<RequestBody> {
  return parseObject(await readBytes(message), message.headers['content-type'], kind);
}

/** The body of a delete is optional. */
async function readOptionalObject(message: IncomingMessage): Promise<RequestBody> {
  const bytes = await readBytes(message);
  return bytes.length === 0 ? NO_LENGTH : parseObject(bytes, message.headers['content-type'], 'DeleteOptions');
}

/** The write options of a request, with a function that warns its client. */
export function write(request: ResourceRequest, duplicateFields: readonly string[]): WriteRequest {
  const { message, response, parameters } = request;
  return writeRequest(parameters, message.headers['user-agent'], duplicateFields, (text) => warn(response, text));
}

function warn(response: ServerResponse, text: string): void {
  const escaped = text.replace(/[^ -~]/g, '?').replace(/["\\]/g, '\\$&');
  response.appendHeader('warning', `299 - "${escaped}"`);
}

function patchType(contentType: string | undefined, kind: Kind): Patch['type'] {
  const mediaType = mediaTypeOf(contentType);
  const type = Object.hasOwn(PATCH_TYPES, mediaType) ? PATCH_TYPES[mediaType] : undefined;
  if (type === undefined || (type === 'strategic' && !kind.builtIn)) throw unsupportedMediaType();
  return type;
}

function patchOf(type: Patch['type'], value: unknown, force: boolean): Patch {
  if (type === 'json') {
    if (!Array.isArray(value)) throw badRequest('error decoding patch: a JSON patch is a list of operations');
    return { type, operations: value as JsonPatchOperation[] };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('error decoding patch: the patch is not an object');
  }
  return type === 'apply' ? { type, body: value, force } : { type, body: value };
}

function verbOf(method: string | undefined): string {
  const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
  return verbs[method ?? ''] ?? 'get';
}
