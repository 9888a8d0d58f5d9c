/** Decodes the body of a watch: one JSON object per line. */
import type { KubeObject } from '../apis/kubernetes/object.ts';
import type { Status } from '../apis/kubernetes/status.ts';
import type { WatchEvent } from './client.ts';
import { KubeError } from './kube-error.ts';

const NEW_LINE = 0x0a;

/** The lines of a byte stream; drops an incomplete last line of a broken connection. */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = buffer.indexOf(NEW_LINE); end >= 0; end = buffer.indexOf(NEW_LINE)) {
      const line = Buffer.concat([...rest, buffer.subarray(0, end)]).toString('utf8');
      rest = [];
      buffer = buffer.subarray(end + 1);
      if (line !== '') yield line;
    }
    if (buffer.length > 0) rest.push(buffer);
  }
}

interface WireEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject | Status;
}

/** Parses one line to an event, without `managedFields`. Throws the error of an ERROR event. */
export function decodeWatchEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  const event = parse(line);
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: event.object as T };
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = (event.object as KubeObject).metadata;
      return {
        type: 'BOOKMARK',
        resourceVersion,
        initialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true',
      };
    }
    case 'ERROR':
      throw new KubeError(event.object as Status);
    default:
      throw new SyntaxError(`an event of the unknown type ${String(event.type)}`);
  }
}

const MANAGED_FIELDS = ',"managedFields":[{';

/**
 * Cuts `managedFields` out before parsing: they are more than half of many objects and never read. They contain no lists, so that
 * they end where the first list ends; where that was inside a string, the rest is not JSON, and the whole line is parsed.
 */
function parse(line: string): WireEvent {
  const start = line.indexOf(MANAGED_FIELDS);
  const end = start < 0 ? -1 : line.indexOf('}]', start);
  if (end < 0) return JSON.parse(line) as WireEvent;
  try {
    return JSON.parse(line.slice(0, start) + line.slice(end + 2)) as WireEvent;
  } catch {
    return JSON.parse(line) as WireEvent;
  }
}
