/** The requests of a service account, from the audit log of the API server. */
import { readFileSync } from 'node:fs';

/** One request. */
export interface Use {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** With the subresource, as roles write it: `pods/eviction`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The status of the answer. */
  readonly code: number;
  /** The user agent of the program. */
  readonly userAgent: string;
}

interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/** Every request of a user for an object, in order; a watch is listed when it begins and when it ends. */
export function usesIn(auditLog: string, user: string): readonly Use[] {
  return readFileSync(auditLog, 'utf8')
    .split('\n')
    .filter((line) => line.includes(user))
    .map((line) => JSON.parse(line) as AuditEvent)
    .flatMap(({ verb, user: { username }, objectRef, responseStatus, userAgent = '' }) => {
      if (username !== user || objectRef?.resource === undefined) return [];
      const { resource, subresource, apiGroup = '', namespace = '', name = '' } = objectRef;
      const full = subresource === undefined ? resource : `${resource}/${subresource}`;
      return [{ verb, group: apiGroup, resource: full, namespace, name, code: responseStatus?.code ?? 0, userAgent }];
    });
}
