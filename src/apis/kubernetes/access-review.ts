/** TokenReview and SubjectAccessReview, which ask the API server for the user of a token, and for the rights of a user. */
import { type KubeObject, resource } from './object.ts';

export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: { readonly authenticated?: boolean; readonly user?: UserInfo };
}

export interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly nonResourceAttributes: { readonly path: string; readonly verb: string };
  };
  readonly status?: { readonly allowed?: boolean };
}

export const TOKEN_REVIEWS = resource<TokenReview>(
  'authentication.k8s.io/v1',
  'TokenReview',
  'tokenreviews',
  'cluster',
);

export const SUBJECT_ACCESS_REVIEWS = resource<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
  'cluster',
);
