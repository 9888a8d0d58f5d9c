/** A client whose API server rejects some requests, as when it is overloaded, or when webhooks fail or reject. */
import type { KubeClient } from '../../src/kube/client.ts';
import { KubeError } from '../../src/kube/kube-error.ts';
import { FaultyClient, type Verb } from '../../src/kube/testkit/faulty-client.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Random } from '../../src/platform/random.ts';

/** The requests to reject. */
export interface Refusal {
  readonly code: keyof typeof ANSWERS;
  readonly verbs: readonly Verb[];
  /** Plural, as in `pods`; default: every kind. */
  readonly kind?: string;
  /** The share of these requests. */
  readonly share: number;
}

/** The API server's answers by HTTP status. */
const ANSWERS = {
  403: { reason: 'Forbidden', message: 'admission webhook "guard.example.com" denied the request' },
  409: { reason: 'Conflict', message: 'the object has been modified; please apply your changes to the latest version' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again',
  },
  500: { reason: 'InternalError', message: 'failed calling webhook "guard.example.com": context deadline exceeded' },
} as const;
export const REFUSAL_CODES = [403, 409, 429, 500] as const;

export function refusingClient(
  client: KubeClient,
  clock: Clock,
  random: Random,
  refusal: () => Refusal | undefined,
): KubeClient {
  return new FaultyClient({
    client,
    clock,
    fault: (verb, plural) => {
      const { code, verbs, kind = plural, share } = refusal() ?? NOTHING;
      if (kind !== plural || !verbs.includes(verb) || random.next() >= share) return undefined;
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        code,
        ...ANSWERS[code],
      } as const;
      return { kind: 'refused', error: new KubeError(status) };
    },
  });
}

const NOTHING: Refusal = { code: 500, verbs: [], share: 0 };
