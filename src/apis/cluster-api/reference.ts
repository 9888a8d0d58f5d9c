/** References between objects of Cluster API, which v1beta1 writes with a version and v1beta2 with a group alone. */

export interface Reference {
  /** v1beta1. */
  readonly apiVersion?: string;
  /** v1beta2. */
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The object of a reference, in either version. */
export interface Referred {
  readonly group: string;
  /** Only in v1beta1. */
  readonly version?: string;
  readonly kind: string;
  readonly name: string;
}

/** Reads a reference; undefined where it is absent or names nothing. */
export function referred(reference: Reference | undefined): Referred | undefined {
  if (reference?.kind === undefined || reference.name === undefined || reference.name === '') return undefined;
  const { apiVersion, apiGroup, kind, name } = reference;
  if (apiVersion === undefined) return { group: apiGroup ?? '', kind, name };
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind, name };
}
