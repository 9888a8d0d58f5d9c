import { type KubeObject, resource } from './object.ts';

/** The request to check. */
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

/** Asks the API server whether we, or another user, have a right; the status has the answer. */
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
