/**
 * A webhook for IBM Cloud Event Notifications: the earliest warning that a spot machine will be preempted, for users who have set up the
 * pipeline (docs/ibm/spot.md). Off by default. A message must carry the token, or a signature over its time and body. Old or repeated
 * messages are rejected.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Clock, type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import { RecentKeys } from '../../../platform/recent-keys.ts';
import type { NoticeSource } from '../../cloud.ts';
import type { ReceivedNotice } from '../../notice.ts';
import { PREEMPTION_GRACE_MS, preemptedIds } from './preemption-signal.ts';

export interface EventNotificationsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: string;
  readonly port: number;
  /** The secret that a message must carry as `Authorization: Bearer`, or be signed with. */
  readonly token: string;
  /** Called with the port once it listens. */
  readonly listening?: (port: number) => void;
}

/** The parts of a request that are checked. */
export interface WebhookRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export type WebhookVerdict = { readonly status: number; readonly machines?: readonly string[]; readonly at?: EpochMs };

/** A message older than this, or this far in the future, is a replay or has a wrong clock. */
const MOST_AGE_MS = 300_000;
const MOST_BYTES = 256 * 1024;
const REMEMBERED = 10_000;
const SIGNATURE = 'x-spindrift-signature';
const TIMESTAMP = 'x-spindrift-timestamp';

export class EventNotifications implements NoticeSource {
  readonly name = 'ibm.event-notifications';
  readonly #options: EventNotificationsOptions;
  readonly #seen = new RecentKeys(REMEMBERED);

  constructor(options: EventNotificationsOptions) {
    this.#options = options;
  }

  async *receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    const waiting: ReceivedNotice[] = [];
    let wake = (): void => {};
    const server = createServer((request, response) => {
      const heard = this.#hear(request, response).then((notices) => {
        waiting.push(...notices);
        wake();
      });
      heard.catch(() => response.destroy());
    });
    let failed: Error | undefined;
    server.on('error', (error) => {
      failed = error;
      wake();
    });
    server.listen(this.#options.port, this.#options.host, () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) this.#options.listening?.(address.port);
    });
    const stop = (): void => wake();
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (failed !== undefined) throw failed;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      server.close();
      server.closeAllConnections();
    }
  }

  /** The HTTP status for a message: 401 without proof, 409 for a repeat, 400 if it is old or unreadable. */
  judge({ method, headers, body }: WebhookRequest): WebhookVerdict {
    const { clock } = this.#options;
    if (method !== 'POST') return { status: 405 };
    const signed = headers[SIGNATURE];
    if (
      !(signed === undefined ? this.#hasToken(headers.authorization) : this.#isSigned(signed, headers[TIMESTAMP], body))
    )
      return { status: 401 };
    let message: { id?: unknown; ibmenmid?: unknown; time?: unknown };
    try {
      message = JSON.parse(body) as typeof message;
    } catch {
      return { status: 400 };
    }
    const at = parseTimestamp(String(headers[TIMESTAMP] ?? message.time ?? ''));
    if (at === undefined || Math.abs(clock.now() - at) > MOST_AGE_MS) return { status: 400 };
    const id = String(message.ibmenmid ?? message.id ?? createHmac('sha256', 'id').update(body).digest('hex'));
    const machines = preemptedIds(message);
    if (!this.#seen.add(id)) return { status: 409 };
    return { status: 202, machines, at };
  }

  #hasToken(authorization: string | undefined): boolean {
    return same(authorization ?? '', `Bearer ${this.#options.token}`);
  }

  #isSigned(signature: string, timestamp: string | undefined, body: string): boolean {
    if (timestamp === undefined) return false;
    const expected = createHmac('sha256', this.#options.token).update(`${timestamp}.${body}`).digest('hex');
    return same(signature, `sha256=${expected}`);
  }

  async #hear(message: IncomingMessage, response: ServerResponse): Promise<readonly ReceivedNotice[]> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of message) {
      bytes += (piece as Buffer).length;
      if (bytes > MOST_BYTES) {
        response.writeHead(413).end();
        return [];
      }
      pieces.push(piece as Buffer);
    }
    const headers = Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
    );
    const verdict = this.judge({ method: message.method ?? '', headers, body: Buffer.concat(pieces).toString() });
    response.writeHead(verdict.status).end();
    if (verdict.status === 401)
      this.#options.logger.warn('a notification without a valid token or signature was refused', {
        from: message.socket.remoteAddress,
      });
    const { at = this.#options.clock.now(), machines = [] } = verdict;
    return machines.map((machine) => notice(machine, at));
  }
}

function notice(machine: string, at: EpochMs): ReceivedNotice {
  return {
    kind: 'spot-interruption',
    machine,
    at,
    deadline: (at + PREEMPTION_GRACE_MS) as EpochMs,
    source: 'ibm-event-notifications',
    detail: `IBM Cloud has chosen the spot machine ${machine} for preemption`,
    // A webhook message is not sent again. If this notice is lost, the sweep reports the machine once it is off.
    acknowledge: async () => {},
  };
}

/** Compares in constant time. */
function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
