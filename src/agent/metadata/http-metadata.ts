/** Requests to a metadata service over plain HTTP, by Node's own client: an agent must be small. */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Clock } from '../../platform/clock.ts';
import type { AskMetadata, MetadataAnswer, MetadataRequest } from './ask-metadata.ts';

/** The longest answer that is accepted. */
const LONGEST_BODY = 1_048_576;

/** Sends requests to a base URL such as `http://169.254.169.254`; never through a proxy, which would reach another machine. */
export function httpMetadata(base: string, clock: Clock): AskMetadata {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  return async (request) => {
    const limit = clock.deadline(request.timeoutMs, request.signal);
    try {
      return await send(new URL(request.path, base), request, agent, limit.signal);
    } finally {
      limit.cancel();
    }
  };
}

function send(
  url: URL,
  { method, headers }: MetadataRequest,
  agent: Agent,
  signal: AbortSignal,
): Promise<MetadataAnswer> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(signal.aborted ? signal.reason : error);
    const request = httpRequest(url, { method, headers, agent, signal }, (response) => {
      read(response).then((body) => {
        const names = Object.entries(response.headers).map(([name, value]) => [name, [value].flat()[0]]);
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(names), body });
      }, failed);
    });
    request.once('error', failed);
    request.end();
  });
}

async function read(response: IncomingMessage): Promise<string> {
  let body = '';
  response.setEncoding('utf8');
  for await (const text of response) {
    body += text;
    if (body.length > LONGEST_BODY) {
      response.destroy();
      throw new Error(`the answer is longer than ${LONGEST_BODY} characters`);
    }
  }
  if (!response.complete) throw new Error('the answer ended too soon');
  return body;
}
