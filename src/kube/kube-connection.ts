/** Where an API server is, and what a request to it needs: from a kubeconfig, or from the service account of a pod. */

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

/** Sends requests over connections that it keeps: a dispatcher of undici, or Node's own client. */
export interface KubeRequests {
  request(options: KubeRequest): Promise<KubeResponse>;
}

/** What one request needs. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly calls: KubeRequests;
  /** Watches have connections of their own, so that a hundred of them never hold up a call. */
  readonly watches: KubeRequests;
}

export interface KubeConnection {
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  authorize(): Promise<Authorization>;
  /** The server did not know us: forget everything that was cached. */
  renew(): Promise<void>;
  close(): Promise<void>;
}
