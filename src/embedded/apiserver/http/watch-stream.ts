/** A watch as a stream of lines on an HTTP response. */
import type { ServerResponse } from 'node:http';
import { KubeError } from '../../../kube/kube-error.ts';
import type { StoreEvent } from '../../event-log.ts';
import type { ServerWatchEvent, Watch } from '../watching.ts';
import { type PresentationOptions, presentWatched } from './presentation.ts';

/** Caches the lines of watch events, so that watches with the same presentation share them. */
export class WatchLines {
  readonly #plain = new WeakMap<StoreEvent, Map<string, Buffer>>();

  /** The line of a store event; `label` identifies the presentation. */
  of(source: StoreEvent, label: string, write: () => string): Buffer {
    let lines = this.#plain.get(source);
    if (lines === undefined) {
      lines = new Map();
      this.#plain.set(source, lines);
    }
    let line = lines.get(label);
    if (line === undefined) {
      line = Buffer.from(write());
      lines.set(label, line);
    }
    return line;
  }
}

/** A watch, the response it is written to, and its presentation. */
export interface WatchStreamOptions {
  readonly watch: Watch;
  readonly response: ServerResponse;
  readonly lines: WatchLines;
  readonly presentation: Omit<PresentationOptions, 'now'>;
  now(): number;
}

/**
 * Writes events while the client reads them. If the client stops reading and the socket's buffer is full, no more
 * events are taken from the log until the buffer drains. If the log has dropped events by then, the watch ends with
 * 410.
 */
export function streamWatch(options: WatchStreamOptions): void {
  const { watch, response, lines, presentation } = options;
  const { kind } = watch;
  let first = true;
  let scheduled = false;

  const lineOf = (event: ServerWatchEvent): string | Buffer => {
    if (event.type === 'BOOKMARK')
      return bookmarkLine(kind.apiVersion, kind.kind, event.revision, event.initialEventsEnd);
    const write = (): string =>
      eventLine(event.type, presentWatched(kind, event.object, { ...presentation, now: options.now() }, first));
    if (presentation.presentation === 'table') {
      const line = write();
      first = false;
      return line;
    }
    if (event.source === undefined) return write();
    return lines.of(event.source, `${kind.apiVersion} ${event.type} ${presentation.presentation}`, write);
  };

  const flush = (): void => {
    scheduled = false;
    if (response.writableEnded || response.destroyed) return;
    response.cork();
    try {
      while (!response.writableNeedDrain) {
        const event = watch.take();
        if (event === undefined) break;
        response.write(lineOf(event));
      }
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      response.end(eventLine('ERROR', JSON.stringify(error.status)));
    } finally {
      response.uncork();
    }
    if (watch.ended) response.end();
    else if (!response.writableNeedDrain) watch.onceReady(schedule);
  };
  // Writes the events of one turn together.
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(flush);
  };

  response.on('drain', schedule);
  response.on('close', () => watch.close());
  flush();
}

/** One line of a watch; `object` is JSON. */
export function eventLine(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}

function bookmarkLine(apiVersion: string, kind: string, revision: number, initialEventsEnd: boolean): string {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
  return eventLine('BOOKMARK', JSON.stringify({ kind, apiVersion, metadata }));
}
