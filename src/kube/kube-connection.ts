/** The address and credentials of an API server, from a kubeconfig or from the service account of a pod. */

export interface KubeResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array> & { text(): Promise<string> };
}

export interface KubeRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
  readonly reset: boolean;
}

/** Sends requests over pooled connections: an undici dispatcher, or Node's own client. */
export interface KubeRequests {
  request(options: KubeRequest): Promise<KubeResponse>;
}

/** Headers and connections for one request. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly calls: KubeRequests;
  /** Watches have their own connections, so that many of them never block a call. */
  readonly watches: KubeRequests;
}

export interface KubeConnection {
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  authorize(): Promise<Authorization>;
  /** After a 401: drops cached credentials. */
  renew(): Promise<void>;
  close(): Promise<void>;
}
