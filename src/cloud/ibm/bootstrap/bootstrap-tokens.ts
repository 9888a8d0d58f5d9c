/**
 * Short-lived bootstrap tokens, one per claim: user data can be read in the cloud's console, so its token should expire soon. The name of
 * the Secret is derived from the claim, so that a repeated launch finds it.
 */
import { createHash } from 'node:crypto';
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { SECRETS, type Secret } from '../../../apis/kubernetes/core.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { type Clock, type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { CloudController } from '../../cloud.ts';

const NAMESPACE = 'kube-system';
const LABEL = 'karpenter.sh/bootstrap-token';
const LABEL_CLAIM = 'karpenter-ibm.sh/nodeclaim';
/** The cluster's administrator binds this group to the rights that a kubelet needs to request its certificate. */
const GROUP = 'system:bootstrappers:karpenter:ibm-cloud';
const SWEEP_MS = 60_000;

export interface BootstrapTokensOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 16 random characters. */
  readonly secret: () => string;
  readonly claim: (uid: string) => NodeClaim | undefined;
  /** Lifetime of a token: longer than a machine takes to join. */
  readonly lifeMs?: number;
}

const LIFE_MS = 30 * 60_000;

export class BootstrapTokens implements CloudController {
  readonly name = 'ibm.bootstrap.tokens';
  readonly #options: BootstrapTokensOptions;

  constructor(options: BootstrapTokensOptions) {
    this.#options = options;
  }

  /** The token of a claim: a new one, or the existing one. */
  async tokenFor(claim: NodeClaim, signal: AbortSignal): Promise<string> {
    const { client, clock, lifeMs = LIFE_MS } = this.#options;
    const { uid = '', name: claimName = '' } = claim.metadata;
    const id = tokenId(uid);
    const key = { name: `bootstrap-token-${id}`, namespace: NAMESPACE };
    const made = await this.#get(key, signal);
    const secret = made === undefined ? undefined : decoded(made, 'token-secret');
    if (secret !== undefined && (expiryOf(made) ?? 0) > clock.now() + lifeMs / 2) return `${id}.${secret}`;
    if (made !== undefined) await client.delete(SECRETS, key, { signal });
    const fresh = this.#options.secret();
    await client.create(
      SECRETS,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { ...key, labels: { [LABEL]: 'true', [LABEL_CLAIM]: uid } },
        type: 'bootstrap.kubernetes.io/token',
        data: encoded({
          description: `for the node of ${claimName}`,
          'token-id': id,
          'token-secret': fresh,
          expiration: toTimestamp((clock.now() + lifeMs) as EpochMs),
          'usage-bootstrap-authentication': 'true',
          'auth-extra-groups': GROUP,
        }),
      },
      { signal },
    );
    return `${id}.${fresh}`;
  }

  /** Deletes tokens that are no longer needed: kube-controller-manager does so only if configured to. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      await this.sweep(signal).catch((error: unknown) => {
        if (!signal.aborted) logger.warn('bootstrap tokens could not be swept', { error });
      });
      await clock.sleep(SWEEP_MS, signal).catch(() => {});
    }
  }

  /** Deletes tokens that have expired, or whose claim has its node or is gone. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { client, clock, claim: claimOf } = this.#options;
    const { items } = await client.list(SECRETS, { namespace: NAMESPACE, labelSelector: `${LABEL}=true` }, { signal });
    for (const item of items) {
      const claim = claimOf(item.metadata.labels?.[LABEL_CLAIM] ?? '');
      const needed = claim !== undefined && !isTrue(claim, 'Registered') && (expiryOf(item) ?? 0) > clock.now();
      if (needed) continue;
      const key = { name: item.metadata.name ?? '', namespace: NAMESPACE };
      await client.delete(SECRETS, key, { signal }).catch((error: unknown) => {
        if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
      });
    }
  }

  async #get(key: { name: string; namespace: string }, signal: AbortSignal): Promise<Secret | undefined> {
    try {
      return await this.#options.client.get(SECRETS, key, { signal });
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
      throw error;
    }
  }
}

/** Six letters and digits derived from the claim. Tokens differ by their secrets, not by this. */
export function tokenId(uid: string): string {
  return BigInt(`0x${createHash('sha256').update(uid).digest('hex').slice(0, 16)}`)
    .toString(36)
    .padStart(6, '0')
    .slice(-6);
}

function encoded(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));
}

function decoded({ data }: Secret, name: string): string | undefined {
  const value = data?.[name];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}

function expiryOf(secret: Secret | undefined): EpochMs | undefined {
  return secret === undefined ? undefined : parseTimestamp(decoded(secret, 'expiration'));
}
