import { type KubeObject, resource } from './object.ts';

/** What somebody would do. */
export interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  /** All namespaces, or a kind without namespaces, when absent. */
  readonly namespace?: string;
  /** Any object when absent. */
  readonly name?: string;
}

/** A question to the API server: may I, or may this user, do that? The answer comes in its status. */
export interface AccessReview extends KubeObject {
  readonly spec: {
    readonly resourceAttributes: ResourceAttributes;
    readonly user?: string;
    readonly groups?: readonly string[];
  };
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

export const SELF_SUBJECT_ACCESS_REVIEWS = resource<AccessReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
  'cluster',
);

export const SUBJECT_ACCESS_REVIEWS = resource<AccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
  'cluster',
);
