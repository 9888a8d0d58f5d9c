/** Reviews and other requests that are answered but not stored. The holder of the token has full access. */
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { ApiServer } from '../api-server.ts';
import type { Fields, Kind } from '../kinds/kind.ts';
import { isFields } from '../patch/merge-patch.ts';
import { badRequest, methodNotAllowed } from '../status-errors.ts';
import type { Answer } from './http-api.ts';
import type { ResourcePath } from './request-path.ts';
import { bindFrom, SUCCESS } from './subresources.ts';

/** The only user. */
const USER = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };

const STATUS: Readonly<Record<string, Fields>> = {
  SelfSubjectAccessReview: { allowed: true, reason: 'the embedded cluster allows everything' },
  SubjectAccessReview: { allowed: true, reason: 'the embedded cluster allows everything' },
  LocalSubjectAccessReview: { allowed: true, reason: 'the embedded cluster allows everything' },
  SelfSubjectRulesReview: {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  },
  SelfSubjectReview: { userInfo: USER },
  TokenReview: { authenticated: true, user: USER },
};

/** Answers a request whose object is not stored. */
export function answerReview(server: ApiServer, kind: Kind, path: ResourcePath, body: unknown): Answer {
  if (!isFields(body)) throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind})`);
  if (kind.kind === 'Binding') {
    const { metadata } = body as unknown as KubeObject;
    bindFrom(server, { name: metadata?.name ?? '', namespace: path.namespace ?? '' }, body, false);
    return { code: 201, body: JSON.stringify(SUCCESS) };
  }
  const status = STATUS[kind.kind];
  if (status === undefined) throw methodNotAllowed(kind, 'create');
  const metadata = isFields(body.metadata) ? body.metadata : { creationTimestamp: null };
  const answer = { kind: kind.kind, apiVersion: kind.apiVersion, metadata, spec: body.spec, status };
  return { code: 201, body: JSON.stringify(answer) };
}
