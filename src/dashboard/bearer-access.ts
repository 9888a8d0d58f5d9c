/**
 * Authenticates and authorizes readers of metrics and profiles: a request needs a token of the cluster whose user may `get` the
 * path (a rule with `nonResourceURLs`). Prometheus sends such a token, as it does to the API server and to kubelets.
 */
import { createHash } from 'node:crypto';
import { SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS, type UserInfo } from '../apis/kubernetes/access-review.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../platform/clock.ts';

/** `unknown`: there is no token, or one that the API server does not accept. */
export type AccessVerdict = 'allowed' | 'unknown' | 'forbidden';

export interface BearerAccessOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
}

/** How long a verdict is cached; a revoked right still counts for this long. */
const VERDICT_MS = 60_000;
/** The maximum number of cached verdicts, so that guessed tokens cannot fill the memory. */
const MOST_VERDICTS = 100;
/** Prometheus gives up after ten seconds. */
const ANSWER_MS = 5000;

export class BearerAccess {
  readonly #options: BearerAccessOptions;
  /** By the hash of the token, so that tokens are not kept in memory. */
  readonly #verdicts = new Map<string, { readonly verdict: AccessVerdict; readonly until: number }>();

  constructor(options: BearerAccessOptions) {
    this.#options = options;
  }

  /** Decides for the value of the header `Authorization`; rejects when the API server cannot be asked. */
  async decide(header: string | undefined, path: string): Promise<AccessVerdict> {
    const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
    if (token === undefined) return 'unknown';
    const key = createHash('sha256').update(`${path} ${token}`).digest('hex');
    const now = this.#options.clock.elapsed();
    const known = this.#verdicts.get(key);
    if (known !== undefined && now < known.until) return known.verdict;
    const verdict = await this.#ask(token, path);
    this.#verdicts.delete(key);
    this.#verdicts.set(key, { verdict, until: now + VERDICT_MS });
    const [oldest] = this.#verdicts.keys();
    if (this.#verdicts.size > MOST_VERDICTS && oldest !== undefined) this.#verdicts.delete(oldest);
    return verdict;
  }

  async #ask(token: string, path: string): Promise<AccessVerdict> {
    const user = await this.#userOf(token);
    if (user === undefined) return 'unknown';
    const { username, uid, groups, extra } = user;
    const review = await this.#options.client.create(
      SUBJECT_ACCESS_REVIEWS,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          ...(username !== undefined && { user: username }),
          ...(uid !== undefined && { uid }),
          ...(groups !== undefined && { groups }),
          ...(extra !== undefined && { extra }),
          nonResourceAttributes: { path, verb: 'get' },
        },
      },
      { timeoutMs: ANSWER_MS },
    );
    return review.status?.allowed === true ? 'allowed' : 'forbidden';
  }

  async #userOf(token: string): Promise<UserInfo | undefined> {
    const review = await this.#options.client.create(
      TOKEN_REVIEWS,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } },
      { timeoutMs: ANSWER_MS },
    );
    return review.status?.authenticated === true ? review.status.user : undefined;
  }
}
