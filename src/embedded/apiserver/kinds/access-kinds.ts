/** Reviews: authentication and authorization questions, which are answered but not stored. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

const ANSWERED = { stored: false } as const;

export const AUTHENTICATION_KINDS: readonly Kind[] = [
  builtIn('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews', 'cluster', ANSWERED),
  builtIn('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', 'cluster', ANSWERED),
  builtIn('authorization.k8s.io/v1', 'LocalSubjectAccessReview', 'localsubjectaccessreviews', 'namespaced', ANSWERED),
  builtIn('authorization.k8s.io/v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews', 'cluster', ANSWERED),
  builtIn('authorization.k8s.io/v1', 'SelfSubjectRulesReview', 'selfsubjectrulesreviews', 'cluster', ANSWERED),
  builtIn('authorization.k8s.io/v1', 'SubjectAccessReview', 'subjectaccessreviews', 'cluster', ANSWERED),
];
