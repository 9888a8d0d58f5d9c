/** Waits until a program is ready. */
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { Clock } from '../../../src/platform/clock.ts';
import type { ManagedProcess } from './managed-process.ts';

const POLL_MS = 50;
const REQUEST_TIMEOUT_MS = 5_000;

export interface ReadinessOptions {
  readonly name: string;
  readonly url: string;
  /** The CA certificate, in PEM, to verify the server with. */
  readonly authority: string;
  readonly process: ManagedProcess;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/** Resolves when the URL answers 200; rejects when the process exits, or after the deadline. */
export async function untilReady(options: ReadinessOptions): Promise<void> {
  const { clock, name, url, authority, process, deadlineMs } = options;
  const start = clock.elapsed();
  let answer = 'nothing';
  while (clock.elapsed() - start < deadlineMs) {
    if (!process.running) throw process.failure ?? new Error(`${name} was stopped before it was ready`);
    answer = await ask(url, authority);
    if (answer === '200') return;
    await clock.sleep(POLL_MS);
  }
  throw new Error(`${name} is not ready after ${deadlineMs / 1000} s: ${url} last answered ${answer}`);
}

/** The status of the answer, or why there is none. */
function ask(url: string, authority: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: REQUEST_TIMEOUT_MS, agent: false } as const;
    const request = url.startsWith('https:') ? httpsGet(url, { ...options, ca: authority }) : httpGet(url, options);
    request.once('response', (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    request.once('timeout', () => request.destroy(new Error(`no answer in ${REQUEST_TIMEOUT_MS} ms`)));
    request.once('error', (error) => resolve(error.message));
  });
}
