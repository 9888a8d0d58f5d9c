import type { Draft, Kind } from '../kinds/kind.ts';

export interface FieldWriter {
  readonly manager: string | undefined;
  readonly time: string;
  readonly subresource?: string;
}

/** The new object with the record of who wrote which field brought up to date. */
export function withManagedFields(_kind: Kind, _old: Draft | undefined, object: Draft, _writer: FieldWriter): Draft {
  return object;
}
