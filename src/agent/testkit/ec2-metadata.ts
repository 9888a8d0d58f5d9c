/** The metadata service of an EC2 instance, version 2: tokens that expire, 401 without one, 404 for missing values. */
import type { Clock } from '../../platform/clock.ts';
import type { AskMetadata } from '../metadata/ask-metadata.ts';

export class Ec2Metadata {
  readonly #clock: Clock;
  /** Values under `/latest/meta-data/`. */
  readonly values = new Map<string, string>([['events/maintenance/scheduled', '[]']]);
  /** Requested paths, with times. */
  readonly requests: { readonly path: string; readonly at: number }[] = [];
  readonly #tokens = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Invalidates all tokens. */
  forgetTokens(): void {
    this.#tokens.clear();
  }

  readonly ask: AskMetadata = async ({ method, path, headers }) => {
    const now = this.#clock.elapsed();
    this.requests.push({ path, at: now });
    if (path === '/latest/api/token') {
      const seconds = Number(headers['X-aws-ec2-metadata-token-ttl-seconds']);
      if (method !== 'PUT') return { status: 405, headers: {}, body: '' };
      if (!(seconds >= 1 && seconds <= 21_600)) return { status: 400, headers: {}, body: '' };
      const token = `token-${this.#tokens.size}-${now}==`;
      this.#tokens.set(token, now + seconds * 1000);
      return { status: 200, headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(seconds) }, body: token };
    }
    const until = this.#tokens.get(headers['X-aws-ec2-metadata-token'] ?? '') ?? 0;
    if (until <= now) return { status: 401, headers: {}, body: '<html>401 - Unauthorized</html>' };
    const value = this.values.get(path.replace('/latest/meta-data/', ''));
    return value === undefined
      ? { status: 404, headers: {}, body: '<html>404</html>' }
      : { status: 200, headers: {}, body: value };
  };
}
