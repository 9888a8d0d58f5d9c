/** Subresources other than status and scale. */
import type { KubeObject, ObjectKey } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import type { ApiServer } from '../api-server.ts';
import type { Fields } from '../kinds/kind.ts';
import { isFields } from '../patch/merge-patch.ts';
import { podLog } from '../pod-log.ts';
import { methodNotAllowed, noSuchPath, serverFailure } from '../status-errors.ts';
import type { Answer } from './http-api.ts';
import { deleteRequest } from './query.ts';
import { type ResourceRequest, readObject, write } from './resource-requests.ts';

/** The answer to a binding or an eviction. */
export const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
const HOUR_SECONDS = 3600;

/** Answers a request for `log`, `eviction`, `binding`, `token` or `finalize`. */
export async function answerSubresource(server: ApiServer, request: ResourceRequest): Promise<Answer> {
  const { kind, path, message, parameters } = request;
  const { name = '', subresource = '', namespace } = path;
  const key: ObjectKey = namespace === undefined ? { name } : { name, namespace };
  if (!kind.subresources.some((part) => part.name === subresource)) throw noSuchPath();
  const needsPost = `${message.method} ${subresource}`;
  switch (needsPost) {
    case 'GET log':
      return {
        code: 200,
        body: podLog(server.get(kind, key) as Pod, parameters, server.world.clock.now()),
        contentType: 'text/plain',
      };
    case 'POST eviction': {
      const { value } = await readObject(message, kind.kind);
      const body: Fields = isFields(value) ? value : {};
      server.evict(key, deleteRequest(parameters, body.deleteOptions));
      return { code: 201, body: JSON.stringify(SUCCESS) };
    }
    case 'POST binding': {
      const { value } = await readObject(message, kind.kind);
      bindFrom(server, key, value, parameters.has('dryRun'));
      return { code: 201, body: JSON.stringify(SUCCESS) };
    }
    case 'POST token':
      return { code: 201, body: JSON.stringify(tokenFor(server, kind.plural, server.get(kind, key))) };
    case 'PUT finalize': {
      const { value, duplicateFields } = await readObject(message, kind.kind);
      const spec = isFields(value) ? value.spec : undefined;
      const finalizers = isFields(spec) && Array.isArray(spec.finalizers) ? spec.finalizers.map(String) : [];
      const finalized = server.finalizeNamespace(name, finalizers, write(request, duplicateFields));
      return { code: 200, body: JSON.stringify(finalized) };
    }
    default:
      throw methodNotAllowed(kind, message.method === 'GET' ? 'get' : 'create');
  }
}

/** Carries out a Binding. */
export function bindFrom(server: ApiServer, key: ObjectKey, body: unknown, dryRun: boolean): void {
  const target = isFields(body) ? body.target : undefined;
  const nodeName = isFields(target) ? target.name : undefined;
  if (typeof nodeName !== 'string' || nodeName === '') throw serverFailure('target.name: Required value');
  const { uid, annotations } = (body as unknown as KubeObject).metadata ?? {};
  server.bind(key, {
    nodeName,
    dryRun,
    ...(uid === undefined ? {} : { uid }),
    ...(annotations === undefined ? {} : { annotations }),
  });
}

function tokenFor(server: ApiServer, _plural: string, account: KubeObject): object {
  const { clock, random } = server.world;
  const expires = toTimestamp((clock.now() + HOUR_SECONDS * 1000) as EpochMs);
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: account.metadata.name, namespace: account.metadata.namespace, creationTimestamp: null },
    spec: { audiences: ['https://kubernetes.default.svc'], expirationSeconds: HOUR_SECONDS },
    status: { token: `embedded-${random.uuid()}`, expirationTimestamp: expires },
  };
}
