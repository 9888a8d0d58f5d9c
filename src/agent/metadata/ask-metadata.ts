/** One request to the metadata service of a machine. */
export interface MetadataRequest {
  readonly method: 'GET' | 'PUT';
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface MetadataAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Asks the metadata service; rejects when there is no whole answer in time. */
export type AskMetadata = (request: MetadataRequest) => Promise<MetadataAnswer>;

/** The result of parsing an undocumented answer: the request is repeated, and nothing is acted on. */
export const UNREADABLE = 'unreadable';
