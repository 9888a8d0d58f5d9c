/** How tokens are obtained: by an API key, by a service account in a cluster, or by the identity of a virtual server. */
export const AUTH_TYPES = ['iam', 'container', 'vpc'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];
