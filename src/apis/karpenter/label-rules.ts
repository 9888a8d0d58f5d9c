/** Which labels a pool may ask for, and which are the autoscaler's own. */
import { cloudOfLabel } from './cloud-domains.ts';
import {
  CAPACITY_TYPES,
  KARPENTER_GROUP,
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_HOSTNAME,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_OS,
  LABEL_REGION,
  LABEL_WINDOWS_BUILD,
  LABEL_ZONE,
} from './labels.ts';

export interface LabelRules {
  /** Labels every instance type says something about. */
  readonly wellKnown: ReadonlySet<string>;
  /** Domains, with those below them, whose labels are not for pools unless they are well known. */
  readonly restrictedDomains: ReadonlySet<string>;
  /** Labels that are not for pools. */
  readonly restricted: ReadonlySet<string>;
  /** Labels that only take a few values. */
  readonly knownValues: Readonly<Record<string, readonly string[]>>;
}

/** What holds in every cloud. */
export const CORE_LABEL_RULES: LabelRules = {
  wellKnown: new Set([
    LABEL_NODE_POOL,
    LABEL_ZONE,
    LABEL_REGION,
    LABEL_INSTANCE_TYPE,
    LABEL_ARCH,
    LABEL_OS,
    LABEL_CAPACITY_TYPE,
    LABEL_WINDOWS_BUILD,
  ]),
  restrictedDomains: new Set([KARPENTER_GROUP]),
  restricted: new Set([LABEL_HOSTNAME]),
  knownValues: { [LABEL_CAPACITY_TYPE]: CAPACITY_TYPES },
};

/** Former names of well-known labels, which mean the same. */
const ALIASES: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': LABEL_ZONE,
  'failure-domain.beta.kubernetes.io/region': LABEL_REGION,
  'beta.kubernetes.io/arch': LABEL_ARCH,
  'beta.kubernetes.io/os': LABEL_OS,
  'beta.kubernetes.io/instance-type': LABEL_INSTANCE_TYPE,
};

/** The present name of a label. */
export function normalizedLabel(key: string): string {
  return ALIASES[key] ?? key;
}

/** The rules with what a cloud adds: labels it sets on its nodes, and the domain that is its own. */
export function extendLabelRules(
  rules: LabelRules,
  { wellKnown = [], restrictedDomains = [] }: { wellKnown?: readonly string[]; restrictedDomains?: readonly string[] },
): LabelRules {
  return {
    ...rules,
    wellKnown: new Set([...rules.wellKnown, ...wellKnown]),
    restrictedDomains: new Set([...rules.restrictedDomains, ...restrictedDomains]),
  };
}

/** Why a pool may not use a label; undefined when it may. */
export function restrictionOf(key: string, rules: LabelRules): string | undefined {
  if (rules.wellKnown.has(key)) return undefined;
  if (rules.restricted.has(key)) return `${key} is only known once there is a node`;
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  for (const restricted of rules.restrictedDomains) {
    if (domain !== restricted && !domain.endsWith(`.${restricted}`)) continue;
    const allowed = [...rules.wellKnown].filter((known) => known !== LABEL_NODE_POOL && known.includes(restricted));
    return `labels of the domain ${restricted} are set by the autoscaler; ${allowed.sort().join(', ')} may be asked for`;
  }
  return undefined;
}

/**
 * Why no node of the pool could have a label: it is another cloud's. The words go on from the label. `ownDomain` is the API
 * group of the pool's node class, whose labels are its own.
 */
export function foreignLabel(key: string, ownDomain: string, rules: LabelRules): string | undefined {
  const owner = cloudOfLabel(key);
  if (owner === undefined || owner.domain === ownDomain) return undefined;
  const same = `${ownDomain}${key.slice(key.indexOf('/'))}`;
  const instead = rules.wellKnown.has(same) ? `write ${same}` : 'leave it out';
  return `is a label of ${owner.cloud}, which nodes of ${ownDomain} never have: ${instead}`;
}
